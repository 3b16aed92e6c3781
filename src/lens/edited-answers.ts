/**
 * What a model answers while its activations are changed: for many prompts and edits at once, the answer decoded greedily and how
 * far a given answer is from it.
 *
 * Every cell's given answer is forced in one evaluation, one forest for all of them. A cell in which every forced token is the model's own
 * choice is thereby decoded; the others are decoded token by token.
 */
import type { Edit, EvaluationStats, GenerateOptions, Mode, Progress } from "../engine/request.js";
import type { Model } from "../model/model.js";
import { parseCount } from "../tasks/parse-count.js";
import { forcedLogits, forcedMargin } from "./forced-margin.js";

/**
 * Most tokens of a decoding group beyond its first prompt. On a model of 135M and one thread, items patched, a cell cost 97 ms at 190,
 * 136 at 380 and 176 at 760: attention over the others' tokens outweighs the prompt that is read once more.
 */
const GROUP_TOKENS = 192;
/** Tokens reckoned for an answer. */
const ANSWER_ROOM = 4;

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
  const stats: EvaluationStats[] = [forced.stats];
  let done = 0;
  for (const group of groupsOf(open, cells)) {
    const decoded = await model.generate(
      group.map((i) => ({ tokens: cells[i]!.tokens, edits: cells[i]!.edits })),
      {
        ...run,
        maxTokens,
        ...(onProgress && { onProgress: ofAll(onProgress, done, group.length, open.length) }),
      },
    );
    decoded.generations.forEach(({ text }, k) => {
      texts[group[k]!] = text;
    });
    stats.push(decoded.stats);
    done += group.length;
  }
  return {
    answers: cells.map((_, i) => ({
      text: texts[i]!,
      decoded: parseCount(texts[i]!).value,
      ...margins[i]!,
    })),
    stats: addStats(stats),
  };
}

/**
 * Cells decoded at once. A group keeps all its tokens in the KV cache to its end, and each new token looks at all of them, so a group is held
 * small: `GROUP_TOKENS` beyond its first prompt, for further prompts and what each cell has of its own. Cells of one prompt come together; what they share is evaluated
 * once a group.
 */
function groupsOf(open: readonly number[], cells: readonly EditedCell[]): number[][] {
  const order = new Map<Int32Array, number>();
  for (const i of open) if (!order.has(cells[i]!.tokens)) order.set(cells[i]!.tokens, order.size);
  const promptOf = (i: number): number => order.get(cells[i]!.tokens)!;
  const groups: number[][] = [];
  let held = 0;
  for (const i of [...open].sort((a, b) => promptOf(a) - promptOf(b))) {
    const { tokens } = cells[i]!;
    const last = groups.at(-1)?.at(-1);
    const own = tokens.length - firstEdited(cells[i]!) + ANSWER_ROOM;
    held += own + (last === undefined ? 0 : tokens.length - shared(cells[last]!.tokens, tokens));
    if (last === undefined || held > GROUP_TOKENS) {
      groups.push([]);
      held = own;
    }
    groups.at(-1)!.push(i);
  }
  return groups;
}

/** Tokens that two prompts begin with alike. */
function shared(a: Int32Array, b: Int32Array): number {
  if (a === b) return a.length;
  const differ = a.findIndex((token, i) => token !== b[i]);
  return differ === -1 ? Math.min(a.length, b.length) : differ;
}

function firstEdited({ tokens, edits }: EditedCell): number {
  const positions = edits.flatMap((edit) => (edit.positions === "all" ? [0] : edit.positions));
  return Math.min(tokens.length, ...positions.map((at) => (at < 0 ? tokens.length + at : at)));
}

/** Progress of one group as a part of all that is decoded; `before` answers are there already. */
function ofAll(
  onProgress: (progress: Progress) => void,
  before: number,
  group: number,
  all: number,
): (progress: Progress) => void {
  return ({ done, total }) =>
    onProgress({
      what: "decoding",
      done: before + Math.floor((group * done) / total),
      total: all,
      unit: "answers",
    });
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
