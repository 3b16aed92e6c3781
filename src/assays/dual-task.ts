/**
 * Interference: does a second task disturb counting more than text of the same length does?
 *
 * Paper: section 2, Methods "Matched dual task counting controls", and Fig. 3c. Targets 32 to 96, six trials for each count and
 * condition.
 */
import type { RunOptions } from "../engine/request.js";
import { type Bootstrap, bootstrap } from "../stats/bootstrap.js";
import { type RandomKey, random } from "../stats/random.js";
import type { Provenance } from "../store/provenance.js";
import { checkShard, ownsUnit, type Shard, shardNote } from "../store/shard.js";
import {
  codePrompt,
  type DualPrompt,
  irrelevantCode,
  isSecondRight,
  plainPrompt,
  questionPrompt,
  readDual,
  secondCountFor,
  secondCountPrompt,
} from "../tasks/dual-task.js";
import { type FormatClass, formatClass } from "../tasks/format-class.js";
import type { Question } from "../tasks/question-set.js";
import { type LogOptions, useLog } from "./answer-log.js";
import { type Answer, type Answerer, type Asked, firstBeyondContext } from "./answerer.js";

/** Questions, counts and controls of a dual-task run. */
export interface DualTaskOptions extends RunOptions, LogOptions {
  /** Questions, of any kinds; each kind is a condition. `shippedQuestions("full")`, or `readQuestions` of your JSONL. */
  readonly questions: readonly Question[];
  /** True counts. Default 32, 48, 64, 80, 96. */
  readonly counts?: readonly number[];
  /** Trials for each count and condition. Default 6. */
  readonly trials?: number;
  readonly seed?: RandomKey;
  /** Tokens of each text, for controls of the length of a question. Default: a quarter of its characters. */
  readonly measure?: (texts: readonly string[]) => Promise<readonly number[]>;
  /** Text of the irrelevant-code control for a length in tokens. Default `irrelevantCode`. */
  readonly code?: (tokens: number, seed: string) => Promise<string> | string;
  /** Only every n-th count: one piece of the assay, whose log is to be merged with the others'. */
  readonly shard?: Shard;
}

