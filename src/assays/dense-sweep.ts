/**
 * Dense sweep: every count in a range, where the ladder only samples.
 *
 * Paper: Methods, "Dense sweeps and motif perturbations", and Fig. 2a, b.
 */
import type { RunOptions } from "../engine/request.js";
import type { Provenance } from "../store/provenance.js";
import { checkShard, ownsUnit, type Shard, shardNote } from "../store/shard.js";
import { type CountTask, countingTask } from "../tasks/count-task.js";
import { type LogOptions, useLog } from "./answer-log.js";
import { type Answerer, type Answers, type Asked, firstBeyondContext } from "./answerer.js";
import { type Answered, type LadderOptions, type LadderResult, ladder } from "./ladder.js";
import { type CountTrial, readTrial } from "./trial.js";

/** Which counts are asked, how often, and of what task. */
export interface SweepOptions extends RunOptions, LogOptions {
  /** First and last count, both included. */
  readonly from?: number;
  readonly to: number;
  /** Default 1: every count. */
  readonly step?: number;
  /** Trials at each count. Default 1: a greedy answer to the same prompt is always the same. More only where the task draws its
   * prompts (records) or the decoding samples. */
  readonly trials?: number;
  readonly task?: CountTask;
  /** Prompts asked at once. Default 64. */
  readonly batch?: number;
  /** Only every n-th batch: one piece of the sweep, whose log is to be merged with the others'. Its boundary is not known. */
  readonly shard?: Shard;
}

/** Every trial of a sweep, and where the errors begin. */
export interface Sweep {
  readonly model: string;
  readonly task: string;
  /** By rising count. */
  readonly trials: readonly CountTrial[];
  readonly boundary: Boundary;
  /** Why the sweep ended before `to`; absent where it did not. */
  readonly stopped?: string;
  readonly tokensSaved: number | null;
  readonly provenance: Provenance;
}

/** Where right answers end: four readings of the same trials. */
export interface Boundary {
  /** Largest count up to which every count asked is exact, from the smallest on; null if the first already is not. */
  readonly exactTo: number | null;
  /** Smallest count with a wrong answer; null if there is none. */
  readonly firstError: number | null;
  /** Largest count that is exact, lucky hits beyond the boundary included. */
  readonly lastExact: number | null;
  /** Share of the counts asked that are exact. */
  readonly exact: number;
}

/**
 * Asks every count from `from` (default 1) to `to`. Counts beyond the model's context end the sweep, and `stopped` says so.
 *
 * @example
 * const sweep = await denseSweep(model, { to: 128 });
 * sweep.boundary.exactTo // 61
 */
