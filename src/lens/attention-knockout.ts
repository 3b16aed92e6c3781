/**
 * Attention knockout: what becomes of the answer when, in one layer or a few, the final token cannot attend to the items.
 *
 * It asks the question that patching leaves open: patching the items' rows tests whether the count stands *in* them; knocking them out
 * tests whether it is read *off* them, be it from what they hold or from how many there are.
 */
import { attnPattern } from "../engine/hooks.js";
import type { Edit, Request, RunOptions } from "../engine/request.js";
import { type Model, requireHook } from "../model/model.js";
import type { Prompt, PromptParts } from "../model/prompt.js";
import { bootstrap } from "../stats/bootstrap.js";
import { wilson } from "../stats/proportion.js";
import { random } from "../stats/random.js";
import { countingPrompt } from "../tasks/counting.js";
import { forcedLogits, forcedMargin } from "./forced-margin.js";
import { type PatchPositions, positionRuns } from "./position-sets.js";
import { checkCounts } from "./stable-counts.js";

/** What is cut, and in which prompts. */
export interface KnockoutOptions extends Pick<RunOptions, "signal" | "onProgress"> {
  /** Counts asked; those the model fails on are left out. Default 1 to 26. */
  readonly counts?: readonly number[];
  /** The prompt of a count. Default `countingPrompt`. */
  readonly prompt?: (count: number) => PromptParts;
  /** First layer knocked out, one cell each. Default: all. */
  readonly layers?: readonly number[];
  /** How many layers from there on. Default 1; the model's number of layers means "from this layer on". */
  readonly window?: number;
  /** What is not attended to. Default `items`. */
  readonly from?: PatchPositions;
  /** What does not attend. Default `final token`. */
  readonly to?: PatchPositions;
  /** Nor do the answer's own tokens. Default false. */
  readonly answer?: boolean;
  /** Of the control's positions. Default 0. */
  readonly seed?: number;
}

/** One count with the attention of some layers cut. */
export interface KnockoutCell {
  readonly layer: number;
  /** `other tokens`, the control: as many positions of the prompt drawn from all others before the final token but the first, which models
   * use as a resting place; fewer where there are not as many. */
  readonly condition: "knockout" | "other tokens";
  readonly count: number;
  /** Smallest teacher-forced margin of the right answer, its end included, in nats; and its change. */
  readonly gap: number;
  readonly gapChange: number;
  /** Is the right count still what greedy decoding gives? */
  readonly right: boolean;
}

/** All cells, and the counts that were asked. */
export interface Knockouts {
  readonly cells: readonly KnockoutCell[];
  /** Counts answered rightly with nothing knocked out, and those left out. */
  readonly counts: readonly number[];
  readonly failed: readonly number[];
}

/**
 * `layers x counts` cells, and as many controls. Such requests share nothing: each is evaluated alone, from an empty cache.
 *
 * @throws before any work on a layer out of range, a model without attention weights (flash attention on, another
 *   architecture), counts below 1; and when no count is answered rightly
 */
