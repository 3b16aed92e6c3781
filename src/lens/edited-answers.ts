/**
 * What a model answers while its activations are changed: for many prompts and edits at once, the answer decoded greedily and how
 * far a given answer is from it.
 *
 * Every cell's given answer is forced in one evaluation, one forest for all of them. A cell in which every forced token is the model's own
 * choice is thereby decoded; the others are decoded token by token.
 */
import type { Edit, EvaluationStats, GenerateOptions, Mode } from "../engine/request.js";
import type { Model } from "../model/model.js";
import { parseCount } from "../tasks/parse-count.js";
import { forcedLogits, forcedMargin } from "./forced-margin.js";

/** A prompt, its edits, and the answer whose gap is wanted. */
export interface EditedCell {
  readonly tokens: Int32Array;
  readonly edits: readonly Edit[];
  /** The answer whose gap is wanted, as text that follows the prompt. */
  readonly answer: string;
}

/** What was answered under edits, and by how much. */
export interface EditedAnswer {
  readonly text: string;
  /** The last integer of the text; null without one. */
  readonly decoded: number | null;
  /** Smallest teacher-forced margin of the cell's `answer` in nats, with the end of the answer. */
  readonly gap: number;
  readonly gapWithoutEnd: number;
}

/** How the answers of edited prompts are decoded. */
export interface EditedAnswersOptions extends Pick<GenerateOptions, "signal" | "onProgress"> {
  /** Default `forest`; `alone` recomputes every prompt by itself, for comparison. */
  readonly mode?: Mode;
  /** Most tokens of an answer. Default 8. */
  readonly maxTokens?: number;
}

/** The answers of edited prompts, and what they cost. */
export interface EditedAnswers {
  /** In the order of the cells. */
  readonly answers: readonly EditedAnswer[];
  readonly stats: SweepStats;
}

/** What a sweep cost, forced and decoded together. */
export type SweepStats = Pick<EvaluationStats, "tokensAsked" | "tokensEvaluated" | "decodes" | "ms">;

/** Refuses what cannot be evaluated before anything runs (the engine's checks), an empty answer among it. No cells: no answers. */
export async function editedAnswers(
  model: Model,
  cells: readonly EditedCell[],
  options: EditedAnswersOptions = {},
): Promise<EditedAnswers> {
  const { maxTokens = 8, mode = "forest", signal, onProgress } = options;
  const run = { mode, ...(signal && { signal }), ...(onProgress && { onProgress }) };
  const { endTokens } = model.info;
  const answers = await tokensOf(model, new Set(cells.map(({ answer }) => answer)));
  const requests = cells.map(({ tokens, edits, answer }) => {
    const forced = answers.get(answer)!;
    return {
      tokens: Int32Array.of(...tokens, ...forced),
      edits: edits.map((edit) => overAnswer(edit, tokens.length, forced.length)),
      logits: forcedLogits(tokens.length, forced, endTokens),
    };
  });
  const forced = await model.evaluate(requests, run);
  const margins = cells.map(({ answer }, i) =>
    forcedMargin(forced.results[i]!.logits!, answers.get(answer)!, endTokens),
  );
  const texts = cells.map(({ answer }) => answer);
  const open = cells.flatMap(({ answer }, i) =>
    margins[i]!.gap > 0 && answers.get(answer)!.length < maxTokens ? [] : [i],
  );
  const asked = byPrompt(open, cells);
  const decoded = await model.generate(
    asked.map((i) => ({ tokens: cells[i]!.tokens, edits: cells[i]!.edits })),
    { ...run, maxTokens },
  );
  decoded.generations.forEach(({ text }, k) => {
    texts[asked[k]!] = text;
  });
  return {
    answers: cells.map((_, i) => ({
      text: texts[i]!,
      decoded: parseCount(texts[i]!).value,
      ...margins[i]!,
    })),
    stats: addStats([forced.stats, decoded.stats]),
  };
}

/** Cells of one prompt one after the other: what they share is then evaluated together. */
function byPrompt(open: readonly number[], cells: readonly EditedCell[]): number[] {
  const order = new Map<Int32Array, number>();
  for (const i of open) if (!order.has(cells[i]!.tokens)) order.set(cells[i]!.tokens, order.size);
  return [...open].sort((a, b) => order.get(cells[a]!.tokens)! - order.get(cells[b]!.tokens)!);
}

async function tokensOf(model: Model, texts: ReadonlySet<string>): Promise<Map<string, Int32Array>> {
  const list = [...texts];
  const tokens = await model.answerTokens(list);
  return new Map(list.map((text, i) => [text, tokens[i]!]));
}

/** An edit that stays on while generating is also on over the forced answer. */
function overAnswer(edit: Edit, promptLength: number, answerLength: number): Edit {
  const positions =
    edit.positions === "all"
      ? Array.from({ length: promptLength }, (_, i) => i)
      : edit.positions.map((position) => (position < 0 ? promptLength + position : position));
  if (edit.generated === true) for (let k = 0; k < answerLength; k++) positions.push(promptLength + k);
  return { ...edit, positions };
}

/** The cost of several parts together. */
export function addStats(parts: readonly EvaluationStats[]): SweepStats {
  const sum = (key: "tokensAsked" | "tokensEvaluated" | "decodes" | "ms") =>
    parts.reduce((total, part) => total + part[key], 0);
  return {
    tokensAsked: sum("tokensAsked"),
    tokensEvaluated: sum("tokensEvaluated"),
    decodes: sum("decodes"),
    ms: sum("ms"),
  };
}
