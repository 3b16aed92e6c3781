/**
 * Directions in activation space along which a count can be read: three named estimators, each with its weakness.
 *
 * - `ridge`: the direction of ridge regression of the count on the rows, `(X'X + a I)^-1 X'y`. Reads best, because it turns
 *   away from what varies for other reasons; for the same reason it need not be the direction in which the count moves the
 *   rows, and it is less well determined: with few rows a dimension its cosine with the truth is the lowest of the three.
 * - `covariance`: `X'y`, the direction in which rows move with the count on average. Takes along whatever is correlated with it.
 * - `principal`: first principal component of the rows. Does not look at the count at all (but for its sign), and finds it only
 *   where it is what varies most.
 *
 * X are the rows less their mean. With more dimensions than rows plain least squares fits anything; it is not offered.
 */
import { EigenvalueDecomposition, Matrix } from "ml-matrix";
import { random } from "../stats/random.js";

/**
 * How a probe's direction is found: `ridge` reads best and is least determined, `covariance` takes along what is
 * correlated with the count, `principal` does not look at the count.
 */
export type ProbeEstimator = "ridge" | "covariance" | "principal";

/** Activations, one row an observation: `[row, d_model]`. What `evaluate` captures has this shape. */
export interface ProbeRows {
  readonly data: Float32Array;
  readonly width: number;
}

/** What can be prepared from the rows alone; each set of counts then costs little. */
export interface DirectionSolver {
  /** Mean row, `[d_model]`. */
  readonly centre: Float64Array;
  /** Direction for these counts (one a row), `[d_model]`, not of unit length; all zero where the rows do not vary with them. */
  solve(counts: ArrayLike<number>): Float64Array;
}

/** Prepares the estimator for these rows. `penalty`: a of the ridge, in units of the mean variance of a dimension times rows. */
export function directionSolver(
  rows: ProbeRows,
  estimator: ProbeEstimator,
  penalty: number,
): DirectionSolver {
  const { width } = rows;
  const n = rows.data.length / width;
  const centre = new Float64Array(width);
  for (let i = 0; i < n; i++) for (let j = 0; j < width; j++) centre[j]! += rows.data[i * width + j]! / n;
  const x = new Float64Array(n * width);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < width; j++) x[i * width + j] = rows.data[i * width + j]! - centre[j]!;
  if (estimator === "covariance")
    return { centre, solve: (counts) => transposedTimes(x, width, centred(counts)) };
  if (estimator === "principal") {
    const component = firstComponent(x, n, width);
    return { centre, solve: (counts) => oriented(component, transposedTimes(x, width, centred(counts))) };
  }
  let trace = 0;
  for (const value of x) trace += value * value;
  if (trace === 0) return { centre, solve: () => new Float64Array(width) };
  const ridge = (penalty * trace) / width;
  // Both forms give the same direction; the smaller matrix is factorised.
  if (width <= n) {
    const factor = cholesky(scatter(x, n, width), width, ridge);
    return { centre, solve: (counts) => solved(factor, width, transposedTimes(x, width, centred(counts))) };
  }
  const factor = cholesky(gram(x, n, width), n, ridge);
  return { centre, solve: (counts) => transposedTimes(x, width, solved(factor, n, centred(counts))) };
}

function centred(values: ArrayLike<number>): Float64Array {
  const copy = Float64Array.from(values);
  const mean = copy.reduce((sum, value) => sum + value, 0) / copy.length;
  return copy.map((value) => value - mean);
}

/** X'v: `[row]` to `[d_model]`. */
function transposedTimes(x: Float64Array, width: number, v: Float64Array): Float64Array {
  const product = new Float64Array(width);
  for (let i = 0; i < v.length; i++) {
    const weight = v[i]!;
    for (let j = 0, at = i * width; j < width; j++, at++) product[j]! += weight * x[at]!;
  }
  return product;
}

/** X'X, `[d_model, d_model]`, lower triangle. */
function scatter(x: Float64Array, n: number, width: number): Float64Array {
  const product = new Float64Array(width * width);
  for (let i = 0; i < n; i++) {
    const row = x.subarray(i * width, (i + 1) * width);
    for (let a = 0; a < width; a++) {
      const weight = row[a]!;
      for (let b = 0, at = a * width; b <= a; b++, at++) product[at]! += weight * row[b]!;
    }
  }
  return product;
}

/** XX', `[row, row]`, lower triangle. */
function gram(x: Float64Array, n: number, width: number): Float64Array {
  const product = new Float64Array(n * n);
  for (let a = 0; a < n; a++)
    for (let b = 0; b <= a; b++)
      product[a * n + b] = dot(
        x.subarray(a * width, (a + 1) * width),
        x.subarray(b * width, (b + 1) * width),
      );
  return product;
}

