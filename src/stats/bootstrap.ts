import { codes, type Numbers } from "./input.js";
import type { Interval } from "./proportion.js";
import { normalQuantile } from "./quantiles.js";
import { random } from "./random.js";
import { normalTail } from "./tails.js";

/** Seed, resamples, level and method of a bootstrap. */
export interface BootstrapOptions {
  /** Needed: the same seed gives the same interval. */
  readonly seed: number | string;
  /** Default 2,000. */
  readonly resamples?: number;
  /** Default 0.95. */
  readonly level?: number;
  /** Percentile, or bias-corrected and accelerated (needs one more evaluation for each unit). Default `percentile`. */
  readonly method?: "percentile" | "bca";
  /** Whole clusters are drawn instead of rows: one label a row. */
  readonly clusters?: ArrayLike<number | string>;
}

/** A statistic's bootstrap interval and standard error. */
export interface Bootstrap extends Interval {
  readonly seed: number | string;
  readonly resamples: number;
  /** Resamples in which the statistic was not a finite number; they are left out of the interval. */
  readonly failed: number;
  /** Standard deviation of the statistic over the resamples. */
  readonly se: number;
}

/**
 * Bootstrap interval of any statistic of `rows` rows: `statistic` receives the drawn row indices.
 *
 * Weakness: with few rows or clusters (below about 20) the interval is too narrow, and no bootstrap helps for an
 * extreme such as a maximum. Refuses a statistic that is not finite on the data themselves.
 *
 * @example bootstrap(x.length, (row) => mean(row.map((i) => x[i])), { seed: 1 })
 */
export function bootstrap(
  rows: number,
  statistic: (row: readonly number[]) => number,
  options: BootstrapOptions,
): Bootstrap {
  const { seed, resamples = 2000, level = 0.95, method = "percentile" } = options;
  if (rows < 2) throw new Error(`bootstrap: ${rows} rows; expected at least 2`);
  if (!(level > 0 && level < 1))
    throw new Error(`bootstrap: level ${level}; expected 0 < level < 1, e.g. 0.95`);
  const units = unitsOf(rows, options.clusters);
  const all = Array.from({ length: rows }, (_, i) => i);
  const estimate = statistic(all);
  if (!Number.isFinite(estimate))
    throw new Error(`bootstrap: the statistic of the data is ${estimate}; expected a finite number`);

  const source = random(seed, "bootstrap");
  const drawn: number[] = [];
  let failed = 0;
  for (let i = 0; i < resamples; i += 1) {
    const row: number[] = [];
    for (let j = 0; j < units.length; j += 1)
      for (const member of units[source.integer(0, units.length - 1)] as readonly number[]) row.push(member);
    const value = statistic(row);
    if (Number.isFinite(value)) drawn.push(value);
    else failed += 1;
  }
  if (drawn.length < 2)
    throw new Error(`bootstrap: the statistic failed in ${failed} of ${resamples} resamples`);
  drawn.sort((a, b) => a - b);

  const beyond = (1 - level) / 2;
  const [from, to] =
    method === "bca" ? accelerated(drawn, estimate, units, all, statistic, beyond) : [beyond, 1 - beyond];
  const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
  const squares = drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    estimate,
    low: quantile(drawn, from),
    high: quantile(drawn, to),
    level,
    method: `bootstrap, ${method}${options.clusters ? `, ${units.length} clusters` : ""}`,
    seed,
    resamples,
    failed,
    se: Math.sqrt(squares / (drawn.length - 1)),
  };
}

function unitsOf(
  rows: number,
  clusters: ArrayLike<number | string> | undefined,
): readonly (readonly number[])[] {
  if (!clusters) return Array.from({ length: rows }, (_, i) => [i]);
  if (clusters.length !== rows)
    throw new Error(`bootstrap: ${clusters.length} cluster labels for ${rows} rows; expected one a row`);
  const { code, count } = codes(clusters);
  if (count < 2) throw new Error("bootstrap: one cluster; expected at least 2");
  const units: number[][] = Array.from({ length: count }, () => []);
  code.forEach((cluster, i) => {
    units[cluster]?.push(i);
  });
  return units;
}

/** Levels of the BCa interval: bias from the share of resamples below the estimate, acceleration from the jackknife. */
function accelerated(
  drawn: readonly number[],
  estimate: number,
  units: readonly (readonly number[])[],
  all: readonly number[],
  statistic: (row: readonly number[]) => number,
  beyond: number,
): [number, number] {
  const below =
    drawn.filter((value) => value < estimate).length + drawn.filter((v) => v === estimate).length / 2;
  const share = Math.min(Math.max(below, 0.5), drawn.length - 0.5) / drawn.length;
  const bias = normalQuantile(share);
  const left = units.map((unit) => {
    const out = new Set(unit);
    return statistic(all.filter((i) => !out.has(i)));
  });
  const mean = left.reduce((sum, value) => sum + value, 0) / left.length;
  const cubes = left.reduce((sum, value) => sum + (mean - value) ** 3, 0);
  const squares = left.reduce((sum, value) => sum + (mean - value) ** 2, 0);
  const acceleration = squares > 0 ? cubes / (6 * squares ** 1.5) : 0;
  const at = (p: number) => {
    const z = bias + normalQuantile(p);
    return normalTail(bias + z / (1 - acceleration * z), "lower").p;
  };
  return [at(beyond), at(1 - beyond)];
}

/** Quantile by linear interpolation between order statistics (R's type 7). `sorted` ascending. */
export function quantile(sorted: Numbers, p: number): number {
  const position = p * (sorted.length - 1);
  const low = Math.floor(position);
  const high = Math.min(low + 1, sorted.length - 1);
  const from = sorted[low] as number;
  return from + (position - low) * ((sorted[high] as number) - from);
}
