/**
 * Activations of counting prompts, and what the model answers to each: what count probes are fitted on (second paper, Methods,
 * "Residual stream projections and targeted causal interventions").
 *
 * Every count is asked in several conditions: plain, and after neutral filler of random length, so that the count and the
 * position of its token are not one thing. All captures go through one forest: a list's prompts share all but the end of the
 * turn, and the item tokens of every count are those of the longest list.
 */
import { type HookPoint, residPost } from "../engine/hooks.js";
import type { Capture, EvaluationStats, RunOptions } from "../engine/request.js";
import { type Model, requireHook } from "../model/model.js";
import { random } from "../stats/random.js";
import { type CountingOptions, countingPrompt } from "../tasks/counting.js";
import { fillerText } from "../tasks/filler.js";
import { type ForcedCount, forcedAnswers } from "./forced-answers.js";
import type { ProbeRows } from "./probe-direction.js";
import { checkCounts, stableCounts } from "./stable-counts.js";

export interface CountingActivationsOptions extends RunOptions {
  /** Whole numbers from 1, each once. Default 1 to 64. */
  readonly counts?: readonly number[];
  /** Default: all layers. */
  readonly layers?: readonly number[];
  /** Where in a block to read. Default `residPost`. */
  readonly hook?: (layer: number) => HookPoint;
  /** Conditions with filler, besides the plain one. Default 7. */
  readonly fillers?: number;
  /** Longest filler in words; lengths are drawn evenly from 1 to this. Default 24. */
  readonly fillerWords?: number;
  /** Item, delimiter, instruction and its place. A filler given here stands in every condition. */
  readonly prompt?: CountingOptions;
  /** The final token: which position of the prompt, from its end. Default -1, the last before the answer. */
  readonly final?: number;
  /** Of the fillers. Default 1. */
  readonly seed?: number;
  /** Of an answer. Default 64. */
  readonly maxTokens?: number;
}

/** Whether a count is answered right under one condition. */
export interface CountAnswer extends ForcedCount {
  /** Index of the condition; 0 is plain. */
  readonly condition: number;
}

/** Rows of one kind of position, with their labels: `[row]` each. */
export interface CountObservations {
  readonly at: "final" | "items";
  readonly counts: Int32Array;
  /** Position of the row's token in its prompt. */
  readonly positions: Int32Array;
  readonly conditions: Int32Array;
  /** Is the model's answer to this count in this condition right? */
  readonly correct: readonly boolean[];
  /** Is the count below the first error, of its own condition and of the plain one? */
  readonly stable: readonly boolean[];
  readonly layers: readonly { readonly layer: number; readonly hook: HookPoint; readonly rows: ProbeRows }[];
}

/** Activations of counting prompts, with the answers beside them. */
export interface CountingActivations {
  readonly model: string;
  /** Before the answer, one row a prompt. */
  readonly final: CountObservations;
  /** At the k-th item of the longest list of a condition: the state after k items, one row a count and condition. */
  readonly items: CountObservations;
  readonly answers: readonly CountAnswer[];
  /** Largest count below the first error, and the first error, of the plain condition. */
  readonly stableTo: number | null;
  readonly firstError: number | null;
  /** Words of filler of each condition, from 0 for the plain one. */
  readonly fillerWords: readonly number[];
  readonly stats: EvaluationStats;
}

/**
 * Captures and answers: `counts x conditions` prompts.
 *
 * @throws on a layer the model has not, counts that are not whole numbers from 1, prompts beyond the context
 */
