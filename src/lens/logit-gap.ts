/**
 * Logit gap: how much a model prefers the right count, teacher-forced (second paper, section 3 and Figure 4c).
 */
import type { EvaluationStats, RunOptions } from "../engine/request.js";
import type { Model } from "../model/model.js";
import { type CountingOptions, countingPrompt } from "../tasks/counting.js";
import { type ForcedCount, forcedAnswers } from "./forced-answers.js";
import { checkCounts, type StableCounts, stableCounts } from "./stable-counts.js";

export interface LogitGapOptions extends RunOptions {
  /** Whole numbers from 1, each once. Default 1 to 64. */
  readonly counts?: readonly number[];
  /** Item, delimiter, instruction and its place, filler. */
  readonly prompt?: CountingOptions;
  /** Of an answer that has to be decoded. Default 64. */
  readonly maxTokens?: number;
}

/** The smallest margin of an answer, and the token it is smallest against. */
export interface Gap {
  /** Smallest margin of the right answer over its tokens, in nats. Below 0 the model prefers another answer. */
  readonly gap: number;
  /** Text of the token it is smallest against, and where: index of the answer's token, k for the end. */
  readonly competitor: string;
  readonly at: number;
}

/** The gap of one count, with and without the end of the answer. */
export interface CountGap extends ForcedCount {
  /** The end of the answer included. */
  readonly withEnd: Gap;
  /** The digits alone: 4 against 40 never turns negative here. */
  readonly withoutEnd: Gap;
}

export interface LogitGaps extends StableCounts {
  readonly model: string;
  /** By rising count. */
  readonly gaps: readonly CountGap[];
  /** Smallest count whose gap with the end is negative; null if there is none. */
  readonly firstNegative: number | null;
  readonly stats: EvaluationStats;
}

/**
 * The gap at every count, in one forest.
 *
 * A gap above 0 with the end means that greedy decoding gives exactly the right number and stops. Below 0 it need not be wrong: an
 * answer in other words ("There are 7 items") has a negative gap and may be read rightly; `correct` says what was read.
 *
 * @example
 * const { gaps, firstNegative, firstError } = await logitGap(model, { counts });
 */
export async function logitGap(model: Model, options: LogitGapOptions = {}): Promise<LogitGaps> {
  const { prompt, counts: asked = Array.from({ length: 64 }, (_, i) => i + 1), ...run } = options;
  const counts = checkCounts("logitGap", asked);
  const prompts = await model.prompts(counts.map((count) => countingPrompt(count, prompt)));
  const { answers, stats } = await forcedAnswers(model, prompts, counts, run);
  const gaps = answers.map((answer): CountGap => {
    const end = answer.tokens.length;
    return { ...answer, withEnd: smallest(answer, end + 1), withoutEnd: smallest(answer, end) };
  });
  return {
    model: model.info.name,
    gaps,
    firstNegative: gaps.find(({ withEnd }) => withEnd.gap < 0)?.count ?? null,
    ...stableCounts(
      counts,
      answers.map(({ correct }) => correct),
    ),
    stats,
  };
}

function smallest({ margins, competitors }: ForcedCount, tokens: number): Gap {
  let at = 0;
  for (let i = 1; i < tokens; i++) if (margins[i]! < margins[at]!) at = i;
  return { gap: margins[at]!, competitor: competitors[at]!, at };
}
