/**
 * The count probe over layers: fitted where counting works, read where it does not, with everything a claim about it needs:
 * held-out R2 with an interval, the shuffled control, R2 with position taken out, the collapse and what extrapolating costs.
 *
 * Paper: second paper, section 3 and Figure 4b.
 */
import { hookName } from "../engine/hooks.js";
import type { RunOptions } from "../engine/request.js";
import { watched } from "../model/watched.js";
import type { CountObservations } from "./counting-activations.js";
import { type Collapse, type Extrapolation, extrapolation, probeCollapse } from "./probe-collapse.js";
import type { ProbeRows } from "./probe-direction.js";
import { fitProbe, type Probe, pickRows, readings } from "./probe-fit.js";
import { type Agreement, agreement, type HeldOut, type HeldOutOptions, heldOut } from "./probe-held-out.js";
import { type PositionPartial, positionPartial } from "./probe-position.js";

/** Layers and counts of the fit, and how it is held out. */
export interface CountProbeOptions extends HeldOutOptions, Pick<RunOptions, "signal" | "onProgress"> {
  /** Default: all layers that were captured. */
  readonly layers?: readonly number[];
  /** Fit on all counts up to this, right or wrong, for a model without a stable range. Default: the stable ones only. */
  readonly fitTo?: number;
  /** Fit on counts from the first to the second of these only, both included. Default: no bounds. */
  readonly range?: readonly [from: number, to: number];
  /** Length of the two stretches behind the extrapolation control, as a share of the range of the fit. Default 0.75. */
  readonly inner?: number;
}

/** The count a probe read in one row. */
export interface CountReading {
  readonly layer: number;
  readonly condition: number;
  readonly count: number;
  readonly position: number;
  readonly correct: boolean;
  /** Was the row among those of the fit? */
  readonly fitted: boolean;
  /** On the direction of the probe of all rows of the fit. */
  readonly projection: number;
  /** The count read: by a probe that has not seen this count where the row was fitted, else by the probe of all rows. */
  readonly read: number;
}

/** A probe of one layer, with what speaks for and against it. */
export interface CountProbeLayer {
  readonly layer: number;
  /** Name of the hook point. */
  readonly hook: string;
  readonly probe: Probe;
  readonly heldOut: HeldOut;
  /** Null where lists have no filler. */
  readonly partial: PositionPartial | null;
  /** Readings of counts above the fit, in the plain condition; null where there are none. */
  readonly beyond: Agreement | null;
  /** In the plain condition; null where there are no counts beyond, or fewer than 6. */
  readonly collapse: Collapse | null;
  readonly extrapolation: Extrapolation | null;
  readonly readings: readonly CountReading[];
}

/** Probes of all layers on the same rows. */
export interface CountProbe {
  readonly at: CountObservations["at"];
  /** Rows of the fit are those of successful counts, or of all up to `fitTo`. */
  readonly fittedOn: "stable counts" | "all counts up to fitTo";
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  readonly layers: readonly CountProbeLayer[];
}

/**
 * Fits and judges a probe at every layer.
 *
 * @throws when no counts are stable (nothing to fit), fewer than 4 are, or a layer was not captured
 * @example
 * const { final } = await countingActivations(model, { counts });
 * const { layers } = await countProbe(final);
 * layers.map(({ layer, heldOut }) => [layer, heldOut.r2]);
 */