/** One prompt with a count and, in most conditions, a second task. */
export interface DualTrial {
  readonly model: string;
  /** `plain`, `code`, `second count`, or the kind of the question. */
  readonly condition: string;
  readonly control: boolean;
  readonly target: number;
  readonly k: number;
  readonly question: string | null;
  readonly response: string;
  readonly prediction: number | null;
  readonly exact: boolean;
  /** |prediction - target|; no integer counts as an error of the target. */
  readonly absoluteError: number;
  /** Was the count in a JSON object? null where none was asked for. */
  readonly json: boolean | null;
  /** Was the second answer right? null where none was asked for. */
  readonly secondRight: boolean | null;
  readonly format: FormatClass;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** Mean error of a condition at a count, with a 95 % interval. */
export interface DualTaskRow {
  readonly condition: string;
  readonly count: number;
  /** Mean |error|, in items. */
  readonly error: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
  readonly control: boolean;
}

/** A condition over all its counts. */
export interface DualTaskSummary {
  readonly condition: string;
  readonly control: boolean;
  readonly n: number;
  /** Mean |error| / count over all its trials, with a bootstrap interval. */
  readonly relativeError: Bootstrap;
  readonly exact: number;
  /** Share of right second answers; null without a second task. */
  readonly secondRight: number | null;
  /** Share of answers whose count came out of a JSON object; null where none was asked for. */
  readonly json: number | null;
  readonly missing: number;
  /** Mean tokens of the prompt: how well the lengths match. */
  readonly inputTokens: number;
}

/** Trials, rows for the figure, and a summary of each condition. */
export interface DualTaskResult {
  readonly model: string;
  readonly trials: readonly DualTrial[];
  /** Condition by count, for the figure. */
  readonly rows: readonly DualTaskRow[];
  readonly summary: readonly DualTaskSummary[];
  /** Of a shard: rows and summary are those of its own counts. */
  readonly stopped?: string;
  readonly provenance: Provenance;
}

/**
 * Asks every condition at every count: each kind of question, and the controls `plain`, `code` (irrelevant code as long as the question
 * of the same trial index) and `second count` (a list of `b` as long as that question). Trials of one count and index share the
 * question across controls, so lengths match one by one.
 *
 * An answer without an integer counts as an error of the whole count. Weakness: `plain` and `code` ask for an integer, the other
 * conditions for JSON, in the paper as here; a difference between `second count` and `plain` may be the form's.
 *
 * All prompts are one batch; with a log, those of one count are.
 */
export async function dualTask(asked: Asked, options: DualTaskOptions): Promise<DualTaskResult> {
  const { questions, counts = DEFAULT_COUNTS, trials = 6, seed = 1 } = options;
  if (questions.length === 0 || counts.length === 0 || !(trials >= 1))
    throw new Error(
      `dualTask: ${questions.length} questions, ${counts.length} counts, ${trials} trials; expected at least one of each`,
    );
  checkShard("dualTask", options.shard, options.log);
  return useLog(asked, options, { assay: "dual task", seed }, (subject) => askAll(subject, options));
}

const DEFAULT_COUNTS = [32, 48, 64, 80, 96];

async function askAll(answerer: Answerer, options: DualTaskOptions): Promise<DualTaskResult> {
  const { questions, trials = 6, seed = 1, shard, log, ...rest } = options;
  const { measure = async (texts) => texts.map((text) => text.length / 4), code, ...more } = rest;
  const { counts: all = DEFAULT_COUNTS, ...run } = more;
  const counts = all.filter((_, i) => ownsUnit(shard, i));
  const kinds = [...new Set(questions.map(({ kind }) => kind))];
  const [itemsOf1 = 0, itemsOf2 = 0] = await measure(["b", `b${", b".repeat(50)}`]);
  const asked: {
    prompt: DualPrompt;
    condition: string;
    target: number;
    k: number;
    question: string | null;
  }[] = [];
  for (const target of counts)
    for (let k = 0; k < trials; k += 1) {
      const draw = random(seed, "dual task", target, k);
      const chosen = kinds.map((kind) => draw.choice(questions.filter((question) => question.kind === kind)));
      const [length = 1] = await measure([draw.choice(chosen).question]);
      const key = `${seed}/${target}/${k}`;
      const text = code ? await code(length, key) : await irrelevantCode(Math.max(1, length), key, measure);
      const controls: [string, DualPrompt][] = [
        ["plain", plainPrompt(target)],
        ["code", codePrompt(target, text)],
        ["second count", secondCountPrompt(target, secondCountFor(length, (itemsOf2 - itemsOf1) / 50))],
      ];
      for (const [condition, prompt] of controls)
        asked.push({ prompt, condition, target, k, question: null });
      for (const question of chosen)
        asked.push({
          prompt: questionPrompt(target, question),
          condition: question.kind,
          target,
          k,
          question: question.id,
        });
    }
  const prompts = asked.map(({ prompt }) => prompt.parts);
  const beyond = await firstBeyondContext(answerer, prompts);
  if (beyond !== undefined)
    throw new Error(`dualTask: count ${asked[beyond.index]?.target}: ${beyond.why}; use smaller counts`);
  const answers: Answer[] = [];
  const size = log === undefined ? prompts.length : prompts.length / counts.length;
  for (let at = 0; at < prompts.length; at += size)
    answers.push(...(await answerer.answer(prompts.slice(at, at + size), run)).answers);
  const read = answers.map((answer, i): DualTrial => {
    const { prompt, condition, target, k, question } = asked[i] as (typeof asked)[number];
    const reading = readDual(answer.text);
    const wantsJson = prompt.answer !== undefined;
    return {
      model: answerer.name,
      condition,
      control: prompt.condition !== "question",
      target,
      k,
      question,
      response: answer.text,
      prediction: reading.count,
      exact: reading.count === target,
      absoluteError: reading.count === null ? target : Math.abs(reading.count - target),
      json: wantsJson ? reading.json : null,
      secondRight: prompt.answer === undefined ? null : isSecondRight(reading.answer, prompt.answer),
      format: formatClass(answer.text, { item: "a", delimiter: ", ", prompt: prompt.parts.user }),
      inputTokens: answer.inputTokens,
      outputTokens: answer.outputTokens,
      reasoningTokens: answer.reasoningTokens,
    };
  });
  return {
    model: answerer.name,
    trials: read,
    ...summariseDual(read, seed),
    ...(shard === undefined ? {} : { stopped: shardNote(shard) }),
    provenance: answerer.provenance({ assay: "dual task", counts, trials, seed, kinds }),
  };
}

/** Rows and summaries of trials, conditions in the order of their first trial. Intervals: percentile bootstrap over trials. */
export function summariseDual(
  trials: readonly DualTrial[],
  seed: RandomKey = 1,
): Pick<DualTaskResult, "rows" | "summary"> {
  const conditions = [...new Set(trials.map(({ condition }) => condition))];
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const interval = (values: readonly number[]) =>
    bootstrap(values.length, (row) => mean(row.map((i) => values[i] as number)), { seed: `${seed}` });
  const rows = conditions.flatMap((condition) => {
    const own = trials.filter((trial) => trial.condition === condition);
    return [...new Set(own.map(({ target }) => target))].map((count): DualTaskRow => {
      const errors = own.filter(({ target }) => target === count).map(({ absoluteError }) => absoluteError);
      const [single = 0] = errors;
      const { estimate, low, high } =
        errors.length < 2 ? { estimate: single, low: single, high: single } : interval(errors);
      return {
        condition,
        count,
        error: estimate,
        low,
        high,
        n: errors.length,
        control: own[0]?.control ?? false,
      };
    });
  });
  const summary = conditions.map((condition): DualTaskSummary => {
    const own = trials.filter((trial) => trial.condition === condition);
    const share = (values: readonly (boolean | null)[]) => {
      const known = values.filter((value) => value !== null);
      return known.length === 0 ? null : known.filter(Boolean).length / known.length;
    };
    return {
      condition,
      control: own[0]?.control ?? false,
      n: own.length,
      relativeError: interval(own.map(({ absoluteError, target }) => absoluteError / target)),
      exact: own.filter(({ exact }) => exact).length / own.length,
      secondRight: share(own.map(({ secondRight }) => secondRight)),
      json: share(own.map(({ json }) => json)),
      missing: own.filter(({ prediction }) => prediction === null).length,
      inputTokens: mean(own.map(({ inputTokens }) => inputTokens)),
    };
  });
  return { rows, summary };
}
