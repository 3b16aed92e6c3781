/** Activations with a count planted in them: known direction, slope, noise and, where wanted, a collapse. */
import { residPost } from "../../src/engine/hooks.js";
import type { CountObservations } from "../../src/lens/counting-activations.js";
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

export interface ObservationPlan extends Omit<Plan, "counts" | "nuisance"> {
  /** Counts 1 to this. */
  readonly to: number;
  /** Largest count answered rightly, in every condition. */
  readonly exactTo: number;
  /** Token offset of the list in each condition; the first is the plain one. Default 0, 37, 90, 160. */
  readonly offsets?: readonly number[];
  /** What is planted in place of the count, e.g. a position or a curve. Default: the count. */
  readonly shown?: (count: number, offset: number) => number;
}

/** Observations of a made-up model at layer 0. */
export function plantedObservations(plan: ObservationPlan): CountObservations {
  const { to, exactTo, offsets = [0, 37, 90, 160], shown = (count: number) => count } = plan;
  const asked = offsets.flatMap((offset, condition) =>
    upTo(to).map((count) => ({ count, offset, condition })),
  );
  const { data, width } = planted({
    ...plan,
    counts: asked.map(({ count, offset }) => shown(count, offset)),
  });
  const right = asked.map(({ count }) => count <= exactTo);
  return {
    at: "final",
    counts: Int32Array.from(asked, ({ count }) => count),
    positions: Int32Array.from(asked, ({ count, offset }) => offset + 2 * count),
    conditions: Int32Array.from(asked, ({ condition }) => condition),
    correct: right,
    stable: right,
    layers: [{ layer: 0, hook: residPost(0), rows: { data, width } }],
  };
}
