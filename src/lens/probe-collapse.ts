/**
 * Where the projection leaves its line: the collapse of the count's coordinate (second paper, Figure 4b), with an interval.
 *
 * A line that ends where its fit ends proves nothing, since any curve does that. So two probes are fitted to stretches of the same
 * length, one at the lower and one at the upper end of the stable range, and both are followed equally far beyond their end: the
 * first into counts that the model still gets right (the control), the second over the boundary.
 */
import { bootstrap } from "../stats/bootstrap.js";
import { type ChangePoint, changePoint } from "../stats/change-point.js";
import type { Interval } from "../stats/proportion.js";

/** Where projections leave the line fitted to the stable counts. */
export interface Collapse {
  /** Half-way between the last count on the line and the first off it; null where there is no change to off the line. */
  readonly at: number | null;
  /** Profile-likelihood interval (95 %) of the step; null with `at`. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly verdict: ChangePoint["verdict"];
  /** Off the line: an error beyond this many items. */
  readonly tolerance: number;
  /** Share of the rows off the line before and after the step. */
  readonly before: number;
  readonly after: number;
}

/**
 * A step in whether the count read is off by more than `tolerance` items. Needs at least 6 rows at 4 counts.
 *
 * Weakness: a coordinate that bends away slowly is called off only where it has gone `tolerance` items; the point lies late by
 * that much over the slope of its departure. With `at` null the rows do not show that the line is left.
 */
export function probeCollapse(
  read: ArrayLike<number>,
  counts: ArrayLike<number>,
  tolerance: number,
): Collapse {
  if (!(tolerance > 0 && Number.isFinite(tolerance)))
    throw new Error(`probeCollapse: tolerance ${tolerance} items; expected a number above 0`);
  const off = Array.from(counts, (count, i) => Number(Math.abs(read[i]! - count) > tolerance));
  const found = changePoint(counts, off, { family: "bernoulli" });
  const { verdict, step } = found;
  // A change for the better is no collapse.
  const collapses = verdict !== "none" && step.after > step.before;
  return {
    at: collapses ? step.middle : null,
    interval: collapses ? step.interval : null,
    verdict,
    tolerance,
    before: step.before,
    after: step.after,
  };
}

/** Ranges of the two probes that are compared. */
export interface ExtrapolationOptions {
  /** Largest count of the stable range. */
  readonly stableTo: number;
  /** Largest count the lower probe was fitted on. */
  readonly innerTo: number;
  /** Default 1. */
  readonly seed?: number;
  /** Default 1,000. */
  readonly resamples?: number;
}

/** Whether readings beyond the stable range are worse than equally far beyond a shorter one. */
export interface Extrapolation {
  /** Items beyond the end of its own fit to which each of the two probes is followed. */
  readonly distance: number;
  /** Mean absolute error in items of the lower probe over `(innerTo, stableTo]`: what extrapolating costs while counting works. */
  readonly within: number;
  /** That of the upper probe, as far beyond `stableTo`. */
  readonly beyond: number;
  /** beyond - within, bootstrap over whole counts. Above 0: more is lost at the boundary than extrapolating costs. */
  readonly excess: Interval;
}

/**
 * Extrapolation by the same distance, inside the stable range and out of it. Null where no more than two counts lie in either
 * stretch.
 *
 * Weakness: of a coordinate whose curvature itself grows with the count, the upper stretch costs more without any boundary.
 *
 * @param lower counts read by the probe fitted up to `innerTo`, `[row]`
 * @param upper counts read by the probe fitted up to `stableTo`, on as long a stretch, `[row]`
 */
export function extrapolation(
  lower: ArrayLike<number>,
  upper: ArrayLike<number>,
  counts: ArrayLike<number>,
  options: ExtrapolationOptions,
): Extrapolation | null {
  const { stableTo, innerTo, seed = 1, resamples = 1000 } = options;
  if (!(innerTo < stableTo))
    throw new Error(`extrapolation: innerTo ${innerTo}, stableTo ${stableTo}; expected innerTo < stableTo`);
  const distance = stableTo - innerTo;
  const stretch = (above: number, upTo: number): number[] =>
    Array.from(counts, (count, i) => (count > above && count <= upTo ? i : -1)).filter((i) => i >= 0);
  const control = stretch(innerTo, stableTo);
  const tested = stretch(stableTo, stableTo + distance);
  const distinct = (rows: readonly number[]): number => new Set(rows.map((i) => counts[i]!)).size;
  if (distinct(control) < 3 || distinct(tested) < 3) return null;
  const error = new Map<number, number>();
  for (const i of control) error.set(i, Math.abs(lower[i]! - counts[i]!));
  for (const i of tested) error.set(i, Math.abs(upper[i]! - counts[i]!));
  const rows = [...control, ...tested];
  const mean = (of: readonly number[]): number => of.reduce((sum, i) => sum + error.get(i)!, 0) / of.length;
  const excess = bootstrap(
    rows.length,
    (drawn) => {
      const drawnRows = drawn.map((k) => rows[k]!);
      const isBeyond = (i: number): boolean => counts[i]! > stableTo;
      return mean(drawnRows.filter(isBeyond)) - mean(drawnRows.filter((i) => !isBeyond(i)));
    },
    { seed, resamples, clusters: rows.map((i) => counts[i]!) },
  );
  return { distance, within: mean(control), beyond: mean(tested), excess };
}
