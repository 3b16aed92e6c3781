import type { Design } from "./design.js";
import { binary } from "./input.js";
import { ascend, type Newton } from "./newton.js";
import { type Patterns, patterns } from "./patterns.js";
import { normalTail, type Tail } from "./tails.js";

export interface Coefficient {
  readonly name: string;
  readonly estimate: number;
  readonly se: number;
  /** estimate / se: the Wald statistic. */
  readonly z: number;
  /** Two-sided, from the normal distribution. */
  readonly test: Tail;
}

export interface LogisticFit {
  readonly coefficients: readonly Coefficient[];
  /** Inverse of the (penalised) information, `[column, column]` row-major. */
  readonly covariance: Float64Array;
  /** At the estimates, without the penalty. Under separation: the limit it approaches. */
  readonly logLikelihood: number;
  readonly rows: number;
  readonly ones: number;
  /** Different rows of the design, the number the solver worked on. */
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
  readonly outcome: Uint8Array;
  /** Fitted probability of a one in each row. */
  readonly probability: Float64Array;
}

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

  const merged = patterns(matrix.columns, y);
  const penalty = matrix.names.map((_, j) => (matrix.intercept && j === 0 ? 0 : ridge));
  const found = ascend(merged, penalty, maxIterations);
  return {
    ...estimates(matrix, found),
    logLikelihood: found.logLikelihood,
    rows: y.length,
    ones,
    patterns: merged.count,
    ridge,
    iterations: found.iterations,
    converged: found.converged,
    separation: found.separation,
    design: matrix,
    outcome: y,
    probability: byRow(merged, found.probability),
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
