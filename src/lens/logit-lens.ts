/**
 * Logit lens: what the model would answer if its residual stream after a layer were read out directly, through the last
 * normalisation and the unembedding (`readout`).
 */
import { residPost } from "../engine/hooks.js";
import type { Positions, RunOptions } from "../engine/request.js";
import { type Model, requireHook } from "../model/model.js";
import type { Prompt } from "../model/prompt.js";
import { readoutRequest } from "./readout.js";

/** Layers, positions and target of a logit lens. */
export interface LogitLensOptions extends RunOptions {
  /** Default: all layers. */
  readonly layers?: readonly number[];
  /** Positions of the prompt. Default: all. */
  readonly positions?: Positions;
  /** A token whose probability, logit and rank are wanted at every cell, as text (one token of this model) or id. */
  readonly target?: string | number;
}

/** What one layer would answer at one position. */
export interface LogitLensCell {
  readonly layer: number;
  readonly position: number;
  /** The prompt's token at this position. */
  readonly token: string;
  /** The layer's most probable next token, and its probability. */
  readonly top: string;
  readonly topId: number;
  readonly probability: number;
  /** Only with a target: its logit, probability and rank (1 is the most probable). */
  readonly target?: { readonly logit: number; readonly probability: number; readonly rank: number };
}

/**
 * The lens at every layer and position: `layers x positions` cells, layers first.
 *
 * Weakness: the last normalisation was trained on the last layer's output only, so early layers may be read wrongly
 * though the information is there; a probe (count probe) finds more.
 *
 * @throws when the target is not one token of this model, or a layer is out of range
 */
export async function logitLens(
  model: Model,
  prompt: Prompt,
  options: LogitLensOptions = {},
): Promise<LogitLensCell[]> {
  const { layers = Array.from({ length: model.info.layers }, (_, layer) => layer), positions = "all" } =
    options;
  for (const layer of layers) requireHook(model, residPost(layer), "logitLens");
  const target = options.target === undefined ? undefined : await targetToken(model, options.target);
  const run: RunOptions = {
    ...(options.signal && { signal: options.signal }),
    ...(options.onProgress && { onProgress: options.onProgress }),
  };

  const captures = layers.map((layer) => ({ hook: residPost(layer), positions }));
  const captured = (await model.evaluate([{ tokens: prompt.tokens, captures }], run)).results[0]!.captures;
  const rows = captured.flatMap(({ data, width, positions: at }, i) =>
    Array.from(at, (position, row) => ({
      layer: layers[i]!,
      position,
      values: data.subarray(row * width, (row + 1) * width),
    })),
  );
  const requests = rows.map(({ values }) =>
    readoutRequest(model, prompt.tokens[0]!, values, {
      top: 1,
      logSumExp: true,
      ...(target === undefined ? {} : { tokens: [target], full: true }),
    }),
  );
  const cells: LogitLensCell[] = [];
  const tops: number[] = [];
  // Ranks need whole rows of logits, so the cells come in groups.
  for await (const { index, result } of model.stream(requests, run)) {
    const { topIds, topLogits, logSumExp, tokenLogits, full } = result.logits!;
    const { layer, position } = rows[index]!;
    tops.push(topIds[0]!);
    cells.push({
      layer,
      position,
      token: prompt.pieces[position]!,
      top: "",
      topId: topIds[0]!,
      probability: Math.exp(topLogits[0]! - logSumExp![0]!),
      ...(target === undefined
        ? {}
        : {
            target: {
              logit: tokenLogits![0]!,
              probability: Math.exp(tokenLogits![0]! - logSumExp![0]!),
              rank: 1 + full!.reduce((above, logit) => above + (logit > tokenLogits![0]! ? 1 : 0), 0),
            },
          }),
    });
  }
  const texts = await model.engine.pieces(tops);
  return cells.map((cell, i) => ({ ...cell, top: texts[i]! }));
}

async function targetToken(model: Model, target: string | number): Promise<number> {
  if (typeof target === "number") return target;
  const [tokens] = await model.engine.tokenize([target], true);
  if (tokens!.length === 1) return tokens![0]!;
  const pieces = await model.engine.pieces(tokens!);
  throw new Error(
    `logitLens: target ${JSON.stringify(target)} is ${tokens!.length} tokens here (${pieces.map((piece) => JSON.stringify(piece)).join(", ")}); ` +
      "expected one; pick one of them",
  );
}
