/** Any list of numbers: plain, or a typed array of any kind. */
export type Numbers = ArrayLike<number>;

/**
 * The values as a `Float64Array`, after a check that there is no NaN and no infinity among them: a statistic of a NaN
 * is a number that looks right more often than not. `what` names function and argument in the error: `"pearson: x"`.
 */
export function finite(what: string, values: Numbers): Float64Array {
  const copy = new Float64Array(values.length);
  for (let i = 0; i < copy.length; i += 1) {
    const value = Number(values[i]);
    if (!Number.isFinite(value))
      throw new Error(
        `${what}[${i}] is ${String(values[i])}; expected a finite number; leave such rows out before and say so`,
      );
    copy[i] = value;
  }
  return copy;
}

/** The values as 0 and 1, from booleans or numbers; anything else is refused. */
export function binary(what: string, values: ArrayLike<boolean | number>): Uint8Array {
  const copy = new Uint8Array(values.length);
  for (let i = 0; i < copy.length; i += 1) {
    const value = values[i];
    if (value !== true && value !== false && value !== 0 && value !== 1)
      throw new Error(`${what}[${i}] is ${String(value)}; expected true, false, 0 or 1`);
    copy[i] = value === true || value === 1 ? 1 : 0;
  }
  return copy;
}

/** Refuses two lists of different lengths, and lists too short for the statistic. */
export function paired(what: string, x: ArrayLike<unknown>, y: ArrayLike<unknown>, least: number): void {
  if (x.length !== y.length)
    throw new Error(`${what}: ${x.length} and ${y.length} values; expected as many of one as of the other`);
  if (x.length < least) throw new Error(`${what}: ${x.length} values; expected at least ${least}`);
}

/** Codes 0, 1, 2, ... for the different labels, in order of first appearance. */
export function codes(labels: ArrayLike<number | string>): {
  readonly code: Int32Array;
  readonly count: number;
} {
  return labels instanceof Int32Array ? integerCodes(labels) : mappedCodes(labels);
}

/** Small whole numbers through a table: ten times as fast as a `Map`. */
function integerCodes(labels: Int32Array): { code: Int32Array; count: number } {
  let largest = 0;
  for (const label of labels) {
    if (label < 0 || label > 8 * labels.length + 1024) return mappedCodes(labels);
    if (label > largest) largest = label;
  }
  const known = new Int32Array(largest + 1).fill(-1);
  const code = new Int32Array(labels.length);
  let count = 0;
  for (let i = 0; i < code.length; i += 1) {
    const label = labels[i] as number;
    if (known[label] === -1) {
      known[label] = count;
      count += 1;
    }
    code[i] = known[label] as number;
  }
  return { code, count };
}

function mappedCodes(labels: ArrayLike<number | string>): { code: Int32Array; count: number } {
  const seen = new Map<number | string, number>();
  const code = new Int32Array(labels.length);
  for (let i = 0; i < code.length; i += 1) {
    const label = labels[i] as number | string;
    let known = seen.get(label);
    if (known === undefined) {
      known = seen.size;
      seen.set(label, known);
    }
    code[i] = known;
  }
  return { code, count: seen.size };
}