/** Lower Cholesky factor of `matrix + ridge I`, in place of the lower triangle given. */
function cholesky(matrix: Float64Array, size: number, ridge: number): Float64Array {
  for (let a = 0; a < size; a++) {
    const rowA = matrix.subarray(a * size, a * size + size);
    for (let b = 0; b <= a; b++) {
      const rowB = matrix.subarray(b * size, b * size + size);
      let value = rowA[b]!;
      for (let k = 0; k < b; k++) value -= rowA[k]! * rowB[k]!;
      if (a > b) rowA[b] = value / rowB[b]!;
      else if (value + ridge > 0) rowA[a] = Math.sqrt(value + ridge);
      else
        throw new Error(`fitProbe: the rows are degenerate at penalty ${ridge}; expected a larger penalty`);
    }
  }
  return matrix;
}

function solved(factor: Float64Array, size: number, right: Float64Array): Float64Array {
  const v = Float64Array.from(right);
  for (let a = 0; a < size; a++) {
    let value = v[a]!;
    for (let k = 0; k < a; k++) value -= factor[a * size + k]! * v[k]!;
    v[a] = value / factor[a * size + a]!;
  }
  for (let a = size - 1; a >= 0; a--) {
    const value = v[a]! / factor[a * size + a]!;
    v[a] = value;
    for (let k = 0; k < a; k++) v[k]! -= factor[a * size + k]! * value;
  }
  return v;
}

/**
 * First principal component by Lanczos iteration on X'X with full reorthogonalisation: a few dozen products with the rows
 * where an eigendecomposition of d_model = 600 takes seconds. Where the two largest variances are equal it is ill-defined.
 */
function firstComponent(x: Float64Array, n: number, width: number): Float64Array {
  const draw = random(0, "first component");
  let next: Float64Array = Float64Array.from({ length: width }, () => draw.normal());
  const basis: Float64Array[] = [];
  const diagonal: number[] = [];
  const beside: number[] = [];
  const most = Math.min(width, n);
  for (let step = 1; ; step++) {
    const norm = Math.sqrt(dot(next, next));
    const current = next.map((value) => value / norm);
    basis.push(current);
    const image = transposedTimes(
      x,
      width,
      Float64Array.from({ length: n }, (_, i) => dot(x.subarray(i * width, (i + 1) * width), current)),
    );
    diagonal.push(dot(image, current));
    next = image;
    // Twice is enough: once leaves rounding of the size of what was taken out.
    for (let pass = 0; pass < 2; pass++)
      for (const known of basis) {
        const along = dot(next, known);
        for (let j = 0; j < width; j++) next[j]! -= along * known[j]!;
      }
    const rest = Math.sqrt(dot(next, next));
    const scale = Math.max(...diagonal, 0);
    const ended = step >= most || rest <= 1e-14 * scale || scale === 0;
    if (ended || step % 8 === 0) {
      const { weights, residual } = largestRitz(diagonal, beside, rest);
      if (ended || residual <= 1e-12 * scale) return combined(basis, weights);
    }
    beside.push(rest);
  }
}

function largestRitz(diagonal: readonly number[], beside: readonly number[], rest: number) {
  const size = diagonal.length;
  const tridiagonal = Matrix.zeros(size, size);
  diagonal.forEach((value, i) => {
    tridiagonal.set(i, i, value);
    if (i > 0) {
      tridiagonal.set(i, i - 1, beside[i - 1]!);
      tridiagonal.set(i - 1, i, beside[i - 1]!);
    }
  });
  const { realEigenvalues, eigenvectorMatrix } = new EigenvalueDecomposition(tridiagonal, {
    assumeSymmetric: true,
  });
  const largest = realEigenvalues.indexOf(Math.max(...realEigenvalues));
  const weights = eigenvectorMatrix.getColumn(largest);
  return { weights, residual: Math.abs(rest * weights[size - 1]!) };
}

function combined(basis: readonly Float64Array[], weights: readonly number[]): Float64Array {
  const sum = new Float64Array(basis[0]!.length);
  basis.forEach((vector, i) => {
    for (let j = 0; j < sum.length; j++) sum[j]! += weights[i]! * vector[j]!;
  });
  return sum;
}

/** The component, pointing the way the count grows. */
function oriented(component: Float64Array, covariance: Float64Array): Float64Array {
  return dot(component, covariance) < 0 ? component.map((value) => -value) : component;
}

export function dot(x: ArrayLike<number>, y: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i]! * y[i]!;
  return sum;
}
