/**
 * At which layer a wrong answer overtakes the right one: both read out of the residual stream layer by layer (logit lens), at the
 * position where the two answers part.
 */
import { residPost } from "../engine/hooks.js";
import type { RunOptions } from "../engine/request.js";
import type { Model } from "../model/model.js";
import { type CountingOptions, countingPrompt } from "../tasks/counting.js";
import { readoutRequest } from "./readout.js";
import { checkCounts } from "./stable-counts.js";

/** A count, and the other answer it is held against. */
export interface OvertakingCase {
  /** The right count. */
  readonly count: number;
  /** The other answer: what the model says, or an attractor to compare with. */
  readonly against: number;
}

export interface OvertakingOptions extends RunOptions {
  readonly prompt?: CountingOptions;
}

/** Layer by layer, the right answer against the other one. */
export interface Overtaking extends OvertakingCase {
  /** Tokens the two answers share before they part; the right ones are forced up to there. */
  readonly shared: number;
  /** Texts of the two tokens where they part; the end of the answer is one where one number begins with the other. */
  readonly right: string;
  readonly wrong: string;
  /** `[layer]` logit of the right token less that of the other, read out after each layer. */
  readonly gaps: Float32Array;
  /** First layer from which the wrong token stays ahead to the end; null where the right one is ahead at the last layer. */
  readonly from: number | null;
}

/**
 * The two answers' readout over layers, for many cases in one forest.
 *
 * Weakness: as the logit lens, early layers may be read wrongly; and the right token may be behind at first though nothing has
 * been decided yet. Compare failed counts with successful ones against the same number.
 *
 * @throws on a case whose two numbers are the same, or a count that is no whole number from 1
 */
export async function overtaking(
  model: Model,
  cases: readonly OvertakingCase[],
  options: OvertakingOptions = {},
): Promise<Overtaking[]> {
  const { prompt, ...run } = options;
  if (cases.length === 0) return [];
  for (const { count, against } of cases) {
    checkCounts("overtaking", [count]);
    if (!Number.isSafeInteger(against) || against < 0 || against === count)
      throw new Error(`overtaking: ${count} against ${against}; expected another whole number from 0`);
  }
  const texts = [...new Set(cases.flatMap(({ count, against }) => [String(count), String(against)]))];
  const tokenized = await model.answerTokens(texts);
  const tokensOf = new Map(texts.map((text, i) => [text, tokenized[i]!]));
  const { eot, eos, layers } = model.info;
  const end = eot >= 0 ? eot : eos;
  const prompts = await model.prompts(cases.map(({ count }) => countingPrompt(count, prompt)));
  const parted = cases.map(({ count, against }) => {
    const right = tokensOf.get(String(count))!;
    const wrong = tokensOf.get(String(against))!;
    let shared = 0;
    while (shared < right.length && right[shared] === wrong[shared]) shared++;
    return { shared, prefix: right.subarray(0, shared), ids: [right[shared] ?? end, wrong[shared] ?? end] };
  });
  const everyLayer = Array.from({ length: layers }, (_, layer) => layer);
  const { results } = await model.evaluate(
    prompts.map(({ tokens }, i) => ({
      tokens: Int32Array.from([...tokens, ...parted[i]!.prefix]),
      captures: everyLayer.map((layer) => ({ hook: residPost(layer), positions: [-1] })),
    })),
    run,
  );
  const readouts = await model.evaluate(
    results.flatMap(({ captures }, i) =>
      captures.map(({ data }) =>
        readoutRequest(model, prompts[i]!.tokens[0]!, data, { top: 1, tokens: parted[i]!.ids }),
      ),
    ),
    run,
  );
  const pieces = await model.engine.pieces(parted.flatMap(({ ids }) => ids));
  return cases.map(({ count, against }, i) => {
    const gaps = Float32Array.from(everyLayer, (layer) => {
      const { tokenLogits } = readouts.results[i * layers + layer]!.logits!;
      return tokenLogits![0]! - tokenLogits![1]!;
    });
    let from = layers;
    while (from > 0 && gaps[from - 1]! < 0) from--;
    return {
      count,
      against,
      shared: parted[i]!.shared,
      right: pieces[2 * i]!,
      wrong: pieces[2 * i + 1]!,
      gaps,
      from: from === layers ? null : from,
    };
  });
}
