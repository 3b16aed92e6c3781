import { CholeskyDecomposition, Matrix } from "ml-matrix";
import type { Patterns } from "./patterns.js";

export interface Newton {
  readonly beta: Float64Array;
  /** Inverse of the penalised information at `beta`. */
  readonly covariance: Float64Array;
  readonly logLikelihood: number;
  /** Fitted probability of each pattern. */
  readonly probability: Float64Array;
  readonly iterations: number;
  readonly converged: boolean;
  readonly separation: "none" | "complete" | "quasi";
  /** The separating direction, when there is one. */
  readonly direction?: Float64Array;
}

interface Point {
  readonly eta: Float64Array;
  readonly logLikelihood: number;
  readonly objective: number;
}

/** Newton's ascent of the binomial log-likelihood less `penalty[j] / 2 * beta[j]^2`, from 0. */
export function ascend(data: Patterns, penalty: readonly number[], maxIterations: number): Newton {
  const size = penalty.length;
  const penalised = penalty.some((value) => value > 0);
  const stop = (
    at: Point,
    beta: Float64Array,
    iterations: number,
    rest: Pick<Newton, "converged" | "separation" | "covariance"> & { direction?: Float64Array },
  ): Newton => ({
    beta,
    logLikelihood: at.logLikelihood,
    probability: at.eta.map(sigmoid),
    iterations,
    ...rest,
  });
  const none = new Float64Array(0);

  let beta: Float64Array = new Float64Array(size);
  let point = evaluate(data, beta, penalty);
  let step: Float64Array = new Float64Array(size);
  for (let iteration = 1; iteration <= maxIterations; iteration += 1) {
    const { gradient, information } = derivatives(data, point.eta, beta, penalty);
    const factor = new CholeskyDecomposition(information);
    const kind = penalised ? "none" : separation(data, point.eta, step, iteration);
    if (kind !== "none") {
      const limit = kind === "complete" ? atInfinity(data, point) : point;
      const direction = kind === "complete" ? beta : step;
      return stop(limit, beta, iteration, {
        converged: false,
        separation: kind,
        covariance: none,
        direction,
      });
    }
    if (!factor.isPositiveDefinite()) break;
    step = Float64Array.from(factor.solve(Matrix.columnVector(Array.from(gradient))).to1DArray());
    const decrement = gradient.reduce((sum, value, j) => sum + value * (step[j] as number), 0);
    let length = 1;
    let next = evaluate(data, add(beta, step, length), penalty);
    while (!(next.objective >= point.objective - 1e-10 * Math.abs(point.objective)) && length > 1e-6) {
      length /= 2;
      next = evaluate(data, add(beta, step, length), penalty);
    }
    beta = add(beta, step, length);
    point = next;
    if (decrement < 1e-14) {
      const final = derivatives(data, point.eta, beta, penalty).information;
      const inverse = new CholeskyDecomposition(final).solve(Matrix.eye(size)).to1DArray();
      const covariance = Float64Array.from(inverse);
      return stop(point, beta, iteration, { converged: true, separation: "none", covariance });
    }
  }
  return stop(point, beta, maxIterations, { converged: false, separation: "none", covariance: none });
}

/**
 * Is there a direction along which every one gains and every zero loses? `beta` itself is one when it already parts the
 * classes; otherwise the last step becomes one, since along it Newton's method walks for ever in steps of about 1.
 */
function separation(
  data: Patterns,
  eta: Float64Array,
  step: Float64Array,
  iteration: number,
): Newton["separation"] {
  if (iteration > 1 && isParted(data, eta)) return "complete";
  // After 20 steps the separated rows are within 2e-9 of their limit; the decrement falls below 1e-14 only after 32.
  return iteration > 20 ? parts(data, step) : "none";
}

/** Does the predictor already have every one above 0 and every zero below? Almost always settled by the first patterns. */
function isParted(data: Patterns, eta: Float64Array): boolean {
  for (let i = 0; i < eta.length; i += 1) {
    const ones = data.ones[i] as number;
    if (ones > 0 && !((eta[i] as number) > 1e-6)) return false;
    if (ones < (data.trials[i] as number) && !((eta[i] as number) < -1e-6)) return false;
  }
  return true;
}

