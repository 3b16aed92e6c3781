/** Rows of a design that are alike, merged: what a binomial likelihood needs, and nothing more. */
export interface Patterns {
  /** Pattern of each row. */
  readonly of: Int32Array;
  readonly count: number;
  /** `[pattern, column]`, row-major. */
  readonly values: Float64Array;
  /** Rows and ones in each pattern. */
  readonly trials: Float64Array;
  readonly ones: Float64Array;
}

/**
 * Merges rows with the same values in every column. The likelihood of the merged rows differs from that of the single
 * ones by a constant only (which is left out), so fits are the same and far faster where covariates repeat.
 */
export function patterns(columns: readonly Float64Array[], outcome: Uint8Array): Patterns {
  const rows = outcome.length;
  let of: Int32Array = new Int32Array(rows);
  let count = 1;
  for (const column of columns) {
    const values = recode(rows, (i) => column[i] as number);
    const next = recode(rows, (i) => (of[i] as number) * values.count + (values.code[i] as number));
    of = next.code;
    count = next.count;
  }
  const values = new Float64Array(count * columns.length);
  const trials = new Float64Array(count);
  const ones = new Float64Array(count);
  for (let i = 0; i < rows; i += 1) {
    const pattern = of[i] as number;
    if (trials[pattern] === 0)
      for (let j = 0; j < columns.length; j += 1)
        values[pattern * columns.length + j] = (columns[j] as Float64Array)[i] as number;
    trials[pattern] = (trials[pattern] as number) + 1;
    ones[pattern] = (ones[pattern] as number) + (outcome[i] as number);
  }
  return { of, count, values, trials, ones };
}

function recode(rows: number, value: (row: number) => number): { code: Int32Array; count: number } {
  const seen = new Map<number, number>();
  const code = new Int32Array(rows);
  for (let i = 0; i < rows; i += 1) {
    const key = value(i);
    let known = seen.get(key);
    if (known === undefined) {
      known = seen.size;
      seen.set(key, known);
    }
    code[i] = known;
  }
  return { code, count: seen.size };
}
