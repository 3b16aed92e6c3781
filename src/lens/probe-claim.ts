/**
 * What a count probe shows, said from its effect, interval and control, and never more: each part of the claim has a test that it
 * can fail.
 */
import { formatNumber } from "../figures/format-number.js";
import type { CountProbe, CountProbeLayer } from "./count-probe.js";

/** What a probe shows in one layer, and what it does not. */
export interface ProbeClaim {
  readonly layer: number;
  /** Held-out counts are read: the interval of R2 lies above 0 and above every shuffled control, with p of at most 0.05. */
  readonly reads: boolean;
  /** With position taken out, the count explains more than position does with the count taken out; null without filler. */
  readonly countNotPosition: boolean | null;
  /** Beyond the fit the line is left, at a point the data show; null where no counts lie beyond. */
  readonly fails: boolean | null;
  /**
   * It is left by more than extrapolating as far costs where counting works: the interval of the excess lies above 0, and the
   * error is at least half as large again (curves cost a little more at one end than at the other). Null where it cannot be told.
   */
  readonly atBoundary: boolean | null;
  /** All of it in a sentence or two. */
  readonly text: string;
}

const round = (value: number): string => formatNumber(value);
/** Change-points lie half-way between counts. */
const half = (value: number): string => String(Number(value.toFixed(1)));
const span = (low: number, high: number): string => `[${round(low)}, ${round(high)}]`;

/** The claim of one layer of a fit. `firstError`: the first count the model gets wrong, where it is known. */
export function probeClaim(
  fit: Pick<CountProbe, "to" | "at" | "fittedOn">,
  layer: CountProbeLayer,
  firstError: number | null = null,
): ProbeClaim {
  const { heldOut, partial, beyond, collapse, extrapolation } = layer;
  const { interval, control } = heldOut;
  const reads =
    interval.low > 0 && (control === null || (interval.low > control.highest && control.p <= 0.05));
  const countNotPosition = partial === null ? null : reads && partial.r2 > partial.position;
  const left =
    collapse !== null &&
    collapse.at !== null &&
    collapse.interval !== null &&
    collapse.verdict !== "undecided";
  const fails = beyond === null || collapse === null ? null : reads && left && beyond.r2 < interval.low;
  const atBoundary =
    fails === null || extrapolation === null
      ? null
      : fails && extrapolation.excess.low > 0 && extrapolation.beyond > 1.5 * extrapolation.within;

  const shuffled =
    control === null
      ? "no shuffled control"
      : `shuffled counts: at most ${round(control.highest)}, p = ${round(control.p)}`;
  const place = fit.at === "final" ? "the final token" : "the items";
  const said = [
    `Layer ${layer.layer}, ${place}: ${reads ? "counts" : "no count is read; counts"} to ${fit.to} held out, R² = ` +
      `${round(heldOut.r2)} ${span(interval.low, interval.high)} (${shuffled})`,
  ];
  if (partial !== null)
    said.push(
      `with position taken out ${round(partial.r2)} (position with the count taken out: ${round(partial.position)})`,
    );
  if (beyond === null) said.push("nothing asked beyond");
  else if (fails)
    said.push(
      `beyond, R² = ${round(beyond.r2)}, errors of ${round(beyond.meanAbsolute)} items; the line is left at ` +
        `${half(collapse!.at!)} [${collapse!.interval!.map(half).join(", ")}]`,
    );
  else said.push(`that the line is left beyond is not shown (R² there ${round(beyond.r2)})`);
  if (fails && firstError !== null) said.push(`first wrong answer at ${firstError}`);
  let text = `${said.join("; ")}.`;
  if (fit.fittedOn !== "stable counts") text += " Fitted on wrong answers too: there is no stable range.";
  if (fails && extrapolation !== null) {
    const { excess, distance, within, beyond: over } = extrapolation;
    const cost = `Extrapolating by ${distance} items costs ${round(within)} items where counting works and ${round(over)} over the boundary (excess ${round(excess.estimate)} ${span(excess.low, excess.high)})`;
    text += ` ${cost}${atBoundary ? "" : ": the failure beyond may be the line's own"}.`;
  }
  return { layer: layer.layer, reads, countNotPosition, fails, atBoundary, text };
}

/** The layer with the best held-out R2: chosen by it, so its R2 is a little too good where layers are many. */
export function bestLayer(fit: Pick<CountProbe, "layers">): CountProbeLayer {
  return fit.layers.reduce((a, b) => (b.heldOut.r2 > a.heldOut.r2 ? b : a));
}
