/**
 * Activation patching: rows of a donor's run put in place of a recipient's, layer by layer and donor by donor, and what
 * the recipient then answers.
 *
 * One call for the whole sweep: what a cell shares with the recipient up to the first patched position is evaluated
 * once, so patching the last token recomputes one token a cell.
 */
import { type HookPoint, residPost } from "../engine/hooks.js";
import type { GenerateOptions, GenerationRequest } from "../engine/request.js";
import { type Model, requireHook } from "../model/model.js";
import type { Prompt } from "../model/prompt.js";

/** What is patched, and how the answers are decoded. */
export interface PatchSweepOptions extends Pick<GenerateOptions, "signal" | "onProgress" | "maxTokens"> {
  /** Default: all layers. */
  readonly layers?: readonly number[];
  /** Where in a block to patch. Default `residPost`. */
  readonly hook?: (layer: number) => HookPoint;
  /** Name of the span whose tokens are patched, in recipient and donors alike. Default `last`. */
  readonly span?: string;
}

/** What the recipient answered with one donor's rows at one layer. */
export interface PatchCell {
  readonly layer: number;
  /** Index into the donors. */
  readonly donor: number;
  /** The patched run's answer. */
  readonly text: string;
}

/**
 * `layers x donors` cells, layers first. A recipient among the donors is the control: it must answer as it does unpatched.
 *
 * @throws when a donor's span has another number of tokens than the recipient's, or a layer is out of range
 */
export async function patchSweep(
  model: Model,
  recipient: Prompt,
  donors: readonly Prompt[],
  options: PatchSweepOptions = {},
): Promise<PatchCell[]> {
  const { span = "last", hook = residPost, maxTokens = 16 } = options;
  const layers = options.layers ?? Array.from({ length: model.info.layers }, (_, layer) => layer);
  for (const layer of layers) requireHook(model, hook(layer), "patchSweep");
  const positions = spanOf(recipient, span, "the recipient");
  const run = {
    ...(options.signal && { signal: options.signal }),
    ...(options.onProgress && { onProgress: options.onProgress }),
  };
  const captured = await model.evaluate(
    donors.map((donor, d) => {
      const from = spanOf(donor, span, `donor ${d}`);
      if (from.length !== positions.length) {
        throw new Error(
          `patchSweep: donor ${d} has ${from.length} tokens in span ${span}, the recipient ${positions.length}; ` +
            "expected the same number; choose donors of the same length or another span",
        );
      }
      return {
        tokens: donor.tokens,
        captures: layers.map((layer) => ({ hook: hook(layer), positions: [...from] })),
      };
    }),
    run,
  );
  const cells = layers.flatMap((layer, l) =>
    donors.map((_, donor) => ({ layer, donor, rows: captured.results[donor]!.captures[l]!.data })),
  );
  const requests: GenerationRequest[] = cells.map(({ layer, rows }) => ({
    tokens: recipient.tokens,
    edits: [{ hook: hook(layer), positions: [...positions], op: { type: "replace", rows } }],
  }));
  const { generations } = await model.generate(requests, { ...run, maxTokens });
  return cells.map(({ layer, donor }, i) => ({ layer, donor, text: generations[i]!.text }));
}

function spanOf(prompt: Prompt, span: string, whose: string): Int32Array {
  const positions = prompt.spans[span];
  if (positions !== undefined && positions.length > 0) return positions;
  const named = Object.keys(prompt.spans).join(", ");
  throw new Error(`patchSweep: ${whose} has no span ${span}; it has ${named}`);
}
