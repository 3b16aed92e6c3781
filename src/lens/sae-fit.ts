/**
 * Does an SAE belong to a model and hook point? The commonest mistakes (another layer, another model of the same width,
 * unscaled activations) raise no error anywhere: features fire, rankings come out, and mean nothing.
 */
import { type HookPoint, hookName } from "../engine/hooks.js";
import { type Model, requireHook } from "../model/model.js";
import type { Sae } from "./sae.js";
import { checkSaeRows, decodeSae, type SparseActivations } from "./sae-encode.js";

/** How well an autoencoder rebuilds these rows. */
export interface SaeFit {
  /** Share of the rows' variance that the reconstruction leaves: 0 is perfect, 1 no better than the mean row. */
  readonly unexplained: number;
  /** Mean cosine of a row and its reconstruction. */
  readonly cosine: number;
  /** Features above 0, mean over positions. */
  readonly l0: number;
  readonly positions: number;
  /** Why this SAE does not look like one of this hook point; absent where it does. */
  readonly warning?: string;
}

/** More than this is not what anybody publishes. Gemma Scope's leave 0.1 to 0.4. */
export const MOST_UNEXPLAINED = 0.5;

/**
 * The hook point to read: the one asked for, or the SAE's own. Width and layer must fit, or it is refused.
 *
 * @throws when the file names none and none is given, the model lacks it, or the widths differ
 */
export function saeHook(model: Model, sae: Sae, asked?: HookPoint): HookPoint {
  const hook = asked ?? sae.hook;
  if (hook === undefined)
    throw new Error(`saeHook: ${sae.name} does not say where it was trained; pass hook: residPost(layer)`);
  const width = requireHook(model, hook, `saeHook: ${sae.name}`);
  if (width !== sae.width)
    throw new Error(
      `saeHook: ${sae.name} takes activations of width ${sae.width}; ${hookName(hook)} of ${model.info.name} has ${width}; ` +
        `it is an SAE of another model${sae.trainedOn === undefined ? "" : ` (${sae.trainedOn})`}`,
    );
  return hook;
}

/**
 * How well the SAE rebuilds the rows `[position, d_model]` it was given as `acts`.
 *
 * With one position, or rows that are all the same, the variance is 0 and `unexplained` NaN; no warning then.
 */
export function saeFit(sae: Sae, rows: Float32Array, acts: SparseActivations, hook?: HookPoint): SaeFit {
  const positions = checkSaeRows("saeFit", sae, rows);
  if (acts.positions !== positions)
    throw new Error(`saeFit: ${acts.positions} encoded positions for ${positions} rows; expected the same`);
  const rebuilt = decodeSae(sae, acts, rows);
  const { width } = sae;
  const mean = new Float64Array(width);
  rows.forEach((value, at) => {
    mean[at % width]! += value / positions;
  });
  let [left, total, cosines] = [0, 0, 0];
  for (let at = 0; at < rows.length; at += width) {
    let [dot, own, other] = [0, 0, 0];
    for (let i = 0; i < width; i++) {
      const [x, y] = [rows[at + i]!, rebuilt[at + i]!];
      left += (x - y) ** 2;
      total += (x - mean[i]!) ** 2;
      dot += x * y;
      own += x * x;
      other += y * y;
    }
    cosines += own * other === 0 ? 0 : dot / Math.sqrt(own * other);
  }
  const unexplained = total === 0 ? Number.NaN : left / total;
  const fit = { unexplained, cosine: cosines / positions, l0: acts.ids.length / positions, positions };
  const warning = warningOf(sae, fit, hook);
  return warning === undefined ? fit : { ...fit, warning };
}

function warningOf(sae: Sae, { unexplained }: SaeFit, hook: HookPoint | undefined): string | undefined {
  const elsewhere =
    hook !== undefined && sae.hook !== undefined && hookName(hook) !== hookName(sae.hook)
      ? `it was trained at ${hookName(sae.hook)} and is read at ${hookName(hook)}`
      : undefined;
  const poor =
    unexplained > MOST_UNEXPLAINED
      ? `it leaves ${(100 * unexplained).toFixed(0)} % of the variance unexplained (expected at most ${100 * MOST_UNEXPLAINED} %): another model, another hook point, or another scale`
      : undefined;
  if (elsewhere === undefined && poor === undefined) return undefined;
  return `WARNING: ${sae.name} does not fit: ${[elsewhere, poor].filter((why) => why !== undefined).join("; ")}. Its features say nothing here.`;
}
