/** One tier of the ladder: which counts are asked, and what the answers amount to. */
import { type RandomKey, random } from "../stats/random.js";

/**
 * `trials` targets around `length`: y ~ U((1 - spread) length, (1 + spread) length), rounded (halves up). Trial k of a tier
 * draws from a stream of its own, so it is the same whichever tiers came before. Targets repeat: trials are told apart by k.
 */
export function tierTargets(
  length: number,
  options: { trials: number; spread: number; seed: RandomKey },
): number[] {
  const { trials, spread, seed } = options;
  return Array.from({ length: trials }, (_, k) =>
    Math.round(random(seed, "targets", length, k).uniform((1 - spread) * length, (1 + spread) * length)),
  );
}

/** Score of a tier: nMAE decides, exactness and sign stand beside it. */
export interface TierScore {
  /** nMAE = mean |prediction - target| / length. An answer without an integer counts as an error of `length` (our rule). */
  readonly nMAE: number;
  readonly stable: boolean;
  /** Share of trials that are exactly right. nMAE is not exactness: Gaussian noise of 6 % of the length has an nMAE of 0.048. */
  readonly exact: number;
  /** Mean of (prediction - target) / length over the answers with an integer: the bias. NaN with none. */
  readonly bias: number;
  /** Answers without an integer. One alone adds 1/K to nMAE: at K = 16, 0.0625, which fails the tier. */
  readonly missing: number;
  /** nMAE over the answers with an integer alone; NaN with none. */
  readonly nMAEParsed: number;
  /** Would the tier be stable if answers without an integer were left out? False with none left. */
  readonly stableParsed: boolean;
}

/** Scores a tier. Stable means nMAE **below** the threshold; equal to it is not. Refuses lists of different or no length. */
export function scoreTier(
  length: number,
  targets: readonly number[],
  predictions: readonly (number | null)[],
  threshold: number,
): TierScore {
  if (targets.length === 0 || targets.length !== predictions.length)
    throw new Error(
      `scoreTier: ${targets.length} targets and ${predictions.length} predictions; expected as many, at least 1`,
    );
  let missing = 0;
  let exact = 0;
  let signed = 0;
  let absolute = 0;
  for (const [k, target] of targets.entries()) {
    const prediction = predictions[k] ?? null;
    if (prediction === null) {
      missing += 1;
      continue;
    }
    if (prediction === target) exact += 1;
    signed += prediction - target;
    absolute += Math.abs(prediction - target);
  }
  const trials = targets.length;
  const parsed = trials - missing;
  // One division of whole numbers: exactly the threshold is then recognised as such.
  const nMAE = (absolute + missing * length) / (trials * length);
  const nMAEParsed = absolute / (parsed * length);
  return {
    nMAE,
    stable: nMAE < threshold,
    exact: exact / trials,
    bias: signed / (parsed * length),
    missing,
    nMAEParsed,
    stableParsed: nMAEParsed < threshold,
  };
}
