/**
 * Steering curves: how far the answer moves for each unit by which the final token is moved along the count direction (second paper,
 * section 3 and Supplementary Note 11).
 */
import { residPost } from "../engine/hooks.js";
import type { Model } from "../model/model.js";
import type { PromptParts } from "../model/prompt.js";
import { bootstrap } from "../stats/bootstrap.js";
import { countingPrompt } from "../tasks/counting.js";
import { checkProbes, type LayerProbe, randomVector } from "./clamp.js";
import { type EditedAnswersOptions, editedAnswers } from "./edited-answers.js";
import { checkCounts } from "./stable-counts.js";

/** Which prompts are steered, and how far. */
export interface SteeringOptions extends EditedAnswersOptions {
  /** Prompts that are steered. Default 3 to 9, 12, 15 and 18. */
  readonly counts?: readonly number[];
  /** How far, in items by the probe's slope. Default -6, -4, -2, -1, 1, 2, 4, 6. */
  readonly steps?: readonly number[];
  /** The prompt of a count. Default `countingPrompt`. */
  readonly prompt?: (count: number) => PromptParts;
  /** Also move every generated token as far. Default false: only the first token of the answer is then chosen from the moved state. */
  readonly generated?: boolean;
  /** The final token, from the prompt's end. Default -1. */
  readonly final?: number;
  /** Of the random directions. Default 0. */
  readonly seed?: number;
}

/** What was answered after a step along a direction. */
export interface SteeredAnswer {
  readonly layer: number;
  readonly direction: "count" | "random";
  readonly count: number;
  readonly step: number;
  readonly decoded: number | null;
  /** Decoded less the unsteered answer; null where one of them has no integer. */
  readonly moved: number | null;
}

/** `layers x counts x steps` answers on the count direction, and as many on a random one with shifts of equal norm. */
export async function steeringCurve(
  model: Model,
  probes: readonly LayerProbe[],
  options: SteeringOptions = {},
): Promise<SteeredAnswer[]> {
  const {
    steps = [-6, -4, -2, -1, 1, 2, 4, 6],
    final = -1,
    seed = 0,
    generated = false,
    prompt,
    signal,
    onProgress,
  } = options;
  const counts = checkCounts("steeringCurve", options.counts ?? [3, 4, 5, 6, 7, 8, 9, 12, 15, 18]);
  const byLayer = checkProbes(model, probes);
  if (steps.length === 0 || steps.some((step) => !Number.isFinite(step)))
    throw new Error(
      `steeringCurve: steps ${steps.join(", ") || "(none)"}; expected finite numbers, in items`,
    );
  const run = {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(options.mode && { mode: options.mode }),
    ...(options.maxTokens && { maxTokens: options.maxTokens }),
  };
  const prompts = await model.prompts(counts.map(prompt ?? ((count) => countingPrompt(count))));
  const labels = [...byLayer.keys()].flatMap((layer) =>
    (["count", "random"] as const).flatMap((direction) =>
      counts.flatMap((count, c) => steps.map((step) => ({ layer, direction, count, c, step }))),
    ),
  );
  const { answers } = await editedAnswers(
    model,
    [
      ...prompts.map(({ tokens }, c) => ({ tokens, edits: [], answer: String(counts[c]) })),
      ...labels.map(({ layer, direction, count, c, step }) => {
        const { direction: along, slope } = byLayer.get(layer)!;
        const rows =
          direction === "count"
            ? along.map((value) => value * slope * step)
            : // One random direction a prompt and layer, so that its steps lie on a line too.
              randomVector(along.length, 1, `${seed}/steering/${layer}/${count}`).map(
                (value) => value * slope * step,
              );
        return {
          tokens: prompts[c]!.tokens,
          edits: [
            { hook: residPost(layer), positions: [final], op: { type: "add" as const, rows }, generated },
          ],
          answer: String(Math.max(0, Math.round(count + step))),
        };
      }),
    ],
    run,
  );
  return labels.map(({ c, ...label }, i) => {
    const { decoded } = answers[counts.length + i]!;
    const unsteered = answers[c]!.decoded;
    return { ...label, decoded, moved: decoded === null || unsteered === null ? null : decoded - unsteered };
  });
}

/** Items by which answers move for an item of step. */
export interface SteeringGain {
  readonly layer: number;
  readonly direction: "count" | "random";
  /** Items by which the answer moves for each item of the shift: 1 is a dial, 0 none at all. Least squares through the origin. */
  readonly gain: number;
  /** Of 95 %: bootstrap, whole prompts drawn. */
  readonly low: number;
  readonly high: number;
  readonly n: number;
}

/** The slope of each steering curve. Answers without an integer are left out; groups of fewer than 2 prompts have no row. Pure. */
export function steeringGains(answers: readonly SteeredAnswer[], seed = 0): SteeringGain[] {
  const groups = new Map<string, SteeredAnswer[]>();
  for (const answer of answers) {
    if (answer.moved === null) continue;
    const key = `${answer.layer} ${answer.direction}`;
    groups.set(key, [...(groups.get(key) ?? []), answer]);
  }
  return [...groups].flatMap(([key, group]) => {
    const { layer, direction } = group[0]!;
    const clusters = group.map(({ count }) => count);
    if (new Set(clusters).size < 2) return [];
    const slope = (rows: readonly number[]) => {
      const across = rows.reduce((sum, i) => sum + group[i]!.step * group[i]!.moved!, 0);
      return across / rows.reduce((sum, i) => sum + group[i]!.step ** 2, 0);
    };
    const { estimate, low, high } = bootstrap(group.length, slope, {
      seed: `${seed} ${key}`,
      resamples: 1000,
      clusters,
    });
    return [{ layer, direction, gain: estimate, low, high, n: group.length }];
  });
}
