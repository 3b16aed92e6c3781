/**
 * The right answer to counting prompts, teacher-forced: the margin of each of its tokens, and the end of the answer last. A count
 * whose margins are all positive is answered rightly by greedy decoding; only the others have to be decoded.
 */
import type { Capture, EvaluationStats, Request, Result, RunOptions } from "../engine/request.js";
import type { Model } from "../model/model.js";
import { marginFloor } from "../model/noise-floor.js";
import type { Prompt } from "../model/prompt.js";
import { parseCount } from "../tasks/parse-count.js";
import { forcedLogits, tokenMargins } from "./forced-margin.js";

/** A right answer, teacher-forced: what it leads at each of its tokens. */
export interface ForcedCount {
  readonly count: number;
  /** Tokens of the right answer. */
  readonly tokens: Int32Array;
  /**
   * `[k + 1]` logit of each of the k tokens less the largest other, given the right tokens before it; last, the best token that
   * ends the answer less the best that does not. In nats.
   */
  readonly margins: Float32Array;
  /** `[k + 1]` the strongest other token at each, and its text. */
  readonly competitorIds: Int32Array;
  readonly competitors: readonly string[];
  /** What the model writes, greedily. */
  readonly text: string;
  /** The last integer in it; null without one. */
  readonly said: number | null;
  readonly correct: boolean;
  /** Was it decoded, because a margin was not above the noise floor? */
  readonly decoded: boolean;
}

export interface ForcedOptions extends RunOptions {
  /** Most tokens of an answer that is decoded. Default 64. */
  readonly maxTokens?: number;
  /** Activations to read at positions of the prompt, by the prompt's index. */
  readonly captures?: (index: number) => readonly Capture[];
}

export interface ForcedAnswers {
  /** In the order of the prompts. */
  readonly answers: readonly ForcedCount[];
  readonly results: readonly Result[];
  /** Of the teacher-forced evaluation. */
  readonly stats: EvaluationStats;
}

/**
 * All prompts in one forest; those that a margin leaves open are then decoded (alone where it lies within the noise floor).
 *
 * @param counts the right answer to each prompt
 * @throws when a prompt with its answer does not fit the context
 */
export async function forcedAnswers(
  model: Model,
  prompts: readonly Prompt[],
  counts: readonly number[],
  options: ForcedOptions = {},
): Promise<ForcedAnswers> {
  const { maxTokens = 64, captures, ...run } = options;
  checkContext(model, prompts, maxTokens);
  const { endTokens } = model.info;
  if (endTokens.length === 0)
    throw new Error(`forcedAnswers: ${model.info.name} has no token that ends an answer`);
  const texts = [...new Set(counts.map(String))];
  const tokenized = await model.answerTokens(texts);
  const answerOf = new Map(texts.map((text, i) => [text, tokenized[i]!]));
  const requests = prompts.map(({ tokens }, i): Request => {
    const answer = answerOf.get(String(counts[i]))!;
    return {
      tokens: Int32Array.from([...tokens, ...answer]),
      logits: forcedLogits(tokens.length, answer, endTokens),
      ...(captures === undefined
        ? {}
        : { captures: captures(i).map((one) => fromPrompt(one, tokens.length)) }),
    };
  });
  const { results, stats } = await model.evaluate(requests, run);
  const read = results.map(({ logits }, i) => {
    const { margins, competitors } = tokenMargins(logits!, answerOf.get(String(counts[i]))!, endTokens);
    return { margins: Float32Array.from(margins), competitors: Int32Array.from(competitors) };
  });
  const pieces = new Map<number, string>();
  const distinct = [...new Set(read.flatMap(({ competitors }) => [...competitors]))];
  (await model.engine.pieces(distinct)).forEach((piece, i) => {
    pieces.set(distinct[i]!, piece);
  });

  const floor = await marginFloor(model, run);
  const least = read.map((one) => Math.min(...one.margins));
  const decoded = new Map<number, string>();
  for (const mode of ["forest", "alone"] as const) {
    const open = least.flatMap((margin, i) =>
      margin <= floor && (mode === "alone") === Math.abs(margin) <= floor ? [i] : [],
    );
    if (open.length === 0) continue;
    const { generations } = await model.generate(
      open.map((i) => ({ tokens: prompts[i]!.tokens })),
      { ...run, maxTokens, mode: run.mode ?? mode },
    );
    open.forEach((i, k) => {
      decoded.set(i, generations[k]!.text);
    });
  }
  const answers = read.map((one, i): ForcedCount => {
    const count = counts[i]!;
    const text = decoded.get(i) ?? String(count);
    const said = parseCount(text).value;
    return {
      count,
      tokens: answerOf.get(String(count))!,
      margins: one.margins,
      competitorIds: one.competitors,
      competitors: Array.from(one.competitors, (id) => pieces.get(id)!),
      text,
      said,
      correct: said === count,
      decoded: decoded.has(i),
    };
  });
  return { answers, results, stats };
}

/** Positions from the end are the prompt's, not those of prompt and answer. */
function fromPrompt(capture: Capture, length: number): Capture {
  if (capture.positions === "all")
    return { ...capture, positions: Array.from({ length }, (_, position) => position) };
  return { ...capture, positions: capture.positions.map((at) => (at < 0 ? length + at : at)) };
}

function checkContext(model: Model, prompts: readonly Prompt[], room: number): void {
  const longest = Math.max(...prompts.map(({ tokens }) => tokens.length));
  if (longest + room > model.info.context)
    throw new Error(
      `forcedAnswers: the longest prompt has ${longest} tokens and needs ${room} more for its answer; ` +
        `the context of ${model.info.name} is ${model.info.context}; ask smaller counts or shorter filler`,
    );
}
