import { binary, finite, type Numbers, paired } from "./input.js";
import type { Interval } from "./proportion.js";
import { normalQuantile } from "./quantiles.js";
import { ranks } from "./ranks.js";
import { normalTail, type Tail } from "./tails.js";

/** Area under the ROC curve with DeLong's interval. */
export interface Auc extends Interval {
  /** DeLong's standard error. */
  readonly se: number;
  readonly positives: number;
  readonly negatives: number;
  /** Two-sided Mann-Whitney test of 0.5, normal approximation with ties corrected, no continuity correction. */
  readonly test: Tail;
}

/**
 * Area under the ROC curve: the chance that a random positive row scores above a random negative one, ties counted half.
 *
 * Unlike a rank correlation it is not squeezed when one class is rare, only made uncertain. Interval: DeLong, normal
 * approximation, cut at 0 and 1; poor below about ten rows in a class and degenerate (zero width) at 0 and 1. Rows are
 * taken as independent. One class only is refused.
 */
export function auc(score: Numbers, positive: ArrayLike<boolean | number>, level = 0.95): Auc {
  paired("auc", score, positive, 2);
  const scores = finite("auc: score", score);
  const labels = binary("auc: positive", positive);
  const byClass = [
    scores.filter((_, i) => labels[i] === 0),
    scores.filter((_, i) => labels[i] === 1),
  ] as const;
  const negatives = byClass[0].length;
  const positives = byClass[1].length;
  if (positives === 0 || negatives === 0)
    throw new Error(`auc: ${positives} positive and ${negatives} negative rows; expected some of both`);

  const overall = ranks(scores);
  const within = [ranks(byClass[0]), ranks(byClass[1])] as const;
  const next = [0, 0];
  // A row's placement: the share of the other class that it beats, from its rank overall less its rank in its class.
  const sum = [0, 0];
  const squares = [0, 0];
  for (let i = 0; i < scores.length; i += 1) {
    const side = labels[i] as 0 | 1;
    const inClass = within[side][next[side] as number] as number;
    next[side] = (next[side] as number) + 1;
    const placement = ((overall[i] as number) - inClass) / (side === 1 ? negatives : positives);
    sum[side] = (sum[side] as number) + placement;
    squares[side] = (squares[side] as number) + placement * placement;
  }
  const variance = (side: 0 | 1, count: number) =>
    count < 2 ? Number.NaN : ((squares[side] as number) - (sum[side] as number) ** 2 / count) / (count - 1);
  const estimate = (sum[1] as number) / positives;
  const se = Math.sqrt(Math.max(0, variance(1, positives) / positives + variance(0, negatives) / negatives));
  const half = normalQuantile((1 + level) / 2) * se;
  return {
    estimate,
    low: Math.max(0, estimate - half),
    high: Math.min(1, estimate + half),
    level,
    method: "DeLong",
    se,
    positives,
    negatives,
    test: mannWhitney(estimate, positives, negatives, tieSum(overall)),
  };
}

function mannWhitney(estimate: number, positives: number, negatives: number, ties: number): Tail {
  const n = positives + negatives;
  const variance = ((positives * negatives) / 12) * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) return { p: 1, logP: 0 };
  return normalTail(((estimate - 0.5) * positives * negatives) / Math.sqrt(variance));
}

/** Sum of t^3 - t over groups of tied ranks. */
function tieSum(rank: Float64Array): number {
  const group = new Map<number, number>();
  for (const value of rank) group.set(value, (group.get(value) ?? 0) + 1);
  let sum = 0;
  for (const count of group.values()) sum += count ** 3 - count;
  return sum;
}
