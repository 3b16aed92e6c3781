/**
 * Stable Counting Capacity of whatever answers: the ladder over real prompts.
 *
 * Paper: section 1 and Methods, "Adaptive estimation of Stable Counting Capacity"; for records, "Hierarchical rule tracking
 * assay".
 */
import type { RunOptions } from "../engine/request.js";
import type { Provenance } from "../store/provenance.js";
import { type CountTask, countingTask } from "../tasks/count-task.js";
import { type FormatRow, formatTable } from "../tasks/format-class.js";
import { type LogOptions, useLog } from "./answer-log.js";
import { type Answerer, type Asked, firstBeyondContext, isContextError } from "./answerer.js";
import { type LadderOptions, type LadderResult, ladder, type Tier } from "./ladder.js";
import { type CountTrial, readTrial } from "./trial.js";

/** Options of `countingCapacity`: the ladder's, the engine's, and what is counted. */
export interface CapacityOptions extends LadderOptions, RunOptions, LogOptions {
  /** What is counted. Default `countingTask()`: `a, a, a, ...`. */
  readonly task?: CountTask;
  /** After each tier: a line that shows the bracket as it closes. `console.log` does. */
  readonly onTier?: (line: string) => void;
}

/** The ladder's result for one model, every trial included. */
export interface Capacity extends Omit<LadderResult, "tiers"> {
  readonly model: string;
  readonly task: string;
  readonly tiers: readonly Tier<CountTrial>[];
  /** Every trial of every tier, in the order they were asked. */
  readonly trials: readonly CountTrial[];
  readonly formats: readonly FormatRow[];
  readonly cost: CapacityCost;
  /** Longest prompt with its answer, in tokens, that the answerer takes; null where it is not known. */
  readonly context: number | null;
  readonly provenance: Provenance;
}

/** Trials, tokens and time of a ladder. */
export interface CapacityCost {
  readonly trials: number;
  readonly ms: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** Prompts and answers one by one would have cost `tokensAsked`; sharing what the prompts of a tier have in common left
   * `tokensEvaluated`. Null for a server. */
  readonly tokensAsked: number | null;
  readonly tokensEvaluated: number | null;
  /** 1 - evaluated / asked. */
  readonly tokensSaved: number | null;
}

/**
 * Runs the ladder. The K trials of a tier are one batch, also of a `log`. A ladder is a chain of decisions, and the prompts of a tier
 * share most of their tokens, so it is not cut into shards; ladders over seeds and motifs are (`seededCapacities`, `motifCapacities`). A tier whose longest prompt does not fit the context ends the ladder with
 * what was found below it, and says so in `end` and `reason`.
 *
 * @example
 * const model = await open("tally-400k");
 * const capacity = await countingCapacity(model, { seed: 1, onTier: console.log });
 * capacity.label // "64", with capacity.bracket, capacity.tiers and capacity.trials behind it
 */
export async function countingCapacity(asked: Asked, options: CapacityOptions = {}): Promise<Capacity> {
  const { log, ...climbing } = options;
  const about = { assay: "counting capacity", seed: options.seed ?? 1 };
  return useLog(asked, log === undefined ? {} : { log }, about, (subject) => climb(subject, climbing));
}

async function climb(answerer: Answerer, options: Omit<CapacityOptions, "log">): Promise<Capacity> {
  const { task = countingTask(), onTier, signal, onProgress, mode, ...rules } = options;
  const run: RunOptions = {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(mode && { mode }),
  };
  const batches: { asked: number | null; evaluated: number | null; ms: number }[] = [];
  const found = await ladder<CountTrial>(
    async (trials) => {
      const length = trials[0]?.length ?? 0;
      const prompts = trials.map(({ target, k }) => task.prompt(target, `${rules.seed ?? 1}/${length}/${k}`));
      const beyond = await firstBeyondContext(answerer, prompts);
      if (beyond !== undefined) return { outOfReach: `tier ${length}: ${beyond.why}` };
      const date = new Date().toISOString();
      const batch = await answerer.answer(prompts, run).catch((error: unknown) => {
        if (isContextError(error)) return { outOfReach: `tier ${length}: ${(error as Error).message}` };
        throw error;
      });
      if ("outOfReach" in batch) return batch;
      batches.push({
        asked: batch.tokensAsked ?? null,
        evaluated: batch.tokensEvaluated ?? null,
        ms: batch.ms,
      });
      return batch.answers.map((answer, k) =>
        readTrial(
          {
            model: answerer.name,
            task,
            prompt: prompts[k]?.user ?? "",
            target: trials[k]?.target ?? 0,
            tier: length,
            k,
            ms: batch.runs?.[k]?.ms ?? batch.ms / batch.answers.length,
            decoding: answerer.decoding,
            date: batch.runs?.[k]?.date ?? date,
          },
          answer,
        ),
      );
    },
    { ...rules, onTier: (tier, bracket) => onTier?.(tierLine(tier, bracket)) },
  );
  const trials = found.tiers.flatMap((tier) => tier.trials);
  const { seed, ...numbers } = found.rules;
  return {
    ...found,
    model: answerer.name,
    task: task.name,
    trials,
    formats: formatTable(trials),
    cost: costOf(trials, batches),
    context: answerer.context ?? null,
    provenance: answerer.provenance({ assay: "counting capacity", seed, ...numbers, task: task.settings }),
  };
}

function costOf(
  trials: readonly CountTrial[],
  batches: readonly { asked: number | null; evaluated: number | null; ms: number }[],
): CapacityCost {
  const total = (values: readonly (number | null)[]) =>
    values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const known = batches.length > 0 && batches.every(({ evaluated }) => evaluated !== null);
  const tokensAsked = known ? total(batches.map(({ asked }) => asked)) : null;
  const tokensEvaluated = known ? total(batches.map(({ evaluated }) => evaluated)) : null;
  return {
    trials: trials.length,
    ms: total(batches.map(({ ms }) => ms)),
    inputTokens: total(trials.map(({ inputTokens }) => inputTokens)),
    outputTokens: total(trials.map(({ outputTokens }) => outputTokens)),
    reasoningTokens: total(trials.map(({ reasoningTokens }) => reasoningTokens)),
    tokensAsked,
    tokensEvaluated,
    tokensSaved: tokensAsked && tokensEvaluated !== null ? 1 - tokensEvaluated / tokensAsked : null,
  };
}

/** `tier   64  nMAE 0.012  exact 81 %  bias +0.3 %  stable   [64, ...)` */
export function tierLine(
  tier: Pick<Tier, "length" | "nMAE" | "exact" | "bias" | "missing" | "stable">,
  [stable, failed]: readonly [number | null, number | null],
): string {
  // An answer of sixteen digits makes an nMAE of billions.
  const short = (value: number, digits: number) =>
    Math.abs(value) < 1000 ? value.toFixed(digits) : value.toExponential(1);
  const percent = (share: number, digits: number) => `${short(100 * share, digits)} %`;
  const bias = Number.isNaN(tier.bias) ? "none" : `${tier.bias < 0 ? "" : "+"}${percent(tier.bias, 1)}`;
  const missing = tier.missing === 0 ? "" : `  ${tier.missing} without an integer`;
  return (
    `tier ${String(tier.length).padStart(5)}  nMAE ${short(tier.nMAE, 3)}  exact ${percent(tier.exact, 0).padStart(5)}  ` +
    `bias ${bias}${missing}  ${tier.stable ? "stable" : "failed"}   bracket [${stable ?? "none"}, ${failed ?? "..."})`
  );
}
