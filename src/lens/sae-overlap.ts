/**
 * Do different prompts use the same features? Jaccard overlap of the top sets and displacement of ranks.
 * Paper: Methods, "recalculated feature rankings under motif variants, computed Jaccard overlap among top-ranked feature sets
 * and measured rank displacement of baseline top features".
 */
import type { FeatureRanking } from "./sae-ranking.js";

/** What two sets of top features share. */
export interface Overlap {
  readonly shared: readonly number[];
  /** |A and B| / |A or B| of the two top sets. */
  readonly jaccard: number;
  /** What two random sets of these sizes, drawn from the features ranked in either, have in common on average. */
  readonly chance: number;
}

/** Overlap of two rankings' top sets. Refuses rankings of different k, whose overlap would say little. */
export function featureOverlap(
  a: Pick<FeatureRanking, "top" | "ranks" | "k">,
  b: Pick<FeatureRanking, "top" | "ranks" | "k">,
): Overlap {
  sameKind("featureOverlap", a, b);
  const other = new Set(b.top.map(({ feature }) => feature));
  const shared = a.top.map(({ feature }) => feature).filter((feature) => other.has(feature));
  let pool = 0;
  for (let id = 0; id < a.ranks.length; id++) if (a.ranks[id]! > 0 || b.ranks[id]! > 0) pool++;
  return {
    shared,
    jaccard: jaccardOf(shared.length, a.top.length, b.top.length),
    chance: chanceJaccard(a.top.length, b.top.length, pool),
  };
}

/** How far a feature moves from one ranking to another. */
export interface Displacement {
  readonly feature: number;
  readonly from: number;
  /** Null where the feature has no rank there: it is silent or constant. */
  readonly to: number | null;
  /** to - from: positive is further down. Null with `to`. */
  readonly by: number | null;
}

/** Where the baseline's top features stand in another ranking, in the baseline's order. */
export function rankDisplacement(
  baseline: Pick<FeatureRanking, "top" | "ranks" | "k">,
  other: Pick<FeatureRanking, "ranks" | "k">,
): Displacement[] {
  sameKind("rankDisplacement", baseline, other);
  return baseline.top.map(({ feature, rank }) => {
    const to = other.ranks[feature]! > 0 ? other.ranks[feature]! : null;
    return { feature, from: rank, to, by: to === null ? null : to - rank };
  });
}

/** Mean Jaccard of random sets of `a` and `b` out of `pool`, exactly: the overlap is hypergeometric. */
export function chanceJaccard(a: number, b: number, pool: number): number {
  if (![a, b, pool].every((n) => Number.isInteger(n) && n >= 0) || a > pool || b > pool)
    throw new Error(
      `chanceJaccard: sets of ${a} and ${b} out of ${pool}; expected sets no larger than the pool`,
    );
  let mean = 0;
  const all = logChoose(pool, b);
  for (let shared = Math.max(0, a + b - pool); shared <= Math.min(a, b); shared++) {
    const p = Math.exp(logChoose(a, shared) + logChoose(pool - a, b - shared) - all);
    mean += p * jaccardOf(shared, a, b);
  }
  return mean;
}

function jaccardOf(shared: number, a: number, b: number): number {
  const union = a + b - shared;
  return union === 0 ? Number.NaN : shared / union;
}

function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log((n - k + i) / i);
  return sum;
}

function sameKind(
  where: string,
  a: Pick<FeatureRanking, "ranks" | "k">,
  b: Pick<FeatureRanking, "ranks" | "k">,
): void {
  if (a.ranks.length !== b.ranks.length)
    throw new Error(
      `${where}: rankings of ${a.ranks.length} and ${b.ranks.length} features; expected the same SAE`,
    );
  if (a.k !== b.k) throw new Error(`${where}: top ${a.k} against top ${b.k}; expected the same k`);
}
