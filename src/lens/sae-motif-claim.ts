/**
 * Does another character or delimiter reorganise the features? Overlap across motifs beside how far a ranking repeats within
 * one motif at all. Paper: section 3, "reorganizes the supporting feature coalition".
 */
import { formatNumber } from "../figures/format-number.js";
import { quantile } from "../stats/bootstrap.js";
import { random } from "../stats/random.js";
import { pickPositions, type SparseActivations } from "./sae-encode.js";
import { featureOverlap } from "./sae-overlap.js";
import { type FeatureRanking, type RankingOptions, rankFeatures } from "./sae-ranking.js";

/** Encoded prompts of one motif, one row a count. */
export interface MotifFeatures {
  readonly name: string;
  readonly acts: SparseActivations;
  readonly counts: ArrayLike<number>;
}

/** A mean over splits, with its range. */
export interface OverlapEstimate {
  readonly estimate: number;
  /** 2.5th and 97.5th percentile over the splits. */
  readonly low: number;
  readonly high: number;
}

/** Whether motifs share fewer features than two halves of one motif do. */
export interface MotifClaim {
  /** Mean Jaccard of the top sets of one half of the counts of one motif and the other half of the other, both ways. */
  readonly across: OverlapEstimate;
  /** The same of the two halves within each motif: the most that any overlap of such rankings can reach. */
  readonly within: OverlapEstimate;
  /** across - within. */
  readonly difference: OverlapEstimate;
  /** Of random sets of the features that are ranked in either. */
  readonly chance: number;
  /** The two intervals do not touch, and the difference is below 0 in at least 97.5 % of the splits. */
  readonly reorganised: boolean;
  readonly text: string;
}

/**
 * Compares two motifs asked the same counts. Counts are split into random halves (100 times by default), each ranked on its own, so
 * that across and within rest on rankings of equally many positions. Not a bootstrap: counts drawn twice would make rankings
 * repeat worse than they do.
 *
 * Weakness: splits of one set of counts are not independent samples; the interval says how far the choice of counts matters, and
 * nothing of other models.
 *
 * @throws for counts that differ, or fewer than 12
 */
export function motifClaim(
  a: MotifFeatures,
  b: MotifFeatures,
  options: Pick<RankingOptions, "k" | "by" | "position"> & {
    readonly seed: number;
    readonly splits?: number;
  },
): MotifClaim {
  const { seed, splits = 100, ...ranking } = options;
  if (a.counts.length !== b.counts.length || a.counts.length < 12)
    throw new Error(
      `motifClaim: ${a.counts.length} and ${b.counts.length} counts; expected the same ones, at least 12`,
    );
  const order = Array.from(a.counts, (_, i) => i);
  if (order.some((i) => a.counts[i] !== b.counts[i]))
    throw new Error(`motifClaim: ${a.name} and ${b.name} have different counts; expected the same ones`);
  if (!Number.isInteger(splits) || splits < 1)
    throw new Error(`motifClaim: ${splits} splits; expected a whole number from 1`);

  const rank = (motif: MotifFeatures, rows: readonly number[]) =>
    rankFeatures(
      pickPositions(motif.acts, rows),
      rows.map((row) => motif.counts[row]!),
      ranking,
    );
  const measure = (one: readonly number[], other: readonly number[]) => {
    const [a1, a2, b1, b2] = [rank(a, one), rank(a, other), rank(b, one), rank(b, other)];
    const overlap = (x: FeatureRanking, y: FeatureRanking) => featureOverlap(x, y);
    const ways = [overlap(a1, b2), overlap(b1, a2)] as const;
    const across = (ways[0].jaccard + ways[1].jaccard) / 2;
    const within = (overlap(a1, a2).jaccard + overlap(b1, b2).jaccard) / 2;
    return { across, within, difference: across - within, chance: (ways[0].chance + ways[1].chance) / 2 };
  };
  const draw = random(seed, "halves of the counts");
  const half = Math.floor(order.length / 2);
  const measured = Array.from({ length: splits }, () => {
    const drawn = draw.shuffle(order);
    return measure(drawn.slice(0, half), drawn.slice(half));
  });
  const mean = (of: keyof ReturnType<typeof measure>) =>
    measured.reduce((sum, one) => sum + one[of], 0) / measured.length;
  const interval = (of: "across" | "within" | "difference"): OverlapEstimate => {
    const sorted = measured.map((one) => one[of]).sort((x, y) => x - y);
    return { estimate: mean(of), low: quantile(sorted, 0.025), high: quantile(sorted, 0.975) };
  };
  const [across, within, difference] = [interval("across"), interval("within"), interval("difference")];
  const chance = mean("chance");
  const reorganised = difference.high < 0 && across.high < within.low;
  const said = ({ estimate, low, high }: OverlapEstimate) =>
    `${formatNumber(estimate, 2)} [${formatNumber(low, 2)}, ${formatNumber(high, 2)}]`;
  return {
    across,
    within,
    difference,
    chance,
    reorganised,
    text:
      `${a.name} and ${b.name} share ${said(across)} of their top features (Jaccard), against ${said(within)} within a motif and ${formatNumber(chance, 2)} by chance: ` +
      `${reorganised ? "other features follow the count" : "that other features follow the count is not shown"} (difference ${said(difference)}).`,
  };
}
