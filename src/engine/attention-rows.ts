/**
 * Attention weights: read and changed for requests that run alone, from an empty cache.
 *
 * The columns of the tensor are KV cells, not positions. In a shared cache the two differ from request to request; alone
 * and from an empty cache, cell i holds position i.
 */
import { tensorsFor } from "./architectures.js";
import type { EngineInfo } from "./engine.js";
import { hookName } from "./hooks.js";
import type { EditOp } from "./request.js";
import type { Tensor, Watch } from "./tap.js";
import type { PlacedRequest } from "./validate.js";

type Knockout = Extract<EditOp, { type: "knockout" }>;

/** What the tap must look at while positions [start, end) of the request are decoded. `target(capture)`: where rows go. */
export function patternWatches(
  info: EngineInfo,
  request: PlacedRequest,
  start: number,
  end: number,
  target: (capture: number) => Float32Array,
): Watch[] {
  const watches: Watch[] = [];
  const inChunk = (position: number) => position >= start && position < end;
  request.edits.forEach(({ edit, positions }) => {
    if (edit.op.type !== "knockout" || !positions.some(inChunk)) return;
    const op = edit.op;
    watches.push({
      tensors: tensorsFor(info.architecture, edit.hook, info.layers),
      onTensor(tensor) {
        for (const position of positions) {
          if (inChunk(position)) knockOut(tensor, op, position - start, end - start, request.tokens.length);
        }
      },
    });
  });
  request.captures.forEach(({ hook, positions, width }, c) => {
    if (hook.kind !== "attnPattern" || !positions.some(inChunk)) return;
    const rows = target(c);
    watches.push({
      tensors: tensorsFor(info.architecture, hook, info.layers),
      onTensor(tensor) {
        const { keys, heads } = layout(tensor, end - start, hookName(hook));
        const length = request.tokens.length;
        for (let i = 0; i < positions.length; i++) {
          if (!inChunk(positions[i]!)) continue;
          for (let head = 0; head < heads; head++) {
            const at = i * width + head * length;
            const from = (head * (end - start) + positions[i]! - start) * keys;
            tensor.read(rows.subarray(at, at + Math.min(length, keys)), from, Math.min(length, keys));
          }
        }
      },
    });
  });
  return watches;
}

/** Shape `[head, token of the batch, key]`: checked, because another layout would read nonsense. */
function layout(tensor: Tensor, tokens: number, what: string): { keys: number; heads: number } {
  const [keys, rows, heads, streams] = tensor.shape;
  if (!tensor.readable || rows !== tokens || streams !== 1) {
    throw new Error(`engine: ${what} is ${tensor.shape.join(" x ")}; expected keys x ${tokens} x heads x 1`);
  }
  return { keys, heads };
}

function knockOut(tensor: Tensor, op: Knockout, row: number, tokens: number, length: number): void {
  const { keys, heads } = layout(tensor, tokens, "attnPattern");
  const weights = new Float32Array(keys);
  for (let head = 0; head < heads; head++) {
    if (op.heads !== undefined && !op.heads.includes(head)) continue;
    const from = (head * tokens + row) * keys;
    tensor.read(weights, from, keys);
    for (const key of op.keys) weights[key < 0 ? length + key : key] = 0;
    if (op.renormalize !== false) {
      let sum = 0;
      for (const weight of weights) sum += weight;
      if (sum > 0) for (let k = 0; k < keys; k++) weights[k] = weights[k]! / sum;
    }
    tensor.write(weights, from, keys);
  }
}