/** Where complete separation leads: every row predicted with certainty. */
function atInfinity(data: Patterns, point: Point): Point {
  const eta = point.eta.map((_, i) => ((data.ones[i] as number) > 0 ? 1 : -1) * Number.POSITIVE_INFINITY);
  return { eta, logLikelihood: 0, objective: 0 };
}

function parts(data: Patterns, direction: Float64Array): Newton["separation"] {
  const eta = predictor(data, direction);
  let largest = 0;
  let violation = 0;
  let smallest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < eta.length; i += 1) {
    const value = eta[i] as number;
    largest = Math.max(largest, Math.abs(value));
    smallest = Math.min(smallest, Math.abs(value));
    if ((data.ones[i] as number) > 0) violation = Math.max(violation, -value);
    if ((data.ones[i] as number) < (data.trials[i] as number)) violation = Math.max(violation, value);
  }
  const tolerance = 1e-6 * largest;
  if (largest < 0.1 || violation > tolerance) return "none";
  return smallest > tolerance ? "complete" : "quasi";
}

function evaluate(data: Patterns, beta: Float64Array, penalty: readonly number[]): Point {
  const eta = predictor(data, beta);
  let logLikelihood = 0;
  for (let i = 0; i < eta.length; i += 1) {
    const value = eta[i] as number;
    // log(1 + exp(eta)), without overflow.
    const softplus = Math.max(value, 0) + Math.log1p(Math.exp(-Math.abs(value)));
    logLikelihood += (data.ones[i] as number) * value - (data.trials[i] as number) * softplus;
  }
  const cost = penalty.reduce((sum, value, j) => sum + (value / 2) * (beta[j] as number) ** 2, 0);
  return { eta, logLikelihood, objective: logLikelihood - cost };
}

function derivatives(
  data: Patterns,
  eta: Float64Array,
  beta: Float64Array,
  penalty: readonly number[],
): { gradient: Float64Array; information: Matrix } {
  const size = penalty.length;
  const gradient = new Float64Array(size);
  const lower = new Float64Array(size * size);
  const { values, trials, ones } = data;
  for (let i = 0; i < eta.length; i += 1) {
    const probability = sigmoid(eta[i] as number);
    const count = trials[i] as number;
    const residual = (ones[i] as number) - count * probability;
    const weight = count * probability * (1 - probability);
    for (let j = 0; j < size; j += 1) {
      const x = values[i * size + j] as number;
      gradient[j] = (gradient[j] as number) + x * residual;
      for (let k = 0; k <= j; k += 1)
        lower[j * size + k] = (lower[j * size + k] as number) + weight * x * (values[i * size + k] as number);
    }
  }
  const information = Matrix.zeros(size, size);
  for (let j = 0; j < size; j += 1) {
    gradient[j] = (gradient[j] as number) - (penalty[j] as number) * (beta[j] as number);
    for (let k = 0; k <= j; k += 1) {
      const value = (lower[j * size + k] as number) + (j === k ? (penalty[j] as number) : 0);
      information.set(j, k, value);
      information.set(k, j, value);
    }
  }
  return { gradient, information };
}

function predictor(data: Patterns, beta: Float64Array): Float64Array {
  const size = beta.length;
  const eta = new Float64Array(data.count);
  for (let i = 0; i < eta.length; i += 1)
    for (let j = 0; j < size; j += 1)
      eta[i] = (eta[i] as number) + (data.values[i * size + j] as number) * (beta[j] as number);
  return eta;
}

function sigmoid(eta: number): number {
  return eta >= 0 ? 1 / (1 + Math.exp(-eta)) : Math.exp(eta) / (1 + Math.exp(eta));
}

function add(beta: Float64Array, step: Float64Array, length: number): Float64Array {
  return beta.map((value, j) => value + length * (step[j] as number));
}
