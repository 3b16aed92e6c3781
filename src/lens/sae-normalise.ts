/** What an SAE does to its input before encoding, and undoes after decoding: each position on its own. */
import type { Sae } from "./sae.js";

type Scaling = Pick<Sae, "width" | "normalisation" | "inputScale" | "centred" | "decoderBias">;

const EPSILON = 1e-5;

/** Rows as the encoder takes them: `[position, d_model]`, normalised, scaled, and less the decoder's bias where `centred`. */
export function inputRows(sae: Scaling, rows: Float32Array): Float32Array {
  const { width, centred, decoderBias } = sae;
  if (sae.normalisation === "none" && sae.inputScale === 1 && !centred) return rows;
  const out = new Float32Array(rows.length);
  for (let at = 0; at < rows.length; at += width) {
    const { shift, scale } = scalingOf(sae, rows.subarray(at, at + width));
    for (let i = 0; i < width; i++)
      out[at + i] = (rows[at + i]! - shift) * scale - (centred ? decoderBias[i]! : 0);
  }
  return out;
}

/** Writes a decoded row in the model's own units. `row` is the row that was encoded; needed where each has its own scale. */
export function outputRow(
  sae: Scaling,
  decoded: Float64Array,
  row: Float32Array | undefined,
  out: Float32Array,
): void {
  if (sae.normalisation === "layer_norm") {
    // As in SAELens: the epsilon of the way in is not undone.
    const { mean, deviation } = momentsOf(row!);
    for (let i = 0; i < out.length; i++) out[i] = (decoded[i]! / sae.inputScale) * deviation + mean;
    return;
  }
  const { scale } = scalingOf(sae, row ?? out);
  for (let i = 0; i < out.length; i++) out[i] = decoded[i]! / scale;
}

function scalingOf(
  { normalisation, inputScale, width }: Scaling,
  row: Float32Array,
): { shift: number; scale: number } {
  if (normalisation === "none") return { shift: 0, scale: inputScale };
  if (normalisation === "layer_norm") {
    const { mean, deviation } = momentsOf(row);
    return { shift: mean, scale: inputScale / (deviation + EPSILON) };
  }
  let squares = 0;
  for (const value of row) squares += value * value;
  // A row of zeros has no direction to scale.
  return {
    shift: 0,
    scale: squares === 0 ? inputScale : (inputScale * Math.sqrt(width)) / Math.sqrt(squares),
  };
}

function momentsOf(row: Float32Array): { mean: number; deviation: number } {
  let sum = 0;
  for (const value of row) sum += value;
  const mean = sum / row.length;
  let squares = 0;
  for (const value of row) squares += (value - mean) ** 2;
  return { mean, deviation: Math.sqrt(squares / (row.length - 1)) };
}
