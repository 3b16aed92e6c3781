/**
 * What SAE features of counting show, said from effect, interval and control: does any feature follow the count more than the
 * best of as many would by chance, and is there one that counts, or do they rise and fall (second paper, Fig. 4d)?
 */
import { formatNumber } from "../figures/format-number.js";
import { type Bootstrap, bootstrap } from "../stats/bootstrap.js";
import { monotoneShare } from "../stats/isotonic.js";
import { featureColumn, type SparseActivations } from "./sae-encode.js";
import { type FeatureRanking, type PermutedTop, permutedTop } from "./sae-ranking.js";

/** Whether a feature follows the count beyond what permuted counts give. */
export interface FeatureClaim {
  /** |r| of the best feature, its bootstrap interval over counts (the feature itself fixed), and its permuted control. */
  readonly best: Bootstrap;
  readonly control: PermutedTop;
  /** The interval lies above what 95 % of permutations reach with their best feature. */
  readonly follows: boolean;
  /** The interval lies above |r| of the best of as many random directions; null where none was given. */
  readonly beyondRandom: boolean | null;
  /** Of each top feature, in the ranking's order: share of its variation over the count that a monotone curve explains. */
  readonly monotone: readonly { readonly feature: number; readonly share: number }[];
  /** Mean of these, with its bootstrap interval over counts. Resampling repeats counts and so makes curves look smoother:
   * the interval errs towards monotone. */
  readonly meanMonotone: Bootstrap;
  /** Features follow the count, but none as a counter would: r2 of the best stays below 0.9 and the monotone share of the top
   * profiles below 0.95, both at the upper ends of their intervals. */
  readonly noAccumulator: boolean;
  readonly text: string;
}

/**
 * The claim of a ranking. `resamples` default 500, `permutations` 200. `randomBest`: |r| of the best of as many random directions
 * (`randomDictionary`), the control for what is linear in the activations anyway.
 */
export function featureClaim(
  acts: SparseActivations,
  counts: ArrayLike<number>,
  ranking: FeatureRanking,
  options: {
    readonly seed: number;
    readonly resamples?: number;
    readonly permutations?: number;
    readonly randomBest?: number;
  },
): FeatureClaim {
  const { seed, resamples = 500, permutations = 200, randomBest } = options;
  const first = ranking.top[0];
  if (first === undefined)
    throw new Error("featureClaim: no feature varies over these positions; expected a ranking with features");
  const columns = ranking.top.map(({ feature }) => featureColumn(acts, feature));
  const control = permutedTop(acts, counts, first.r, { seed, permutations });
  const best = bootstrap(acts.positions, (row) => Math.abs(pearsonOf(columns[0]!, counts, row)), {
    seed,
    resamples,
  });
  const byCount = Array.from(counts, (_, i) => i).sort((a, b) => counts[a]! - counts[b]!);
  const place = new Int32Array(acts.positions);
  byCount.forEach((row, i) => {
    place[row] = i;
  });
  const shareOf = (column: Float32Array, rows: readonly number[]) =>
    monotoneShare(meansByCount(column, counts, rows));
  const monotone = ranking.top.map(({ feature }, i) => ({ feature, share: shareOf(columns[i]!, byCount) }));
  const meanMonotone = bootstrap(
    acts.positions,
    (row) => {
      const rows = [...row].sort((a, b) => place[a]! - place[b]!);
      const shares = columns.map((column) => shareOf(column, rows)).filter((share) => !Number.isNaN(share));
      return shares.reduce((sum, share) => sum + share, 0) / shares.length;
    },
    { seed, resamples },
  );
  const follows = best.low > control.limit;
  const noAccumulator = follows && best.high ** 2 < 0.9 && meanMonotone.high < 0.95;
  const beyondRandom = randomBest === undefined ? null : follows && best.low > Math.abs(randomBest);
  return { best, control, follows, beyondRandom, monotone, meanMonotone, noAccumulator, text: textOf() };

  function textOf(): string {
    const round = (value: number) => formatNumber(value);
    const effect = `the best, feature ${first!.feature}, has |r| = ${round(best.estimate)} [${round(best.low)}, ${round(best.high)}]`;
    const chance = `best of permuted counts: ${round(control.limit)} at the 95th percentile, p = ${round(control.p)}`;
    const shape = `a monotone curve explains ${round(100 * meanMonotone.estimate)} % [${round(100 * meanMonotone.low)}, ${round(100 * meanMonotone.high)}] of the top profiles' variation`;
    if (!follows) return `No feature is shown to follow the count: ${effect} (${chance}). ${ranking.says}.`;
    const directions =
      randomBest === undefined
        ? ""
        : ` The best of as many random directions has |r| = ${round(Math.abs(randomBest))}: ${beyondRandom ? "features do better" : "that features do better is not shown"}.`;
    const single = `that is ${round(100 * best.estimate ** 2)} % of the count's variance in one feature`;
    return `Features follow the count: ${effect} (${chance}); ${single}, and ${shape}. ${
      noAccumulator ? "No single feature accumulates the count." : "An accumulator is not ruled out."
    }${directions} ${ranking.says}.`;
  }
}

/** Mean of a feature at each count, in rising order of count. `rows` must be sorted by count. */
function meansByCount(
  column: Float32Array,
  counts: ArrayLike<number>,
  rows: readonly number[],
): Float64Array {
  const means: number[] = [];
  for (let i = 0; i < rows.length; ) {
    const count = counts[rows[i]!]!;
    let [sum, n] = [0, 0];
    for (; i < rows.length && counts[rows[i]!] === count; i++, n++) sum += column[rows[i]!]!;
    means.push(sum / n);
  }
  return Float64Array.from(means);
}

function pearsonOf(x: Float32Array, y: ArrayLike<number>, rows: readonly number[]): number {
  let [sx, sy] = [0, 0];
  for (const row of rows) {
    sx += x[row]!;
    sy += y[row]!;
  }
  const [mx, my] = [sx / rows.length, sy / rows.length];
  let [xx, yy, xy] = [0, 0, 0];
  for (const row of rows) {
    const [dx, dy] = [x[row]! - mx, y[row]! - my];
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return xy / Math.sqrt(xx * yy);
}
