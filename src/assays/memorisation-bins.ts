import { wilson } from "../stats/proportion.js";
import type { GridRows } from "./memorisation-rows.js";

/** Accuracy of one model on the pairs of one bin, with its Wilson interval. */
export interface BinRow {
  readonly model: string;
  readonly parameters: number;
  /** In words: `0`, `1–3`, `4–15`. */
  readonly bin: string;
  readonly accuracy: number;
  readonly low: number;
  readonly high: number;
  /** Pairs in the bin. */
  readonly n: number;
}

/**
 * Accuracy over bins of a whole number of each pair (how often it was seen, its product): 0, then 1 up to below `factor`,
 * up to below `factor`^2, and so on. Bins without pairs are left out.
 *
 * @param values one for each pair, in the order of a model's rows, as `gridFrequency` gives them
 * @param factor default 4
 */
export function accuracyBins(rows: GridRows, values: Float64Array, factor = 4): BinRow[] {
  const pairs = rows.rows / rows.grids.length;
  if (values.length !== pairs)
    throw new Error(`accuracyBins: ${values.length} values for ${pairs} pairs; expected one a pair`);
  if (!(factor > 1)) throw new Error(`accuracyBins: factor ${factor}; expected more than 1`);
  const binOf = (value: number) => {
    if (value < 1) return 0;
    let bin = 1;
    for (let edge = factor; value >= edge; edge *= factor) bin += 1;
    return bin;
  };
  const bins = Int32Array.from(values, binOf);
  const count = Math.max(...bins) + 1;
  return rows.grids.flatMap(({ model, parameters }, m) => {
    const n = new Float64Array(count);
    const right = new Float64Array(count);
    bins.forEach((bin, i) => {
      n[bin] = (n[bin] as number) + 1;
      right[bin] = (right[bin] as number) + (rows.correct[m * pairs + i] as number);
    });
    return [...n.keys()].flatMap((bin) => {
      const of = n[bin] as number;
      if (of === 0) return [];
      const { estimate, low, high } = wilson(right[bin] as number, of);
      return [{ model, parameters, bin: nameOf(bin, factor), accuracy: estimate, low, high, n: of }];
    });
  });
}

/** The products a b of the pairs, for bins of size. */
export function pairProducts(rows: GridRows): Float64Array {
  const pairs = rows.rows / rows.grids.length;
  const products = new Float64Array(pairs);
  for (let i = 0; i < pairs; i += 1) products[i] = (rows.a[i] as number) * (rows.b[i] as number);
  return products;
}

function nameOf(bin: number, factor: number): string {
  if (bin === 0) return "0";
  const from = Math.ceil(factor ** (bin - 1));
  const to = Math.ceil(factor ** bin) - 1;
  return from === to ? String(from) : `${from}–${to}`;
}
