/** Activations through an SAE and back, in blocks of bounded memory. */
import type { RunOptions } from "../engine/request.js";
import { CAPTURE_LIMIT, formatBytes } from "../engine/validate.js";
import { watched } from "../model/watched.js";
import { matrixProduct, PRODUCT_ROWS } from "./matrix-product.js";
import type { Sae } from "./sae.js";
import { inputRows, outputRow } from "./sae-normalise.js";

/** What fires where: only the features that are above 0, by position. */
export interface SparseActivations {
  readonly positions: number;
  readonly features: number;
  /** `[position + 1]`: entries of a position are `offsets[position]` to `offsets[position + 1]`, the end not included. */
  readonly offsets: Int32Array;
  /** `[entry]` feature ids, rising within a position. */
  readonly ids: Int32Array;
  /** `[entry]`, above 0. */
  readonly values: Float32Array;
}

/** How much may be kept of an encoding. */
export interface EncodeOptions extends Pick<RunOptions, "signal" | "onProgress"> {
  /** Most bytes of activations kept. Default 1 GB. */
  readonly limit?: number;
}

/** Dense pre-activations held at once, in numbers: 32 MB. */
const BLOCK_NUMBERS = 8e6;

/**
 * Feature activations of rows `[position, d_model]`, sparse. Computed in F32, with the bias and the threshold in F64; blocks
 * of at most 256 positions and 32 MB of pre-activations. 1,000 positions of width 640 through 16,384 features take two to
 * three seconds on one core.
 *
 * Rows of another length than the SAE's width, or that hold NaN or infinities, are refused before anything is computed; so
 * are activations so dense that they exceed `limit`, which is the mark of a wrong SAE.
 *
 * @example
 * const acts = await encodeSae(sae, capture.data);
 * featureColumn(acts, 17) // [position]
 */
export async function encodeSae(
  sae: Sae,
  rows: Float32Array,
  options: EncodeOptions = {},
): Promise<SparseActivations> {
  const positions = checkSaeRows("encodeSae", sae, rows);
  const most = Math.floor((options.limit ?? CAPTURE_LIMIT) / 8);
  const block = Math.max(1, Math.min(PRODUCT_ROWS, Math.floor(BLOCK_NUMBERS / sae.features)));
  return watched("encoding", options, async ({ signal, onProgress }) => {
    const product = matrixProduct(sae.encoder, sae.width, sae.features);
    const pre = new Float32Array(Math.min(block, positions) * sae.features);
    const offsets = new Int32Array(positions + 1);
    const kept = growing();
    for (let from = 0; from < positions; from += block) {
      signal?.throwIfAborted();
      const count = Math.min(block, positions - from);
      const input = inputRows(sae, rows.subarray(from * sae.width, (from + count) * sae.width));
      await product.multiply(input, count, pre, {
        ...(signal && { signal }),
        onColumns: (done) => report(from + (count * done) / sae.features),
      });
      for (let row = 0; row < count; row++) {
        activate(sae, pre.subarray(row * sae.features, (row + 1) * sae.features), kept);
        offsets[from + row + 1] = kept.length;
      }
      if (kept.length > most) {
        throw new Error(
          `encodeSae: ${kept.length} activations after ${from + count} of ${positions} positions (${Math.round(kept.length / (from + count))} a position) exceed ${formatBytes(8 * most)}; ` +
            "does this SAE belong to this hook point? Else encode fewer positions at once",
        );
      }
      report(from + count);
    }
    return { positions, features: sae.features, offsets, ids: kept.ids(), values: kept.values() };

    function report(done: number): void {
      onProgress?.({
        what: `encoding with ${sae.name}`,
        done: Math.floor(done),
        total: positions,
        unit: "positions",
      });
    }
  });
}

/** What the SAE makes of its activations: `[position, d_model]`, in the units of the model. */
export function decodeSae(sae: Sae, acts: SparseActivations, rows?: Float32Array): Float32Array {
  if (acts.features !== sae.features)
    throw new Error(
      `decodeSae: activations of ${acts.features} features; ${sae.name} has ${sae.features}; expected its own`,
    );
  if (sae.normalisation !== "none" && rows === undefined)
    throw new Error(`decodeSae: ${sae.name} normalises each position; expected the rows that were encoded`);
  const out = new Float32Array(acts.positions * sae.width);
  const sum = new Float64Array(sae.width);
  for (let position = 0; position < acts.positions; position++) {
    sum.set(sae.decoderBias);
    for (let entry = acts.offsets[position]!; entry < acts.offsets[position + 1]!; entry++) {
      const id = acts.ids[entry]!;
      const value = acts.values[entry]! / (sae.decoderNorms?.[id] ?? 1);
      const at = id * sae.width;
      for (let i = 0; i < sae.width; i++) sum[i]! += value * sae.decoder[at + i]!;
    }
    const at = position * sae.width;
    outputRow(sae, sum, rows?.subarray(at, at + sae.width), out.subarray(at, at + sae.width));
  }
  return out;
}

