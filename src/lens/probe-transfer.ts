/**
 * Is it one counter? Probes of one motif or length range on the rows of another (second paper, section 3: "the state is syntax
 * sensitive").
 */
import type { CountProbeLayer } from "./count-probe.js";
import type { CountObservations } from "./counting-activations.js";
import { dot, type ProbeRows } from "./probe-direction.js";
import { type Probe, pickRows, readings } from "./probe-fit.js";
import { agreement } from "./probe-held-out.js";

/** One motif's probe, with the rows it is tried on. */
export interface TransferSet {
  readonly name: string;
  readonly probe: Probe;
  /** Stable rows of this set, `[row, d_model]`. */
  readonly rows: ProbeRows;
  readonly counts: ArrayLike<number>;
  /** The counts read in its own rows by probes that had not seen them (`heldOut`), so that the diagonal is not too good. */
  readonly heldOut: ArrayLike<number>;
}

/** One motif's probe on another's rows. */
export interface Transfer {
  /** Whose probe, on whose rows. */
  readonly probe: string;
  readonly rows: string;
  /** Of the two directions. Two random directions have a root mean square of `chance`. */
  readonly cosine: number;
  readonly chance: number;
  /** R2 of the count read with the probe's own centre and line: negative where the other set has another offset or scale. */
  readonly r2: number;
  /** Squared correlation of the count read with the count: the best R2 after refitting offset and scale. */
  readonly correlation2: number;
}

/** A set from what `countProbe` found at a layer of these observations: its probe, the rows of its fit, and what it read in them. */
export function transferSet(name: string, observed: CountObservations, found: CountProbeLayer): TransferSet {
  const layer = observed.layers.find((one) => one.layer === found.layer);
  if (layer === undefined)
    throw new Error(
      `transferSet: layer ${found.layer} is not among those observed for ${JSON.stringify(name)}`,
    );
  const fitted = found.readings.flatMap((reading, i) => (reading.fitted ? [i] : []));
  return {
    name,
    probe: found.probe,
    rows: pickRows(layer.rows, fitted),
    counts: fitted.map((i) => observed.counts[i]!),
    heldOut: fitted.map((i) => found.readings[i]!.read),
  };
}

/** Every probe on every set's rows, its own included (held out there). All sets need the same width. */
export function probeTransfer(sets: readonly TransferSet[]): Transfer[] {
  if (sets.length < 2) throw new Error(`probeTransfer: ${sets.length} sets; expected at least 2`);
  const width = sets[0]!.probe.width;
  for (const { name, probe, rows } of sets)
    if (probe.width !== width || rows.width !== width)
      throw new Error(
        `probeTransfer: set ${JSON.stringify(name)} has width ${probe.width} and rows of ${rows.width}; expected ${width}, as the first`,
      );
  return sets.flatMap((from) =>
    sets.map((on) => {
      const read = from === on ? on.heldOut : readings(from.probe, on.rows);
      const { r2, correlation2 } = agreement(read, on.counts);
      return {
        probe: from.name,
        rows: on.name,
        cosine: dot(from.probe.direction, on.probe.direction),
        chance: 1 / Math.sqrt(width),
        r2,
        correlation2,
      };
    }),
  );
}
