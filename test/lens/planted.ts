/** Activations with a count planted in them: known direction, slope, noise and, where wanted, a collapse. */
import type { ProbeRows } from "../../src/lens/probe-direction.js";
import { random } from "../../src/stats/random.js";

export interface Planted extends ProbeRows {
  readonly counts: number[];
  /** Of unit length, `[d_model]`. */
  readonly direction: Float64Array;
}

export interface Plan {
  readonly counts: readonly number[];
  readonly width: number;
  /** Projection per item. */
  readonly slope: number;
  /** Standard deviation of every dimension. */
  readonly noise: number;
  /** Counts above it look like this one. Default: none do. */
  readonly collapse?: number;
  /** A further direction that varies from row to row (as a position would), with this standard deviation. Default 0. */
  readonly nuisance?: number;
  readonly seed: number;
}

export function planted({ counts, width, slope, noise, collapse, nuisance = 0, seed }: Plan): Planted {
  const draw = random(seed, "planted");
  const direction = unit(width, () => draw.normal());
  const other = unit(width, () => draw.normal());
  const data = new Float32Array(counts.length * width);
  counts.forEach((count, i) => {
    const shown = collapse === undefined ? count : Math.min(count, collapse);
    const aside = draw.normal(0, nuisance);
    for (let j = 0; j < width; j++)
      data[i * width + j] = 2 + slope * shown * direction[j]! + aside * other[j]! + draw.normal(0, noise);
  });
  return { data, width, counts: [...counts], direction };
}

function unit(width: number, draw: () => number): Float64Array {
  const vector = Float64Array.from({ length: width }, draw);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

export const cosine = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let ab = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    ab += a[i]! * b[i]!;
    aa += a[i]! ** 2;
    bb += b[i]! ** 2;
  }
  return ab / Math.sqrt(aa * bb);
};

export const upTo = (to: number, times = 1): number[] =>
  Array.from({ length: to * times }, (_, i) => 1 + (i % to));