export async function countingActivations(
  model: Model,
  options: CountingActivationsOptions = {},
): Promise<CountingActivations> {
  const { hook = residPost, fillers = 7, fillerWords = 24, final = -1, seed = 1, maxTokens = 64 } = options;
  const counts = checkCounts("countingActivations", options.counts ?? upTo(64));
  const layers = options.layers ?? upTo(model.info.layers).map((layer) => layer - 1);
  if (layers.length === 0) throw new Error("countingActivations: no layers; expected at least one");
  for (const layer of layers) requireHook(model, hook(layer), "countingActivations");
  for (const [name, value, least] of [
    ["fillers", fillers, 0] as const,
    ["fillerWords", fillerWords, 1] as const,
  ])
    if (!Number.isInteger(value) || value < least)
      throw new Error(`countingActivations: ${name} ${value}; expected a whole number from ${least}`);
  if (!Number.isInteger(final) || final >= 0)
    throw new Error(
      `countingActivations: final ${final}; expected a whole number below 0, -1 for the last token`,
    );
  const run: RunOptions = {
    ...(options.signal && { signal: options.signal }),
    ...(options.onProgress && { onProgress: options.onProgress }),
    ...(options.mode && { mode: options.mode }),
  };

  const words = [0, ...drawWords(fillers, fillerWords, seed)];
  const asked = words.flatMap((length, condition) => counts.map((count) => ({ condition, count, length })));
  const prompts = await model.prompts(
    asked.map(({ condition, count, length }) => {
      const filler = [options.prompt?.filler ?? "", fillerText(length, `${seed}/${condition}`)];
      return countingPrompt(count, {
        ...options.prompt,
        filler: filler.filter((text) => text !== "").join(" "),
      });
    }),
  );
  const longest = Math.max(...counts);
  const captures = (i: number): Capture[] => {
    const items = counts.map((n) => prompts[i]!.spans.items![n - 1]!);
    return layers.flatMap((layer) => [
      { hook: hook(layer), positions: [final] },
      ...(asked[i]!.count === longest ? [{ hook: hook(layer), positions: items }] : []),
    ]);
  };
  const forced = await forcedAnswers(
    model,
    prompts,
    asked.map(({ count }) => count),
    { ...run, maxTokens, captures },
  );
  const { results, stats } = forced;
  const answers = forced.answers.map((answer, i) => ({ ...answer, condition: asked[i]!.condition }));
  const ranges = words.map((_, condition) => {
    const own = answers.filter((answer) => answer.condition === condition);
    return stableCounts(
      own.map(({ count }) => count),
      own.map(({ correct }) => correct),
    );
  });
  const plain = ranges[0]!;
  const below = (condition: number, count: number): boolean =>
    [ranges[condition]!, plain].every(({ firstError }) => firstError === null || count < firstError);

  const labels = {
    counts: Int32Array.from(asked, ({ count }) => count),
    conditions: Int32Array.from(asked, ({ condition }) => condition),
    correct: answers.map(({ correct }) => correct),
    stable: asked.map(({ condition, count }) => below(condition, count)),
  };
  const wholeLists = asked.map(({ count }) => count === longest);
  const whole = wholeLists.flatMap((is, i) => (is ? [i] : []));
  const every = asked.map((_, i) => i);
  const layersOf = (of: readonly number[], slot: (l: number, i: number) => number) =>
    layers.map((layer, l) => {
      const parts = of.map((i) => results[i]!.captures[slot(l, i)]!);
      return {
        layer,
        hook: hook(layer),
        rows: { data: joined(parts.map(({ data }) => data)), width: parts[0]!.width },
      };
    });
  return {
    model: model.info.name,
    final: {
      at: "final",
      ...labels,
      positions: Int32Array.from(prompts, ({ tokens }) => tokens.length + final),
      // A longest list has two captures a layer, all others one.
      layers: layersOf(every, (l, i) => (wholeLists[i] ? 2 * l : l)),
    },
    items: {
      at: "items",
      ...labels,
      positions: Int32Array.from(whole.flatMap((i) => counts.map((n) => prompts[i]!.spans.items![n - 1]!))),
      layers: layersOf(whole, (l) => 2 * l + 1),
    },
    answers,
    stableTo: plain.to,
    firstError: plain.firstError,
    fillerWords: words,
    stats,
  };
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

function drawWords(fillers: number, most: number, seed: number): number[] {
  const draw = random(seed, "filler lengths");
  return Array.from({ length: fillers }, () => draw.integer(1, most));
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