export async function denseSweep(asked: Asked, options: SweepOptions): Promise<Sweep> {
  const { from = 1, to, step = 1, trials = 1, batch = 64 } = options;
  for (const [name, value] of Object.entries({ from, to, step, trials, batch }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new Error(`denseSweep: ${name} ${value}; expected a whole number from 1`);
  if (to < from) throw new Error(`denseSweep: from ${from} to ${to}; expected from <= to`);
  checkShard("denseSweep", options.shard, options.log);
  return useLog(asked, options, { assay: "dense sweep" }, (subject) => sweep(subject, options));
}

async function sweep(answerer: Answerer, options: SweepOptions): Promise<Sweep> {
  const { from = 1, to, step = 1, trials = 1, task = countingTask(), batch = 64, shard, ...rest } = options;
  const { log: _log, ...run } = rest;
  const asked: { target: number; k: number }[] = [];
  for (let target = from; target <= to; target += step)
    for (let k = 0; k < trials; k += 1) asked.push({ target, k });
  // Trials of one count stay together.
  const size = Math.ceil(batch / trials) * trials;
  const rows: CountTrial[] = [];
  const costs: Answers[] = [];
  let stopped: string | undefined;
  for (let at = 0; at < asked.length && stopped === undefined; at += size) {
    if (!ownsUnit(shard, at / size)) continue;
    const group = asked.slice(at, at + size);
    const prompts = group.map(({ target, k }) => task.prompt(target, `sweep/${target}/${k}`));
    // Counts that fit are asked even when the group's longest does not.
    const beyond = await firstBeyondContext(answerer, prompts);
    const fitting = beyond?.index ?? prompts.length;
    if (beyond !== undefined) stopped = `count ${group[fitting]?.target}: ${beyond.why}`;
    if (fitting === 0) break;
    const date = new Date().toISOString();
    const answers = await answerer.answer(prompts.slice(0, fitting), run);
    costs.push(answers);
    for (const [i, answer] of answers.answers.entries())
      rows.push(
        readTrial(
          {
            model: answerer.name,
            task,
            prompt: prompts[i]?.user ?? "",
            target: group[i]?.target ?? 0,
            k: group[i]?.k ?? 0,
            ms: answers.runs?.[i]?.ms ?? answers.ms / answers.answers.length,
            decoding: answerer.decoding,
            date: answers.runs?.[i]?.date ?? date,
          },
          answer,
        ),
      );
  }
  const evaluated = costs.reduce((sum, cost) => sum + (cost.tokensEvaluated ?? Number.NaN), 0);
  const whole = costs.reduce((sum, cost) => sum + (cost.tokensAsked ?? Number.NaN), 0);
  return {
    model: answerer.name,
    task: task.name,
    trials: rows,
    boundary: shard === undefined ? boundaryOf(rows) : UNKNOWN,
    ...(stopped === undefined ? {} : { stopped }),
    ...(shard === undefined ? {} : { stopped: shardNote(shard) }),
    tokensSaved: Number.isNaN(evaluated / whole) ? null : 1 - evaluated / whole,
    provenance: answerer.provenance({ assay: "dense sweep", from, to, step, trials, task: task.settings }),
  };
}

/** Of a piece of a sweep: gaps have no boundary. */
const UNKNOWN: Boundary = { exactTo: null, firstError: null, lastExact: null, exact: Number.NaN };

/** Where a sweep stops being exact. A count with several trials is exact only if all of them are. */
export function boundaryOf(
  trials: readonly { readonly target: number; readonly exact: boolean }[],
): Boundary {
  const byCount = new Map<number, boolean>();
  for (const { target, exact } of trials) byCount.set(target, (byCount.get(target) ?? true) && exact);
  const counts = [...byCount].sort(([a], [b]) => a - b);
  const firstWrong = counts.findIndex(([, exact]) => !exact);
  const right = counts.filter(([, exact]) => exact);
  return {
    exactTo: (firstWrong < 0 ? counts.at(-1) : counts[firstWrong - 1])?.[0] ?? null,
    firstError: counts[firstWrong]?.[0] ?? null,
    lastExact: right.at(-1)?.[0] ?? null,
    exact: counts.length === 0 ? 0 : right.length / counts.length,
  };
}

/**
 * The ladder that a model with exactly these answers climbs: what the sweep predicts for any seed, without asking again. Greedy
 * answers to one prompt are always the same, so for homogeneous counting this is the ladder itself, and the distance between
 * `boundary.exactTo` and its capacity is the ladder's tolerance: an nMAE below 0.05 forgives errors, and targets reach only
 * 1.2 L. A tier with targets that the sweep does not have is out of reach.
 */
export function ladderFromSweep(
  trials: readonly { readonly target: number; readonly prediction: number | null }[],
  options: LadderOptions = {},
): Promise<LadderResult<Answered>> {
  const answers = new Map(trials.map(({ target, prediction }) => [target, prediction]));
  return ladder(async (asked) => {
    const unknown = asked.find(({ target }) => !answers.has(target));
    if (unknown !== undefined)
      return {
        outOfReach: `tier ${unknown.length} asks for ${unknown.target}, which the sweep does not have`,
      };
    return asked.map(({ target }) => ({ prediction: answers.get(target) ?? null }));
  }, options);
}

/** By how much a capacity depends on the seed of its targets. */
export interface CapacitySpread {
  /** One label a seed, in the order of the seeds. */
  readonly labels: readonly string[];
  /** How often each label came, from the smallest capacity on. */
  readonly counts: readonly { readonly label: string; readonly plotted: number; readonly seeds: number }[];
  /** Smallest, middle and largest capacity, 0 for `<32`. */
  readonly smallest: number;
  readonly median: number;
  readonly largest: number;
}

/** How a ladder's result varies with its seed: which targets it happens to ask. Refuses an empty list. */
export function capacitySpread(results: readonly Pick<LadderResult, "label" | "plotted">[]): CapacitySpread {
  if (results.length === 0) throw new Error("capacitySpread: no results; expected at least one ladder");
  const sorted = results.map(({ plotted }) => plotted).sort((a, b) => a - b);
  const counts = new Map<string, { label: string; plotted: number; seeds: number }>();
  for (const { label, plotted } of results)
    counts.set(label, { label, plotted, seeds: (counts.get(label)?.seeds ?? 0) + 1 });
  const middle = sorted.length / 2;
  return {
    labels: results.map(({ label }) => label),
    counts: [...counts.values()].sort((a, b) => a.plotted - b.plotted),
    smallest: sorted[0] ?? 0,
    median: ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2,
    largest: sorted.at(-1) ?? 0,
  };
}
