/** Verification of items on a model: forced where that decides, decoded where it does not, alone where it is close. */
import type { Edit, Mode, Progress, Request, Result } from "../../engine/request.js";
import type { Model } from "../../model/model.js";
import type { Reader } from "../../tasks/reader.js";
import type { Item } from "../../tasks/task.js";
import { addCounts, type Check, type Counts, countsOf, NO_COUNTS } from "./check.js";
import { type Forced, type ForcedJudgement, judgeDecoded, judgeForced, type Runner } from "./judge.js";
import type { ModeSteps } from "./modes.js";
import { type LearningVocabulary, type Prepared, prepare, vocabularyOf } from "./prepare.js";

/** How many of the tokens next to the most probable one are looked at: would they change the verdict? */
const RUNNERS = 7;

/** Tokens decoded beyond the length of the right answer before the verdict is looked at: a space, a comma, a sign, an end. */
const BEYOND_ANSWER = 3;

export interface VerifyOptions {
  readonly steps: ModeSteps;
  readonly reader: Reader;
  /** Largest change of a margin by the way a request is evaluated, in logits: closer verdicts go to the referee. */
  readonly noiseFloor: number;
  /** Most tokens decoded for an answer. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** The door's progress, in tokens. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Verifier {
  verify(items: readonly Item[]): Promise<Check[]>;
  /** The same checks with what the model wrote, and with margins, wherever these are missing. */
  complete(items: readonly Item[], checks: readonly Check[]): Promise<Check[]>;
  counts(): Counts;
  /** Why nothing was shared, where the model cannot branch. */
  unshared(): string | undefined;
}

export function createVerifier(model: Model, options: VerifyOptions): Verifier {
  const { steps, reader, noiseFloor, maxTokens, signal, onProgress } = options;
  const vocabulary = vocabularyOf(model);
  const end = model.info.eot >= 0 ? model.info.eot : Math.max(0, model.info.eos);
  const run = { signal, ...(onProgress === undefined ? {} : { onProgress }) };
  let counts = NO_COUNTS;
  let unshared: string | undefined;

  /**
   * Greedy decoding; those with a margin below the noise floor again, each alone.
   *
   * @param most tokens decoded at first: an answer whose verdict is known by then has no text, any other is decoded in full
   */
  const decode = async (
    prepared: readonly Prepared[],
    alone: boolean,
    most: number = maxTokens,
  ): Promise<Check[]> => {
    const limit = Math.min(maxTokens, most);
    const batch = await model.generate(
      prepared.map(({ prompt }) => ({ tokens: prompt })),
      { ...run, maxTokens: limit, mode: alone ? "alone" : "forest" },
    );
    counts = addCounts(counts, countsOf(batch.stats));
    await vocabulary.learn(batch.generations.flatMap(({ tokens }) => [...tokens]));
    const cutShort: number[] = [];
    const close: number[] = [];
    const checks = prepared.map(({ item }, i): Check => {
      const { tokens, text, stop, margins } = batch.generations[i]!;
      const ended = stop === "end" || stop === "stopToken";
      const judged = judgeDecoded({ tokens, text, ended, margins }, item.answer, reader, vocabulary);
      const { verdict, margin, unfinished, confidence } = judged;
      const cut = !ended && limit < maxTokens;
      if (!alone && confidence < noiseFloor) close.push(i);
      else if (cut && unfinished) cutShort.push(i);
      const about = { verdict, margin, by: "decoded" } as const;
      return { ...about, ...(cut ? {} : { text }), ...(unfinished ? { unfinished } : {}) };
    });
    const again = async (which: readonly number[], alone: boolean, most?: number): Promise<Check[]> =>
      which.length === 0
        ? []
        : decode(
            which.map((i) => prepared[i]!),
            alone,
            most,
          );
    const refereed = await again(close, true, most);
    counts = addCounts(counts, { refereed: close.length });
    refereed.forEach((check, k) => {
      checks[close[k]!] = { ...check, by: "referee" };
    });
    const whole = await again(cutShort, alone);
    whole.forEach((check, k) => {
      checks[cutShort[k]!] = check;
    });
    return checks;
  };

  const force = async (prepared: readonly Prepared[]): Promise<Check[]> => {
    const judgements = await judgeAll(prepared, steps.share === "nothing" ? "batch" : "forest");
    const open = prepared.filter((_, i) => judgements[i]!.verdict === "open");
    const close = judgements.flatMap(({ verdict, confidence }, i) =>
      verdict !== "open" && confidence < noiseFloor ? [i] : [],
    );
    const longest = Math.max(...open.map(({ answer }) => answer.length));
    const decoded = open.length === 0 ? [] : await decode(open, false, longest + BEYOND_ANSWER);
    const settled: Check[] = [];
    for (const i of close) settled.push(...(await decode([prepared[i]!], true, judgements[i]!.length)));
    counts = addCounts(counts, { fallbacks: open.length, refereed: close.length });
    return judgements.map(({ verdict, margin, confidence }): Check => {
      if (verdict !== "open" && confidence >= noiseFloor) return { verdict, margin, by: "forced" };
      const check = verdict === "open" ? decoded.shift()! : { ...settled.shift()!, by: "referee" as const };
      // Decoding does not say how far behind the answer was; forcing does.
      return check.verdict === "wrong" && margin <= 0 ? { ...check, margin } : check;
    });
  };

  const judgeAll = async (prepared: readonly Prepared[], mode: Mode): Promise<ForcedJudgement[]> => {
    const edits =
      mode === "forest" && steps.share === "prefix" ? splitAfterPrefix(model, prepared) : undefined;
    const evaluation = await model.evaluate(
      prepared.map((one) => forcedRequest(one, end, edits)),
      { ...run, mode },
    );
    counts = addCounts(counts, countsOf(evaluation.stats));
    unshared ??= evaluation.stats.unshared;
    const forced = evaluation.results.map((result) => readForced(result));
    await learnForced(vocabulary, prepared, forced);
    return prepared.map(({ item, answer }, i) =>
      judgeForced(forced[i]!, answer, item.answer, reader, vocabulary),
    );
  };

  const withTexts = async (prepared: readonly Prepared[], checks: readonly Check[]): Promise<Check[]> => {
    const missing = prepared.filter((_, i) => checks[i]!.text === undefined);
    const decoded = missing.length === 0 ? [] : await decode(missing, false);
    const texts: Check[] = [];
    for (const [i, check] of checks.entries()) {
      if (check.text !== undefined) {
        texts.push(check);
        continue;
      }
      let found = decoded.shift()!;
      // Decoding and forcing at odds beyond the noise floor: the canonical evaluation has the last word.
      if (found.verdict !== check.verdict) {
        found = (await decode([prepared[i]!], true))[0]!;
        counts = addCounts(counts, { refereed: 1 });
      }
      const { text, unfinished, verdict, margin } = found;
      const more = { text: text!, ...(unfinished ? { unfinished } : {}) };
      texts.push(
        verdict === check.verdict ? { ...check, ...more } : { verdict, margin, by: "referee", ...more },
      );
    }
    return texts;
  };

  return {
    counts: () => counts,
    unshared: () => unshared,
    async verify(items) {
      const prepared = await prepare(model, items, signal);
      counts = addCounts(counts, { instances: items.length });
      return steps.forced ? force(prepared) : decode(prepared, true);
    },
    async complete(items, checks) {
      const prepared = await prepare(model, items, signal);
      const full = await withTexts(prepared, checks);
      const unknown = prepared.filter((_, i) => Number.isNaN(full[i]!.margin));
      const forced = unknown.length === 0 ? [] : await judgeAll(unknown, "alone");
      return full.map((check) => {
        if (!Number.isNaN(check.margin)) return check;
        const { margin } = forced.shift()!;
        return check.verdict === "wrong" && margin <= 0 ? { ...check, margin } : check;
      });
    },
  };
}

