/**
 * Which features follow the count: ranking by Pearson's correlation, profiles of the top ones, and how rankings of
 * different prompts compare. Paper: Methods, "Sparse autoencoders and feature coalitions", and Fig. 4d.
 */
import { random } from "../stats/random.js";
import { featureColumn, type SparseActivations } from "./sae-encode.js";

/** How features are ranked, and at which token. */
export interface RankingOptions {
  /** How many top features. Default 10. */
  readonly k?: number;
  /** `|r|` (default): the strongest, falling ones included; `r`: the strongest rising ones. */
  readonly by?: "|r|" | "r";
  /** Which token's activations these are, in words: `final token`, `item tokens`. It is stated with the ranking. */
  readonly position: string;
}

/** A feature with its rank. */
export interface RankedFeature {
  readonly feature: number;
  /** From 1. */
  readonly rank: number;
  /** Pearson's correlation with the count. */
  readonly r: number;
  /** Share of the positions at which it fires. */
  readonly fires: number;
}

/** A ranking and what it holds for; `says` states it in a line. */
export interface FeatureRanking {
  readonly top: readonly RankedFeature[];
  /** `[feature]`; NaN where the feature is constant over these positions (most never fire). */
  readonly r: Float64Array;
  /** `[feature]` from 1; 0 where there is no correlation and so no rank. */
  readonly ranks: Int32Array;
  /** Features that have a rank. */
  readonly ranked: number;
  readonly k: number;
  readonly by: "|r|" | "r";
  readonly position: string;
  readonly counts: { readonly from: number; readonly to: number; readonly positions: number };
  readonly says: string;
}

/**
 * Ranks features by their correlation with the count. `counts[position]` is the true count that goes with each row.
 * Ties go to the smaller feature. Sums in F64: agrees with numpy to 1e-6 and better.
 *
 * Weakness: with more features than positions the best of many has a high |r| by chance; `permutedTop` says how high.
 *
 * @throws for fewer than 3 positions, counts of another number or all the same, or k beyond the features
 * @example
 * const ranking = rankFeatures(acts, counts, { position: "final token" });
 * console.log(ranking.says, ranking.top[0].feature);
 */
export function rankFeatures(
  acts: SparseActivations,
  counts: ArrayLike<number>,
  options: RankingOptions,
): FeatureRanking {
  const { k = 10, by = "|r|", position } = options;
  checkCounts("rankFeatures", acts, counts);
  if (!Number.isInteger(k) || k < 1 || k > acts.features)
    throw new Error(`rankFeatures: k ${k}; expected a whole number from 1 to ${acts.features}`);
  const moments = momentsOf(acts);
  const r = correlations(acts, moments, counts);
  const order = Array.from(r.keys())
    .filter((feature) => !Number.isNaN(r[feature]))
    .sort((a, b) => strength(r[b]!, by) - strength(r[a]!, by) || a - b);
  const ranks = new Int32Array(acts.features);
  order.forEach((feature, i) => {
    ranks[feature] = i + 1;
  });
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < counts.length; i++) {
    from = Math.min(from, counts[i]!);
    to = Math.max(to, counts[i]!);
  }
  const range = { from, to, positions: acts.positions };
  return {
    top: order.slice(0, k).map((feature, i) => ({
      feature,
      rank: i + 1,
      r: r[feature]!,
      fires: moments.fired[feature]! / acts.positions,
    })),
    r,
    ranks,
    ranked: order.length,
    k,
    by,
    position,
    counts: range,
    says: `top ${k} of ${order.length} features by ${by}, ${position}, counts ${from} to ${to} (${acts.positions} positions)`,
  };
}

/** The best feature when the counts are permuted. */
export interface PermutedTop {
  readonly permutations: number;
  /** Largest |r| of any feature in each permutation, ascending. */
  readonly largest: Float64Array;
  /** Their 95th percentile: what the best feature must exceed. */
  readonly limit: number;
  /** Share of permutations, the true order counted as one, whose best feature is at least as strong as `observed`. */
  readonly p: number;
  readonly seed: number | string;
}

/**
 * Control for picking the best of many: the same activations with the counts permuted. `observed` is the strongest |r| of
 * the ranking under test. Default 200 permutations; the seed is needed.
 */