export async function attentionKnockout(model: Model, options: KnockoutOptions = {}): Promise<Knockouts> {
  const {
    from = "items",
    to = "final token",
    window = 1,
    answer = false,
    seed = 0,
    signal,
    onProgress,
  } = options;
  const { prompt = (count: number) => countingPrompt(count) } = options;
  const asked = checkCounts(
    "attentionKnockout",
    options.counts ?? Array.from({ length: 26 }, (_, i) => i + 1),
  );
  const layers = options.layers ?? Array.from({ length: model.info.layers }, (_, layer) => layer);
  if (layers.length === 0) throw new Error("attentionKnockout: no layers; expected at least one");
  for (const layer of layers) requireHook(model, attnPattern(layer), "attentionKnockout");
  if (!Number.isInteger(window) || window < 1)
    throw new Error(`attentionKnockout: window of ${window} layers; expected a whole number from 1`);
  const run = { ...(signal && { signal }), ...(onProgress && { onProgress }) };
  const { endTokens } = model.info;

  const prompts = await model.prompts(asked.map(prompt));
  const answers = await model.answerTokens(asked.map(String));
  const request = (i: number, edits: Edit[]): Request => ({
    tokens: Int32Array.of(...prompts[i]!.tokens, ...answers[i]!),
    edits,
    logits: forcedLogits(prompts[i]!.tokens.length, answers[i]!, endTokens),
  });
  const gapsOf = async (requests: readonly { i: number; edits: Edit[] }[]): Promise<number[]> => {
    const { results } = await model.evaluate(
      requests.map(({ i, edits }) => request(i, edits)),
      run,
    );
    return requests.map(({ i }, r) => forcedMargin(results[r]!.logits!, answers[i]!, endTokens).gap);
  };
  const places = asked.map((count, i) => knockoutPlaces(prompts[i]!, count, from, to, seed));
  const before = await gapsOf(asked.map((_, i) => ({ i, edits: [] })));
  const kept = asked.flatMap((_, i) => (before[i]! > 0 ? [i] : []));
  if (kept.length === 0) {
    throw new Error(
      `attentionKnockout: ${model.info.name} answers none of ${asked.length} counts rightly; choose counts it gets right`,
    );
  }
  const labels = (["knockout", "other tokens"] as const).flatMap((condition) =>
    layers.flatMap((layer) => kept.map((i) => ({ condition, layer, i }))),
  );
  const gaps = await gapsOf(
    labels.map(({ condition, layer, i }) => {
      const { keys, others, queries } = places[i]!;
      const own = answer ? Array.from(answers[i]!, (_, k) => prompts[i]!.tokens.length + k) : [];
      const deepest = Math.min(layer + window, model.info.layers);
      return {
        i,
        edits: Array.from({ length: deepest - layer }, (_, k) => ({
          hook: attnPattern(layer + k),
          positions: [...queries, ...own],
          op: { type: "knockout" as const, keys: condition === "knockout" ? keys : others },
        })),
      };
    }),
  );
  return {
    cells: labels.map(({ condition, layer, i }, c) => ({
      layer,
      condition,
      count: asked[i]!,
      gap: gaps[c]!,
      gapChange: gaps[c]! - before[i]!,
      right: gaps[c]! > 0,
    })),
    counts: kept.map((i) => asked[i]!),
    failed: asked.filter((_, i) => !kept.includes(i)),
  };
}

function knockoutPlaces(
  prompt: Prompt,
  count: number,
  from: PatchPositions,
  to: PatchPositions,
  seed: number,
): { keys: number[]; others: number[]; queries: number[] } {
  const where = `attentionKnockout: the prompt of ${count}`;
  const keys = positionRuns(prompt, from, where).flatMap((run) => [...run]);
  const queries = positionRuns(prompt, to, where).flatMap((run) => [...run]);
  const taken = new Set([...keys, ...queries, 0]);
  const free = Array.from({ length: Math.min(...queries) }, (_, i) => i).filter((i) => !taken.has(i));
  const others = random(seed, "other tokens", count).sample(free, Math.min(keys.length, free.length));
  return { keys, others, queries };
}

/** What cutting one layer costs, with a 95 % interval. */
export interface KnockoutEffect {
  readonly layer: number;
  readonly condition: KnockoutCell["condition"];
  /** `lost`: share of counts no longer answered rightly (Wilson); `gap`: mean change in nats (bootstrap over counts). */
  readonly effect: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
  readonly control: boolean;
}

/** What the knockouts do, by layer and condition, with 95 % intervals. Pure. */
export function knockoutEffects(
  cells: readonly KnockoutCell[],
  measure: "lost" | "gap" = "lost",
  seed = 0,
): KnockoutEffect[] {
  const groups = new Map<string, KnockoutCell[]>();
  for (const cell of cells) {
    const key = `${cell.condition} ${cell.layer}`;
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return [...groups].flatMap(([key, group]) => {
    const { layer, condition } = group[0]!;
    const label = { layer, condition, n: group.length, control: condition !== "knockout" };
    if (measure === "lost") {
      const { estimate, low, high } = wilson(group.filter(({ right }) => !right).length, group.length);
      return [{ ...label, effect: estimate, low, high }];
    }
    if (group.length < 2) return [];
    const mean = (rows: readonly number[]) =>
      rows.reduce((sum, i) => sum + group[i]!.gapChange, 0) / rows.length;
    const { estimate, low, high } = bootstrap(group.length, mean, {
      seed: `${seed} ${key}`,
      resamples: 1000,
    });
    return [{ ...label, effect: estimate, low, high }];
  });
}
