import { codes } from "./input.js";
import { type Coefficient, coefficient, type LogisticFit } from "./logistic.js";
import { studentTail, type Tail } from "./tails.js";

/** One label a row: which cluster it belongs to. */
export type Labels = ArrayLike<number | string>;

/** Coefficients with errors that allow for clusters. */
export interface ClusterRobust {
  readonly coefficients: readonly (Coefficient & {
    /** Two-sided, from Student's t on (fewest groups - 1) degrees of freedom: the safer one for few groups. */
    readonly student: Tail;
  })[];
  /** `[column, column]`, row-major. */
  readonly covariance: Float64Array;
  /** Number of groups, for each of the one or two groupings. */
  readonly groups: readonly number[];
  /** Fewest groups less 1. */
  readonly df: number;
  readonly correction: ClusterCorrection;
}

/** `none`; `groups`: G / (G - 1); `groups and rows`: G / (G - 1) (n - 1) / (n - k), the default of Stata and statsmodels. */
export type ClusterCorrection = "none" | "groups" | "groups and rows";

/** Small-sample correction of clustered errors. */
export interface ClusterOptions {
  /** Default `groups`. With two groupings each of the three terms has its own. */
  readonly correction?: ClusterCorrection;
}

/**
 * Standard errors of a logistic fit that stay right when rows of a group are dependent: the sandwich estimator, with
 * scores summed within groups; for two groupings (pair and model) by inclusion and exclusion (Cameron, Gelbach and Miller).
 *
 * Weakness: an average over groups, so with few of them (below about 40) the errors are too small and noisy, whatever the
 * correction; the Student test on G - 1 df helps some. With two groupings a variance can come out negative: its standard
 * error is then NaN. Refused: a single group, a label missing, and fits without a finite maximum.
 *
 * @example clusterRobust(fit, [pairOfRow]).coefficients
 */
export function clusterRobust(
  fit: LogisticFit,
  groupings: readonly [Labels] | readonly [Labels, Labels],
  options: ClusterOptions = {},
): ClusterRobust {
  const { correction = "groups" } = options;
  if (!fit.converged)
    throw new Error(
      "clusterRobust: the fit has no finite maximum; expected a converged one; see its `separation`",
    );
  const coded = groupings.map((labels) => {
    if (labels.length !== fit.rows)
      throw new Error(`clusterRobust: ${labels.length} labels for ${fit.rows} rows; expected one a row`);
    const result = codes(labels);
    if (result.count < 2)
      throw new Error("clusterRobust: a single group; expected at least 2, better 40 or more");
    return result;
  });
  const groups = coded.map(({ count }) => count);
  const [first, second] = coded as [ReturnType<typeof codes>, ReturnType<typeof codes>?];
  let covariance = sandwich(fit, first.code, first.count, correction);
  if (second) {
    const both = codes(first.code.map((code, i) => code * second.count + (second.code[i] as number)));
    const other = sandwich(fit, second.code, second.count, correction);
    const shared = sandwich(fit, both.code, both.count, correction);
    covariance = covariance.map((value, i) => value + (other[i] as number) - (shared[i] as number));
  }
  const size = fit.design.names.length;
  const df = Math.min(...groups) - 1;
  const coefficients = fit.coefficients.map(({ name, estimate }, j) => {
    const row = coefficient(name, estimate, Math.sqrt(covariance[j * size + j] as number));
    const student = Number.isNaN(row.z) ? row.test : studentTail(row.z, df);
    return { ...row, student };
  });
  return { coefficients, covariance, groups, df, correction };
}

function sandwich(
  fit: LogisticFit,
  code: Int32Array,
  count: number,
  correction: ClusterCorrection,
): Float64Array {
  const { columns, rows } = fit.design;
  const size = columns.length;
  const residual = new Float64Array(rows);
  for (let i = 0; i < rows; i += 1) residual[i] = (fit.outcome[i] as number) - (fit.probability[i] as number);
  const scores = new Float64Array(count * size);
  for (let j = 0; j < size; j += 1) {
    const column = columns[j] as Float64Array;
    for (let i = 0; i < rows; i += 1) {
      const at = (code[i] as number) * size + j;
      scores[at] = (scores[at] as number) + (column[i] as number) * (residual[i] as number);
    }
  }
  const meat = new Float64Array(size * size);
  for (let g = 0; g < count; g += 1)
    for (let j = 0; j < size; j += 1)
      for (let k = 0; k < size; k += 1)
        meat[j * size + k] =
          (meat[j * size + k] as number) +
          (scores[g * size + j] as number) * (scores[g * size + k] as number);
  const few = correction === "none" ? 1 : count / (count - 1);
  const factor = correction === "groups and rows" ? (few * (rows - 1)) / (rows - size) : few;
  return multiply(multiply(fit.covariance, meat, size), fit.covariance, size).map((value) => value * factor);
}

function multiply(a: Float64Array, b: Float64Array, size: number): Float64Array {
  const c = new Float64Array(size * size);
  for (let i = 0; i < size; i += 1)
    for (let j = 0; j < size; j += 1)
      for (let k = 0; k < size; k += 1)
        c[i * size + j] =
          (c[i * size + j] as number) + (a[i * size + k] as number) * (b[k * size + j] as number);
  return c;
}
