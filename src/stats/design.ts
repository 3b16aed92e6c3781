import { finite, type Numbers } from "./input.js";

/** Named columns of a linear predictor, checked. The intercept, where there is one, is the first column. */
export interface Design {
  readonly names: readonly string[];
  /** One `[row]` array a column. */
  readonly columns: readonly Float64Array[];
  readonly rows: number;
  readonly intercept: boolean;
  /** Mean and standard deviation taken out of each column, in the order of `names` (not for the intercept). */
  readonly standardised?: readonly { readonly name: string; readonly mean: number; readonly sd: number }[];
}

/** Intercept and scaling of a design. */
export interface DesignOptions {
  /** Default true. */
  readonly intercept?: boolean;
  /** Standardise each column as it comes, products included: 0 divides by n in the variance, 1 by n - 1. Default: not. */
  readonly standardise?: 0 | 1;
  /** Number of rows; needed only when there are no columns (the intercept alone). */
  readonly rows?: number;
}

/** Name of the intercept's column. */
export const INTERCEPT = "intercept";

/**
 * The design matrix of a regression.
 *
 * Refused, because no fit of it means anything: NaN or infinite values, columns of different lengths, no rows, neither
 * columns nor intercept, a constant column beside an intercept, and a column that is a combination of those before it
 * (relative residual below 1e-10).
 *
 * @example design({ carry, size, "carry x size": product(carry, size) })
 */
export function design(columns: Readonly<Record<string, Numbers>>, options: DesignOptions = {}): Design {
  const { intercept = true, standardise } = options;
  const names = Object.keys(columns);
  const rows = names.length > 0 ? (columns[names[0] as string] as Numbers).length : (options.rows ?? 0);
  if (names.length === 0 && !intercept)
    throw new Error("design: no columns and no intercept; expected at least one of them");
  if (rows === 0)
    throw new Error("design: no rows; expected at least one (give `rows` for an intercept alone)");

  const checked = names.map((name) => {
    const values = finite(`design: column "${name}"`, columns[name] as Numbers);
    if (values.length !== rows)
      throw new Error(`design: column "${name}" has ${values.length} rows; expected ${rows} as in the first`);
    if (intercept && values.every((value) => value === values[0]))
      throw new Error(
        `design: column "${name}" is ${values[0]} in every row; beside an intercept it cannot be estimated; leave it out`,
      );
    return values;
  });

  const moments =
    standardise === undefined ? undefined : checked.map((values) => momentsOf(values, standardise));
  const scaled = moments
    ? checked.map((values, j) => {
        const { mean, sd } = moments[j] as { mean: number; sd: number };
        return values.map((value) => (value - mean) / sd);
      })
    : checked;
  const all = intercept ? [new Float64Array(rows).fill(1), ...scaled] : scaled;
  const allNames = intercept ? [INTERCEPT, ...names] : names;
  refuseCollinear(allNames, all);
  const result = { names: allNames, columns: all, rows, intercept };
  return moments
    ? { ...result, standardised: moments.map((moment, j) => ({ name: names[j] as string, ...moment })) }
    : result;
}

/** The row-wise product of two columns: an interaction. */
export function product(x: Numbers, y: Numbers): Float64Array {
  if (x.length !== y.length)
    throw new Error(`product: ${x.length} and ${y.length} rows; expected as many of one as of the other`);
  const rows = new Float64Array(x.length);
  for (let i = 0; i < rows.length; i += 1) rows[i] = (x[i] as number) * (y[i] as number);
  return rows;
}

function momentsOf(values: Float64Array, ddof: 0 | 1): { mean: number; sd: number } {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return { mean, sd: Math.sqrt(squares / (values.length - ddof)) };
}

/** Gram-Schmidt on the Gram matrix of unit columns (a Cholesky decomposition): what is left of each is its pivot. */
function refuseCollinear(names: readonly string[], columns: readonly Float64Array[]): void {
  const size = columns.length;
  const factor = new Float64Array(size * size);
  const norms = columns.map((column) => Math.sqrt(dot(column, column)));
  for (let i = 0; i < size; i += 1) {
    if (norms[i] === 0) throw new Error(`design: column "${names[i]}" is 0 in every row; leave it out`);
    for (let j = 0; j <= i; j += 1) {
      const scale = (norms[i] as number) * (norms[j] as number);
      let value = dot(columns[i] as Float64Array, columns[j] as Float64Array) / scale;
      for (let k = 0; k < j; k += 1)
        value -= (factor[i * size + k] as number) * (factor[j * size + k] as number);
      if (i !== j) factor[i * size + j] = value / (factor[j * size + j] as number);
      else if (value < 1e-10)
        throw new Error(
          `design: column "${names[i]}" is a combination of ${names.slice(0, i).join(", ")}; leave one of them out`,
        );
      else factor[i * size + i] = Math.sqrt(value);
    }
  }
}

function dot(x: Float64Array, y: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i += 1) sum += (x[i] as number) * (y[i] as number);
  return sum;
}