export function permutedTop(
  acts: SparseActivations,
  counts: ArrayLike<number>,
  observed: number,
  options: { readonly seed: number | string; readonly permutations?: number },
): PermutedTop {
  const { seed, permutations = 200 } = options;
  checkCounts("permutedTop", acts, counts);
  if (!Number.isInteger(permutations) || permutations < 1)
    throw new Error(`permutedTop: ${permutations} permutations; expected a whole number from 1`);
  const moments = momentsOf(acts);
  const draw = random(seed, "permuted counts");
  const largest = Float64Array.from({ length: permutations }, () => {
    const r = correlations(acts, moments, draw.shuffle(counts));
    let most = 0;
    for (const value of r) if (!Number.isNaN(value)) most = Math.max(most, Math.abs(value));
    return most;
  }).sort();
  const beyond = largest.filter((value) => value >= Math.abs(observed)).length;
  return {
    permutations,
    largest,
    limit: largest[Math.min(permutations - 1, Math.ceil(0.95 * permutations) - 1)]!,
    p: (1 + beyond) / (1 + permutations),
    seed,
  };
}

/** A feature's mean activation at one count. */
export interface ProfileRow {
  readonly feature: number;
  readonly count: number;
  readonly activation: number;
  readonly r: number;
}

/** Activation of the top features at each count: rows for `figures.saeProfiles`. Several positions of a count are averaged. */
export function featureProfiles(
  acts: SparseActivations,
  counts: ArrayLike<number>,
  ranking: Pick<FeatureRanking, "top">,
): ProfileRow[] {
  if (counts.length !== acts.positions)
    throw new Error(`featureProfiles: ${counts.length} counts for ${acts.positions} positions`);
  return ranking.top.flatMap(({ feature, r }) => {
    const column = featureColumn(acts, feature);
    const sums = new Map<number, [sum: number, n: number]>();
    column.forEach((activation, position) => {
      const [sum, n] = sums.get(counts[position]!) ?? [0, 0];
      sums.set(counts[position]!, [sum + activation, n + 1]);
    });
    return [...sums]
      .sort(([a], [b]) => a - b)
      .map(([count, [sum, n]]) => ({ feature, count, activation: sum / n, r }));
  });
}

function momentsOf(acts: SparseActivations): {
  mean: Float64Array;
  squares: Float64Array;
  fired: Int32Array;
} {
  const { features, positions, ids, values } = acts;
  const mean = new Float64Array(features);
  const fired = new Int32Array(features);
  const [least, most] = [
    new Float64Array(features).fill(Number.POSITIVE_INFINITY),
    new Float64Array(features),
  ];
  ids.forEach((id, entry) => {
    const value = values[entry]!;
    mean[id]! += value / positions;
    fired[id]!++;
    least[id] = Math.min(least[id]!, value);
    most[id] = Math.max(most[id]!, value);
  });
  const squares = new Float64Array(features);
  ids.forEach((id, entry) => {
    squares[id]! += (values[entry]! - mean[id]!) ** 2;
  });
  for (let id = 0; id < features; id++) {
    squares[id]! += (positions - fired[id]!) * mean[id]! ** 2;
    // Rounding must not make a constant feature vary.
    if (fired[id] === positions && least[id] === most[id]) squares[id] = 0;
  }
  return { mean, squares, fired };
}

/** `[feature]`. A feature's silent positions need no visit: the sum of (a - mean)(c - mean) is that of a (c - mean). */
function correlations(
  acts: SparseActivations,
  { squares }: { readonly squares: Float64Array },
  counts: ArrayLike<number>,
): Float64Array {
  let sum = 0;
  for (let i = 0; i < counts.length; i++) sum += counts[i]!;
  const centred = Float64Array.from(counts, (count) => count - sum / counts.length);
  const spread = centred.reduce((total, value) => total + value * value, 0);
  const products = new Float64Array(acts.features);
  for (let position = 0; position < acts.positions; position++) {
    const count = centred[position]!;
    for (let entry = acts.offsets[position]!; entry < acts.offsets[position + 1]!; entry++)
      products[acts.ids[entry]!]! += acts.values[entry]! * count;
  }
  return products.map((product, id) =>
    squares[id] === 0 ? Number.NaN : Math.max(-1, Math.min(1, product / Math.sqrt(squares[id]! * spread))),
  );
}

function strength(r: number, by: "|r|" | "r"): number {
  return by === "r" ? r : Math.abs(r);
}

function checkCounts(where: string, acts: SparseActivations, counts: ArrayLike<number>): void {
  if (counts.length !== acts.positions)
    throw new Error(
      `${where}: ${counts.length} counts for ${acts.positions} positions; expected one a position`,
    );
  if (acts.positions < 3)
    throw new Error(
      `${where}: ${acts.positions} positions; expected at least 3 (are there successful counts at all?)`,
    );
  for (let i = 0; i < counts.length; i++)
    if (!Number.isFinite(counts[i]))
      throw new Error(`${where}: count ${counts[i]} at position ${i}; expected finite numbers`);
  if (Array.from(counts).every((count) => count === counts[0]))
    throw new Error(`${where}: every count is ${counts[0]}; expected different ones`);
}