/**
 * Prompt and answer; logits before each answer token and after the last.
 *
 * @param end the token that ends a turn
 */
export function forcedRequest({ prompt, answer }: Prepared, end: number, edits?: readonly Edit[]): Request {
  const tokens = new Int32Array(prompt.length + answer.length);
  tokens.set(prompt);
  tokens.set(answer, prompt.length);
  const positions = Array.from({ length: answer.length + 1 }, (_, i) => prompt.length - 1 + i);
  const awaited = positions.map((_, i) => [i < answer.length ? answer[i]! : end]);
  return {
    tokens,
    logits: { positions, top: 1 + RUNNERS, tokens: awaited },
    ...(edits === undefined ? {} : { edits }),
  };
}

function readForced(result: Result): Forced {
  const { topIds, topLogits, tokenLogits, positions, k } = result.logits!;
  const argmax = new Int32Array(positions.length);
  const lead = new Float32Array(positions.length);
  const runners = Array.from(positions, (_, i) => {
    const top = i * k;
    const found: Runner[] = [];
    for (let r = top + 1; r < top + k; r++)
      found.push({ token: topIds[r]!, behind: topLogits[top]! - topLogits[r]! });
    argmax[i] = topIds[top]!;
    const own = tokenLogits![i]!;
    lead[i] = own === topLogits[top] ? found[0]!.behind : own - topLogits[top]!;
    return found;
  });
  return { argmax, runners, lead };
}

async function learnForced(
  vocabulary: LearningVocabulary,
  prepared: readonly Prepared[],
  forced: readonly Forced[],
): Promise<void> {
  const tokens = new Set<number>();
  forced.forEach(({ argmax, runners }, i) => {
    for (const token of prepared[i]!.answer) tokens.add(token);
    for (let k = 0; k < argmax.length; k++) tokens.add(argmax[k]!);
    for (const near of runners) for (const { token } of near) tokens.add(token);
  });
  await vocabulary.learn(tokens);
}

/**
 * An edit that changes nothing at the first position where the prompts differ: what lies before it is shared, and from
 * there on each request is on its own.
 */
function splitAfterPrefix(model: Model, prepared: readonly Prepared[]): Edit[] {
  const first = prepared[0]!.prompt;
  let length = first.length - 1;
  for (const { prompt } of prepared) {
    let same = 0;
    while (same < length && prompt[same] === first[same]) same++;
    length = same;
  }
  const hook = model.info.hookPoints.find(
    ({ hook }) => hook.kind === "embed" || hook.kind === "residPost",
  )?.hook;
  if (hook === undefined)
    throw new Error(`zeroErrorHorizon: mode "prefix" needs an embedding that can be observed; use "trie"`);
  return [{ hook, positions: [length], op: { type: "scale", factor: 1 } }];
}
