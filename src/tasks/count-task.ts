/** Tasks whose answer is a count: what the ladder and the sweeps ask for. */
import type { PromptParts } from "../model/prompt.js";
import type { RandomKey } from "../stats/random.js";
import { type CountingOptions, countingPrompt } from "./counting.js";
import type { FormatContext } from "./format-class.js";
import { type RecordsOptions, recordsPrompt } from "./records.js";

/** A task whose right answer is a count. */
export interface CountTask {
  readonly name: string;
  /** The prompt whose right answer is `target`. `key` names the trial: what is drawn at random is drawn from it. */
  prompt(target: number, key: RandomKey): PromptParts;
  /** What an echo of the prompt looks like, besides its own words. */
  readonly echo: Pick<FormatContext, "item" | "delimiter">;
  /** Plain data that fixes the prompts, for provenance. */
  readonly settings: Readonly<Record<string, string | number | readonly string[] | readonly number[]>>;
}

/** Homogeneous counting. The prompt depends on the target alone. */
export function countingTask(options: CountingOptions = {}): CountTask {
  const { item = "a", delimiter = ", " } = options;
  return {
    name: "counting",
    prompt: (target) => countingPrompt(target, options),
    echo: { item, delimiter },
    settings: { item, delimiter, ...options },
  };
}

/** Nested-depth records: `target` matches among distractors, drawn anew for every trial. */
export function recordsTask(options: RecordsOptions = {}): CountTask {
  return {
    name: "records",
    prompt: (target, key) => recordsPrompt(target, { ...options, seed: `${options.seed ?? 1}/${key}` }),
    echo: {},
    settings: { distractorRatio: 1, nearMiss: 0.6, depth: [1, 3], seed: 1, ...options },
  };
}