export async function countProbe(
  observed: CountObservations,
  options: CountProbeOptions = {},
): Promise<CountProbe> {
  const { fitTo, range, inner = 0.75, onProgress: report, signal: given, layers: wanted, ...fit } = options;
  if (!(inner > 0 && inner < 1))
    throw new Error(`countProbe: inner ${inner}; expected a share between 0 and 1`);
  const captured = observed.layers.map(({ layer }) => layer);
  const missing = wanted?.find((layer) => !captured.includes(layer));
  if (missing !== undefined)
    throw new Error(`countProbe: layer ${missing} was not captured; there are ${captured.join(", ")}`);
  const [from, until] = range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const used = indices(observed, (i) => {
    const count = observed.counts[i]!;
    const may = fitTo === undefined ? observed.stable[i]! : count <= fitTo;
    return may && count >= from && count <= until;
  });
  const fitCounts = used.map((i) => observed.counts[i]!);
  const distinct = new Set(fitCounts).size;
  if (distinct < 4)
    throw new Error(
      `countProbe: ${distinct === 0 ? "all counts failed, nothing to fit" : `${distinct} counts below the first error`}; ` +
        "expected at least 4 that the model answers rightly; ask smaller counts, or fit on wrong answers too with fitTo",
    );
  const to = Math.max(...fitCounts);
  const chosen = observed.layers.filter(({ layer }) => wanted?.includes(layer) ?? true);
  const asked: RunOptions = { ...(given && { signal: given }), ...(report && { onProgress: report }) };
  const layers = await watched("probing", asked, async ({ signal, onProgress }) => {
    const found: CountProbeLayer[] = [];
    for (const one of chosen) {
      // A promise alone would let no interrupt in.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      found.push(probeLayer(observed, one, used, to, inner, fit));
      onProgress?.({ what: "probing", done: found.length, total: chosen.length, unit: "layers" });
    }
    return found;
  });
  return {
    at: observed.at,
    fittedOn: fitTo === undefined ? "stable counts" : "all counts up to fitTo",
    from: Math.min(...fitCounts),
    to,
    rows: used.length,
    layers,
  };
}

function probeLayer(
  observed: CountObservations,
  { layer, hook, rows }: CountObservations["layers"][number],
  used: readonly number[],
  to: number,
  inner: number,
  fit: HeldOutOptions,
): CountProbeLayer {
  const { counts, positions, conditions, correct } = observed;
  const fitRows = pickRows(rows, used);
  const fitCounts = used.map((i) => counts[i]!);
  const probe = fitProbe(fitRows, fitCounts, fit);
  const out = heldOut(fitRows, fitCounts, fit);
  const whole = readings(probe, rows);
  const read = Float64Array.from(whole);
  used.forEach((row, i) => {
    read[row] = out.read[i]!;
  });

  const fitted = new Set(used);
  const plain = indices(observed, (i) => conditions[i] === 0);
  const beyond = plain.filter((i) => counts[i]! > to);
  const plainCounts = plain.map((i) => counts[i]!);
  const plainRead = plain.map((i) => read[i]!);
  return {
    layer,
    hook: hookName(hook),
    probe,
    heldOut: out,
    partial: positionPartial(
      out.read,
      fitCounts,
      used.map((i) => positions[i]!),
    ),
    beyond: beyond.length < 2 ? null : agreement(read, counts, beyond),
    collapse:
      beyond.length < 2 || plain.length < 6
        ? null
        : probeCollapse(plainRead, plainCounts, Math.max(0.5, 3 * out.rmse)),
    extrapolation: stretches(rows, counts, used, plain, inner, fit),
    readings: indices(observed, () => true).map((i) => ({
      layer,
      condition: conditions[i]!,
      count: counts[i]!,
      position: positions[i]!,
      correct: correct[i]!,
      fitted: fitted.has(i),
      projection: probe.expected(whole[i]!),
      read: read[i]!,
    })),
  };
}

/** The lower and the upper stretch of the stable range, each with a probe of its own, followed beyond its end. */
function stretches(
  rows: ProbeRows,
  counts: Int32Array,
  used: readonly number[],
  plain: readonly number[],
  inner: number,
  fit: HeldOutOptions,
): Extrapolation | null {
  const fitted = used.map((i) => counts[i]!);
  const [lowest, stableTo] = [Math.min(...fitted), Math.max(...fitted)];
  const distance = Math.round((1 - inner) * (stableTo - lowest + 1));
  const plainRows = pickRows(rows, plain);
  const follow = (from: number, to: number): Float64Array | undefined => {
    const own = used.filter((i) => counts[i]! >= from && counts[i]! <= to);
    const ownCounts = own.map((i) => counts[i]!);
    if (new Set(ownCounts).size < 4) return undefined;
    return readings(fitProbe(pickRows(rows, own), ownCounts, fit), plainRows);
  };
  const lower = follow(lowest, stableTo - distance);
  const upper = follow(lowest + distance, stableTo);
  if (distance < 1 || lower === undefined || upper === undefined) return null;
  return extrapolation(
    lower,
    upper,
    plain.map((i) => counts[i]!),
    { stableTo, innerTo: stableTo - distance, seed: fit.seed ?? 1, resamples: fit.resamples ?? 1000 },
  );
}

function indices({ counts }: CountObservations, keep: (i: number) => boolean): number[] {
  return Array.from(counts, (_, i) => i).filter(keep);
}
