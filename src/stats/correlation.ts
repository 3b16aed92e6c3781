import { finite, type Numbers, paired } from "./input.js";
import { ranks } from "./ranks.js";
import { studentTail, type Tail } from "./tails.js";

/** A correlation with its tests. */
export interface Correlation {
  readonly method: "pearson" | "spearman";
  /** -1 to 1; NaN, and every test with it, when one of the two lists is constant: a correlation is then undefined. */
  readonly r: number;
  readonly n: number;
  /** r sqrt((n - 2) / (1 - r^2)) on n - 2 degrees of freedom. */
  readonly t: number;
  /** Two-sided, from Student's t. For ranks an approximation, poor below about ten rows and blind to ties. */
  readonly student: Tail;
  /** Two-sided and exact: the share of all n! pairings whose |r| is at least the one seen. Only up to `exactUpTo` rows. */
  readonly exact?: Tail;
}

/** Up to how many rows p-values are exact. */
export interface CorrelationOptions {
  /** Rows up to which all n! pairings are counted. Default 9 (362,880 pairings); at most 10. */
  readonly exactUpTo?: number;
}

/** Pearson's correlation of two lists of at least 3 numbers. The p-value assumes that the rows are independent. */
export function pearson(x: Numbers, y: Numbers, options: CorrelationOptions = {}): Correlation {
  paired("pearson", x, y, 3);
  return correlation("pearson", finite("pearson: x", x), finite("pearson: y", y), options);
}

/**
 * Spearman's rank correlation, with ties: Pearson's correlation of the mean ranks.
 *
 * Between a binary and a skewed list its size depends on how unequal the two classes are (it is squeezed towards 0 as
 * accuracy nears 1), so values for models of different accuracy are not comparable; `auc` is not squeezed.
 *
 * @example spearman(frequency, correct).r
 */
export function spearman(x: Numbers, y: Numbers, options: CorrelationOptions = {}): Correlation {
  paired("spearman", x, y, 3);
  return correlation("spearman", ranks(x), ranks(y), options);
}

function correlation(
  method: Correlation["method"],
  x: Float64Array,
  y: Float64Array,
  options: CorrelationOptions,
): Correlation {
  const n = x.length;
  const dx = centred(x);
  const dy = centred(y);
  const scale = Math.sqrt(dot(dx, dx)) * Math.sqrt(dot(dy, dy));
  if (isConstant(x) || isConstant(y)) {
    const undefinedTail = { p: Number.NaN, logP: Number.NaN };
    return { method, r: Number.NaN, n, t: Number.NaN, student: undefinedTail };
  }
  const r = Math.max(-1, Math.min(1, dot(dx, dy) / scale));
  const t = r * Math.sqrt((n - 2) / ((1 - r) * (1 + r)));
  const result = { method, r, n, t, student: studentTail(t, n - 2) };
  if (n > Math.min(options.exactUpTo ?? 9, 10)) return result;
  const p = permutationShare(dx, dy, Math.abs(r) * scale * (1 - 1e-12));
  return { ...result, exact: { p, logP: Math.log(p) } };
}

/** Share of the orders of y for which |x . y| reaches `bound`. Heap's algorithm: one swap, one update a step. */
function permutationShare(x: Float64Array, y: Float64Array, bound: number): number {
  const order = Float64Array.from(y);
  const counter = new Int32Array(x.length);
  let reached = Math.abs(dot(x, order)) >= bound ? 1 : 0;
  let total = 1;
  for (let i = 0; i < x.length; ) {
    if ((counter[i] as number) < i) {
      const j = i % 2 === 0 ? 0 : (counter[i] as number);
      const swap = order[j] as number;
      order[j] = order[i] as number;
      order[i] = swap;
      if (Math.abs(dot(x, order)) >= bound) reached += 1;
      total += 1;
      counter[i] = (counter[i] as number) + 1;
      i = 0;
    } else {
      counter[i] = 0;
      i += 1;
    }
  }
  return reached / total;
}

function centred(values: Float64Array): Float64Array {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  return values.map((value) => value - mean);
}

function dot(x: Float64Array, y: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i += 1) sum += (x[i] as number) * (y[i] as number);
  return sum;
}

function isConstant(values: Float64Array): boolean {
  return values.every((value) => value === values[0]);
}
