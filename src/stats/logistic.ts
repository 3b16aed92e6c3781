import type { Design } from "./design.js";
import { binary } from "./input.js";
import { ascend, type Newton } from "./newton.js";
import { type Patterns, patterns } from "./patterns.js";
import { normalTail, type Tail } from "./tails.js";

/** One coefficient with its Wald test. */
export interface Coefficient {
  readonly name: string;
  readonly estimate: number;
  readonly se: number;
  /** estimate / se: the Wald statistic. */
  readonly z: number;
  /** Two-sided, from the normal distribution. */
  readonly test: Tail;
}

/** A logistic regression, fitted by Newton's method. */
export interface LogisticFit {
  readonly coefficients: readonly Coefficient[];
  /** Inverse of the (penalised) information, `[column, column]` row-major. */
  readonly covariance: Float64Array;
  /** At the estimates, without the penalty. Under separation: the limit it approaches. */
  readonly logLikelihood: number;
  readonly rows: number;
  readonly ones: number;
  /** Merged rows, the number the solver worked on: different rows of the design (of the full one, in a restricted fit). */
  readonly patterns: number;
  readonly ridge: number;
  readonly iterations: number;
  readonly converged: boolean;
  /**
   * `complete` or `quasi`: a combination of the columns parts ones from zeros (but for ties, if `quasi`), so that no
   * finite maximum exists. The coefficients that take part are then infinite and no standard error is given.
   */
  readonly separation: "none" | "complete" | "quasi";
  readonly design: Design;
  /** `[row]` */
  readonly outcome: Uint8Array;
  /** Fitted probability of a one in each row. */
  readonly probability: Float64Array;
  /** The rows as the solver saw them. */
  readonly merged: Patterns;
}

/** Ridge and patience of a logistic fit. */
export interface LogisticOptions {
  /** Penalty lambda / 2 times the sum of squares of all coefficients but the intercept. Default 0: maximum likelihood. */
  readonly ridge?: number;
  /** Default 60. */
  readonly maxIterations?: number;
}

/**
 * Logistic regression of a binary outcome, by Newton's method (iteratively reweighted least squares) with step halving,
 * on rows merged by covariate pattern; iterated until the Newton decrement is below 1e-14, far past any printed digit.
 *
 * Standard errors and Wald tests come from the inverse information; they take rows as independent (see `clusterRobust`)
 * and Wald tests lose power for very large effects, where `likelihoodRatio` is the better test. With `ridge` the
 * estimates are biased towards 0, depend on the scale of the columns, and their standard errors are no basis for a test.
 *
 * An outcome of one class only is refused: the likelihood then has no maximum. Separation is detected with a certificate
 * (a direction along which no row gets worse) and said, see `separation`.
 *
 * @example logistic(design({ carry, size }), correct).coefficients
 */
export function logistic(
  matrix: Design,
  outcome: ArrayLike<boolean | number>,
  options: LogisticOptions = {},
): LogisticFit {
  const { ridge = 0, maxIterations = 60 } = options;
  const y = binary("logistic: outcome", outcome);
  if (y.length !== matrix.rows)
    throw new Error(`logistic: ${y.length} outcomes for ${matrix.rows} rows; expected one a row`);
  if (!(ridge >= 0) || ridge === Number.POSITIVE_INFINITY)
    throw new Error(`logistic: ridge ${ridge}; expected a finite number >= 0`);
  const ones = y.reduce((sum, value) => sum + value, 0);
  if (ones === 0 || ones === y.length)
    throw new Error(
      `logistic: all ${y.length} outcomes are ${ones === 0 ? 0 : 1}; expected both classes; there is nothing to tell apart`,
    );

  return fitMerged(matrix, y, patterns(matrix.columns, y), ridge, maxIterations);
}

/**
 * The same regression without some of its columns, with the same ridge: the restricted fit of a likelihood-ratio test. The
 * columns left stay as they are (scaled, if they were), and merged rows are not merged anew. Refuses names that are not there.
 *
 * @example likelihoodRatio(withoutColumns(fit, ["carry"]), fit)
 */
export function withoutColumns(
  fit: LogisticFit,
  names: readonly string[],
  options: Pick<LogisticOptions, "maxIterations"> = {},
): LogisticFit {
  const { design: full, merged } = fit;
  const unknown = names.find((name) => !full.names.includes(name));
  if (unknown !== undefined)
    throw new Error(`withoutColumns: no column "${unknown}"; expected some of ${full.names.join(", ")}`);
  const kept = full.names.flatMap((name, j) => (names.includes(name) ? [] : [j]));
  if (kept.length === 0)
    throw new Error("withoutColumns: nothing left; expected at least one column to stay");
  const size = full.names.length;
  const values = new Float64Array(merged.count * kept.length);
  for (let p = 0; p < merged.count; p += 1)
    for (let j = 0; j < kept.length; j += 1)
      values[p * kept.length + j] = merged.values[p * size + (kept[j] as number)] as number;
  const matrix = {
    ...full,
    names: kept.map((j) => full.names[j] as string),
    columns: kept.map((j) => full.columns[j] as Float64Array),
    intercept: full.intercept && kept[0] === 0,
  };
  return fitMerged(matrix, fit.outcome, { ...merged, values }, fit.ridge, options.maxIterations ?? 60);
}

function fitMerged(
  matrix: Design,
  outcome: Uint8Array,
  merged: Patterns,
  ridge: number,
  maxIterations: number,
): LogisticFit {
  const penalty = matrix.names.map((_, j) => (matrix.intercept && j === 0 ? 0 : ridge));
  const found = ascend(merged, penalty, maxIterations);
  return {
    ...estimates(matrix, found),
    logLikelihood: found.logLikelihood,
    rows: outcome.length,
    ones: merged.ones.reduce((sum, value) => sum + value, 0),
    patterns: merged.count,
    ridge,
    iterations: found.iterations,
    converged: found.converged,
    separation: found.separation,
    design: matrix,
    outcome,
    probability: byRow(merged, found.probability),
    merged,
  };
}

function estimates(matrix: Design, found: Newton): Pick<LogisticFit, "coefficients" | "covariance"> {
  const size = matrix.names.length;
  const defined = found.converged;
  const covariance = defined ? found.covariance : new Float64Array(size * size).fill(Number.NaN);
  const largest = Math.max(...(found.direction ?? []).map(Math.abs));
  const coefficients = matrix.names.map((name, j) => {
    const along = found.direction?.[j] ?? 0;
    // A component of the separating direction that is rounding noise leaves its coefficient finite.
    const runsAway = found.direction !== undefined && Math.abs(along) > 1e-4 * largest;
    const estimate = runsAway ? Math.sign(along) * Number.POSITIVE_INFINITY : (found.beta[j] as number);
    return coefficient(name, estimate, defined ? Math.sqrt(covariance[j * size + j] as number) : Number.NaN);
  });
  return { coefficients, covariance };
}

/** Estimate, standard error, and the two-sided normal test of 0. No standard error, no test: NaN. */
export function coefficient(name: string, estimate: number, se: number): Coefficient {
  const z = estimate / se;
  const test = Number.isNaN(z) ? { p: Number.NaN, logP: Number.NaN } : normalTail(z);
  return { name, estimate, se, z, test };
}

function byRow(merged: Patterns, probability: Float64Array): Float64Array {
  const rows = new Float64Array(merged.of.length);
  for (let i = 0; i < rows.length; i += 1) rows[i] = probability[merged.of[i] as number] as number;
  return rows;
}
