import { betaQuantile, normalQuantile } from "./quantiles.js";

/** An estimate with its interval, level and method. */
export interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
  /** Share of repetitions in which such an interval holds the true value, e.g. 0.95. */
  readonly level: number;
  readonly method: string;
}

/**
 * Wilson's score interval of a share: `successes` of `trials`.
 *
 * Near-nominal on average for few trials and near 0 or 1, where estimate +- 2 SE fails; for single true values it can
 * cover less than `level` (default 0.95). Trials are taken as independent.
 */
export function wilson(successes: number, trials: number, level = 0.95): Interval {
  check("wilson", successes, trials, level);
  const z = normalQuantile((1 + level) / 2);
  const share = successes / trials;
  const shrink = 1 + (z * z) / trials;
  const middle = (share + (z * z) / (2 * trials)) / shrink;
  const half = (z / shrink) * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials));
  const low = successes === 0 ? 0 : middle - half;
  const high = successes === trials ? 1 : middle + half;
  return { estimate: share, low, high, level, method: "Wilson" };
}

/** Clopper and Pearson's exact interval of a share: never covers less than `level` (default 0.95), hence wide. */
export function clopperPearson(successes: number, trials: number, level = 0.95): Interval {
  check("clopperPearson", successes, trials, level);
  const beyond = (1 - level) / 2;
  const low = successes === 0 ? 0 : betaQuantile(beyond, successes, trials - successes + 1);
  const high = successes === trials ? 1 : betaQuantile(1 - beyond, successes + 1, trials - successes);
  return { estimate: successes / trials, low, high, level, method: "Clopper-Pearson" };
}

function check(what: string, successes: number, trials: number, level: number): void {
  if (
    !Number.isInteger(trials) ||
    trials < 1 ||
    !Number.isInteger(successes) ||
    successes < 0 ||
    successes > trials
  )
    throw new Error(
      `${what}: ${successes} of ${trials}; expected whole numbers, 0 <= successes <= trials, trials >= 1`,
    );
  if (!(level > 0 && level < 1))
    throw new Error(`${what}: level ${level}; expected 0 < level < 1, e.g. 0.95`);
}