/** One feature at every position. */
export function featureColumn(acts: SparseActivations, feature: number): Float32Array {
  if (!Number.isInteger(feature) || feature < 0 || feature >= acts.features)
    throw new Error(`featureColumn: feature ${feature} out of range; expected 0..${acts.features - 1}`);
  const column = new Float32Array(acts.positions);
  for (let position = 0; position < acts.positions; position++) {
    for (let entry = acts.offsets[position]!; entry < acts.offsets[position + 1]!; entry++)
      if (acts.ids[entry] === feature) column[position] = acts.values[entry]!;
  }
  return column;
}

/** Some positions in the given order; one may be taken several times. */
export function pickPositions(acts: SparseActivations, positions: readonly number[]): SparseActivations {
  const offsets = new Int32Array(positions.length + 1);
  positions.forEach((position, i) => {
    if (!Number.isInteger(position) || position < 0 || position >= acts.positions)
      throw new Error(`pickPositions: position ${position} out of range; expected 0..${acts.positions - 1}`);
    offsets[i + 1] = offsets[i]! + acts.offsets[position + 1]! - acts.offsets[position]!;
  });
  const ids = new Int32Array(offsets.at(-1)!);
  const values = new Float32Array(ids.length);
  positions.forEach((position, i) => {
    const [from, to] = [acts.offsets[position]!, acts.offsets[position + 1]!];
    ids.set(acts.ids.subarray(from, to), offsets[i]!);
    values.set(acts.values.subarray(from, to), offsets[i]!);
  });
  return { positions: positions.length, features: acts.features, offsets, ids, values };
}

/** How many positions rows hold; throws for rows of another width or with numbers that are none. */
export function checkSaeRows(where: string, sae: Pick<Sae, "name" | "width">, rows: Float32Array): number {
  if (rows.length === 0 || rows.length % sae.width !== 0)
    throw new Error(
      `${where}: ${rows.length} numbers; ${sae.name} takes rows of width ${sae.width}; is it an SAE of this model and hook point?`,
    );
  const bad = rows.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0)
    throw new Error(
      `${where}: position ${Math.floor(bad / sae.width)} holds ${rows[bad]}; expected finite activations`,
    );
  return rows.length / sae.width;
}

interface Growing {
  readonly length: number;
  add(id: number, value: number): void;
  ids(): Int32Array;
  values(): Float32Array;
}

function activate(sae: Sae, pre: Float32Array, kept: Growing): void {
  const { encoderBias, threshold, decoderNorms, k } = sae;
  const level = (id: number) => (pre[id]! + encoderBias[id]!) * (decoderNorms?.[id] ?? 1);
  const cut = k === undefined ? undefined : topLevels(level, sae.features, k);
  for (let id = 0; id < sae.features; id++) {
    const value = level(id);
    if (!(value > 0)) continue;
    if (threshold !== undefined && !(value > threshold[id]!)) continue;
    if (cut !== undefined && (value < cut.least || (value === cut.least && cut.ties-- <= 0))) continue;
    kept.add(id, value);
  }
}

/** The k-th largest level, and how many features at exactly that level are among the k (the first ones are taken). */
function topLevels(
  level: (id: number) => number,
  features: number,
  k: number,
): { least: number; ties: number } {
  // A heap with the least of the k largest on top: most features are turned away by one comparison.
  const heap = new Float64Array(k).fill(Number.NEGATIVE_INFINITY);
  for (let id = 0; id < features; id++) {
    const value = level(id);
    if (value > heap[0]!) replaceLeast(heap, value);
  }
  const least = heap[0]!;
  let above = 0;
  for (const value of heap) if (value > least) above++;
  return { least, ties: k - above };
}

function replaceLeast(heap: Float64Array, value: number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= value) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = value;
}

function growing(): Growing {
  let ids = new Int32Array(4096);
  let values = new Float32Array(4096);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(id, value) {
      if (length === ids.length) {
        const [oldIds, oldValues] = [ids, values];
        ids = new Int32Array(2 * length);
        values = new Float32Array(2 * length);
        ids.set(oldIds);
        values.set(oldValues);
      }
      ids[length] = id;
      values[length++] = value;
    },
    ids: () => ids.slice(0, length),
    values: () => values.slice(0, length),
  };
}
