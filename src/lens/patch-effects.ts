/** What a sweep of patches shows, layer by layer, with intervals. Pure. */
import { bootstrap } from "../stats/bootstrap.js";
import { wilson } from "../stats/proportion.js";
import type { PatchedCount } from "./patch-counts.js";

/**
 * - `moved`: share of donors of another count than the recipient's whose count is decoded exactly; Wilson's interval.
 * - `first digit`: the same for the answer's first digit, donors whose count begins with another digit than the recipient's. The final
 * token chooses no more than the first token of an answer; the digits after it are read from the prompt again.
 * - `slope`: least-squares slope of the decoded count over the donor's: 0 where the donor does not matter, 1 where it decides;
 *   bootstrap over donors. Answers without an integer are left out (`n` says how many are in); one far-off number can move it.
 * - `gap`: mean change of the gap of the donor's count as an answer, in nats, donors of another count; bootstrap over donors.
 */
export type PatchMeasure = "moved" | "first digit" | "slope" | "gap";

/** The effect of patching one layer, with a 95 % interval. */
export interface PatchEffect {
  readonly layer: number;
  readonly condition: PatchedCount["condition"];
  readonly measure: PatchMeasure;
  readonly effect: number;
  /** Of 95 %. */
  readonly low: number;
  readonly high: number;
  /** Donors behind it. */
  readonly n: number;
  readonly control: boolean;
}

/** What is read of a sweep; the result of `patchCounts` has this shape. */
export interface PatchRows {
  readonly base: { readonly count: number };
  readonly cells: readonly Pick<PatchedCount, "layer" | "condition" | "donor" | "decoded" | "gapChange">[];
}

/**
 * One effect for each layer and condition but `self`, which is an identity and no estimate. Layers and conditions where there are
 * fewer than 2 donors (3 for a slope) to estimate from are left out.
 *
 * Cells of several positions or heads (`each`) are refused by being counted as donors of their own: filter them first.
 */
export function patchEffects(
  { base, cells }: PatchRows,
  options: { readonly measure?: PatchMeasure; readonly seed?: number } = {},
): PatchEffect[] {
  const { measure = "moved", seed = 0 } = options;
  const groups = new Map<string, PatchRows["cells"][number][]>();
  for (const cell of cells) {
    if (cell.condition === "self") continue;
    const key = `${cell.condition} ${cell.layer}`;
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return [...groups.values()].flatMap((group) => {
    const { layer, condition } = group[0]!;
    const estimate = estimators[measure](group, base.count, `${seed} ${condition} ${layer}`);
    if (estimate === undefined) return [];
    return [{ layer, condition, measure, ...estimate, control: condition !== "patch" }];
  });
}

type Estimate = Pick<PatchEffect, "effect" | "low" | "high" | "n"> | undefined;
type Estimator = (group: PatchRows["cells"], base: number, seed: string) => Estimate;

const estimators: Readonly<Record<PatchMeasure, Estimator>> = {
  moved(group, base) {
    const others = group.filter(({ donor }) => donor !== base);
    if (others.length < 2) return undefined;
    const moved = others.filter(({ donor, decoded }) => decoded === donor).length;
    const { low, high } = wilson(moved, others.length);
    return { effect: moved / others.length, low, high, n: others.length };
  },
  "first digit"(group, base) {
    const first = (count: number) => String(count)[0];
    const others = group.filter(({ donor }) => first(donor) !== first(base));
    if (others.length < 2) return undefined;
    const moved = others.filter(
      ({ donor, decoded }) => decoded !== null && first(decoded) === first(donor),
    ).length;
    const { low, high } = wilson(moved, others.length);
    return { effect: moved / others.length, low, high, n: others.length };
  },
  slope(group, _, seed) {
    const read = group.filter(({ decoded }) => decoded !== null);
    const slope = (rows: readonly number[]) =>
      slopeOf(
        rows.map((i) => read[i]!.donor),
        rows.map((i) => read[i]!.decoded!),
      );
    const all = read.map((_, i) => i);
    if (read.length < 3 || !Number.isFinite(slope(all))) return undefined;
    const { estimate, low, high } = bootstrap(read.length, slope, { seed, resamples: 1000 });
    return { effect: estimate, low, high, n: read.length };
  },
  gap(group, base, seed) {
    const changes = group.filter(({ donor }) => donor !== base).map(({ gapChange }) => gapChange);
    if (changes.length < 2) return undefined;
    const mean = (rows: readonly number[]) => rows.reduce((sum, i) => sum + changes[i]!, 0) / rows.length;
    const { estimate, low, high } = bootstrap(changes.length, mean, { seed, resamples: 1000 });
    return { effect: estimate, low, high, n: changes.length };
  },
};

function slopeOf(x: readonly number[], y: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  const across = x.reduce((sum, value, i) => sum + (value - mx) * (y[i]! - my), 0);
  return across / x.reduce((sum, value) => sum + (value - mx) ** 2, 0);
}
