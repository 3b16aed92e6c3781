/**
 * Reading a row of the residual stream out as the model itself would: the row is put in place of the last layer's output of a
 * sequence of one token, and llama.cpp's own final layers do the rest, with the model's own quantisation and softcapping.
 */
import { residPost } from "../engine/hooks.js";
import type { LogitsWanted, Request } from "../engine/request.js";
import type { Model } from "../model/model.js";

/** One request a row; `row` has d_model values. Any token will do to stand under it. */
export function readoutRequest(
  model: Model,
  token: number,
  row: Float32Array,
  logits: Omit<LogitsWanted, "positions">,
): Request {
  const last = residPost(model.info.layers - 1);
  return {
    tokens: Int32Array.of(token),
    edits: [{ hook: last, positions: [0], op: { type: "replace", rows: row } }],
    logits: { ...logits, positions: [0] },
  };
}
