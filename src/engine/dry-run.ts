/** Which hook points a loaded model really has: a few tokens are evaluated and every candidate of the table is looked for. */
import { hooksFor, tensorsFor } from "./architectures.js";
import { type Core, decode } from "./core.js";
import type { HookPoint } from "./hooks.js";

export interface FoundHook {
  readonly hook: HookPoint;
  readonly width: number;
}

const TOKENS = 3;
const OUTPUTS = 2;

/** A candidate counts when exactly one F32 tensor of its name is computed, with a row for each token or each output. */
export function findHooks(core: Core): FoundHook[] {
  const { architecture, layers } = core.info;
  const candidates = hooksFor(architecture, layers).map((hook) => ({ hook, widths: [] as number[] }));
  const context = core.context(256, OUTPUTS);
  context.begin();
  const token = Math.max(0, core.model.bos);
  for (let i = 0; i < TOKENS; i++) context.add(token, i, 0, 1, [], i >= TOKENS - OUTPUTS);
  decode(
    core,
    context,
    candidates.map(({ hook, widths }) => ({
      tensors: tensorsFor(architecture, hook, layers),
      onTensor(tensor) {
        if (!tensor.readable) return;
        // Attention weights: a row has one weight for each key, so its width depends on the length.
        if (hook.kind === "attnPattern") return void (tensor.shape[1] === TOKENS && widths.push(0));
        const rows = tensor.elements % TOKENS === 0 ? TOKENS : OUTPUTS;
        widths.push(tensor.elements / rows);
      },
    })),
  );
  const found = candidates.filter(({ widths }) => widths.length === 1 && Number.isInteger(widths[0]));
  return found.map(({ hook, widths }) => ({ hook, width: rowWidth(hook, widths[0]!, core.info.width) }));
}

/**
 * Everything but the heads lives in the residual stream and is as wide as it; the division above cannot tell 3 rows of
 * w from 2 rows of 3w/2.
 */
function rowWidth(hook: HookPoint, measured: number, residual: number): number {
  return hook.kind === "heads" || hook.kind === "attnPattern" ? measured : residual;
}
