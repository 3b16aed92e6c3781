/**
 * The adaptive randomised ladder of Stable Counting Capacity: a state machine over tiers that knows no model.
 *
 * Paper: Methods, "Adaptive estimation of Stable Counting Capacity". Start at L = 32; a stable tier doubles L; the first
 * failed one begins the bisection between the highest stable and the lowest failed tier. Failing at the start is `<32`.
 * How far the paper's ladder grows upward and how fine it bisects is not in its text: doubling, and a resolution of 32,
 * are ours (they reproduce its example: 256 stable, 512 failed, 384 stable, 448 failed, 416 stable).
 */
import type { RandomKey } from "../stats/random.js";
import { scoreTier, type TierScore, tierTargets } from "./tier.js";

/** The ladder's rules (second paper, section 3). */
export interface LadderOptions {
  /** Length of the first tier, in items. Default 32. */
  readonly start?: number;
  /** Trials a tier (K). Default 16. */
  readonly trials?: number;
  /** Targets lie within this share of the tier's length. Default 0.2: U(0.8 L, 1.2 L). */
  readonly spread?: number;
  /** A tier is stable when its nMAE is below this. Default 0.05. */
  readonly threshold?: number;
  /** The bisection ends when stable and failed tier are at most this far apart, in items. Default 32. */
  readonly resolution?: number;
  /** Longest tier that is tried. Default 65,536. A model that is stable there ends as `>=65536`. */
  readonly ceiling?: number;
  /** Seed of the targets. Default 1. */
  readonly seed?: RandomKey;
  /** Targets of a tier in place of the seeded draw: to replay a published run. */
  readonly targets?: (length: number) => readonly number[];
}

/** The rules where nothing else is said. */
export const ladderDefaults = {
  start: 32,
  trials: 16,
  spread: 0.2,
  threshold: 0.05,
  resolution: 32,
  ceiling: 65_536,
  seed: 1,
} as const;

/** The numbers a ladder ran with. */
export interface LadderRules {
  readonly start: number;
  readonly trials: number;
  readonly spread: number;
  readonly threshold: number;
  readonly resolution: number;
  readonly ceiling: number;
  readonly seed: RandomKey;
}

/** One target of a tier. */
export interface LadderTrial {
  /** Length of the tier. */
  readonly length: number;
  /** Index within the tier, from 0. */
  readonly k: number;
  /** The true count. */
  readonly target: number;
}

/** What is known of a trial once it is answered; an assay adds what it wants to keep. */
export interface Answered {
  /** null: the answer has no integer. */
  readonly prediction: number | null;
}

/** Said instead of answers when a tier cannot be asked at all. */
export interface OutOfReach {
  /** One line: what is too long for what. */
  readonly outOfReach: string;
}

/** One tier of a ladder, with its score and trials. */
export interface Tier<A extends Answered = Answered> extends TierScore {
  readonly length: number;
  readonly phase: "up" | "bisection";
  readonly trials: readonly (LadderTrial & A)[];
}

/** - `bracketed`: the highest stable tier and the lowest failed one lie within the resolution;
 * - `belowStart`: the first tier failed;
 * - `ceiling`: stable at the longest tier that may be tried;
 * - `outOfReach`: the next tier cannot be asked, as a rule because it is longer than the model's context. */
export type LadderEnd = "bracketed" | "belowStart" | "ceiling" | "outOfReach";

/** Where a ladder ended, and its tiers in the order they were asked. */
export interface LadderResult<A extends Answered = Answered> {
  /** Highest stable tier; null if none is (`<32`). */
  readonly capacity: number | null;
  /** `416`, `<32`, `>=512` (stable as far as it could be tried). */
  readonly label: string;
  /** For aggregate plots: the capacity, 0 for `<32`. */
  readonly plotted: number;
  /** Highest stable and lowest failed tier; null where there is none. */
  readonly bracket: readonly [stable: number | null, failed: number | null];
  readonly end: LadderEnd;
  /** Why, in a line. */
  readonly reason: string;
  /** In the order they were visited, with every trial. */
  readonly tiers: readonly Tier<A>[];
  readonly sensitivity: MissingSensitivity;
  readonly rules: LadderRules;
}

/** What the rule for answers without an integer (an error of the tier's length) does to a result. */
export interface MissingSensitivity {
  /** Answers without an integer in the whole ladder. */
  readonly missing: number;
  /** Tiers that failed only by that rule: stable if such answers were left out. */
  readonly decided: readonly number[];
  /** The ladder's label if they were left out; null when that ladder would have gone to a tier that was not visited. */
  readonly labelWithout: string | null;
}

/** A tier that was visited, and whether it was stable. */
export type Verdict = { readonly length: number; readonly stable: boolean };
/** The next tier of a ladder, or how it ended. */
export type Step =
  | { readonly next: number; readonly phase: "up" | "bisection" }
  | { readonly end: "bracketed" | "belowStart" | "ceiling" };

/**
 * The next tier to visit, or how the ladder ended, given the tiers so far. It depends on nothing else, so a ladder can be
 * stopped, stored and taken up again. Highest stable and lowest failed tier decide, whatever the order of the visits.
 */
export function nextStep(visited: readonly Verdict[], rules: LadderRules): Step {
  const [stable, failed] = bracketOf(visited);
  if (failed === null) {
    if (stable === null) return { next: rules.start, phase: "up" };
    if (stable >= rules.ceiling) return { end: "ceiling" };
    return { next: Math.min(2 * stable, rules.ceiling), phase: "up" };
  }
  if (stable === null) return { end: "belowStart" };
  const middle = Math.floor((stable + failed) / 2);
  if (failed - stable <= rules.resolution || middle === stable) return { end: "bracketed" };
  return { next: middle, phase: "bisection" };
}

function bracketOf(visited: readonly Verdict[]): [number | null, number | null] {
  const failed = visited.filter(({ stable }) => !stable).map(({ length }) => length);
  const lowest = failed.length === 0 ? null : Math.min(...failed);
  const stable = visited.filter((tier) => tier.stable && (lowest === null || tier.length < lowest));
  return [stable.length === 0 ? null : Math.max(...stable.map(({ length }) => length)), lowest];
}

/** Fills in the defaults and refuses numbers that no ladder can run with. */
export function ladderRules(options: LadderOptions = {}): LadderRules {
  const { start, trials, spread, threshold, resolution, ceiling, seed } = { ...ladderDefaults, ...options };
  const whole = { start, trials, resolution, ceiling };
  for (const [name, value] of Object.entries(whole))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new Error(`ladder: ${name} ${value}; expected a whole number from 1`);
  if (!(spread >= 0 && spread < 1))
    throw new Error(`ladder: spread ${spread}; expected 0 to below 1, e.g. 0.2`);
  if (!(threshold > 0)) throw new Error(`ladder: threshold ${threshold}; expected above 0, e.g. 0.05`);
  if (ceiling < start)
    throw new Error(`ladder: ceiling ${ceiling} below start ${start}; expected at least the start`);
  return { start, trials, spread, threshold, resolution, ceiling, seed };
}

/**
 * Runs the ladder: `ask` gets all trials of a tier at once and gives back their answers in the same order, or says that the
 * tier is out of reach. A model, a server, a log and a scripted guesser are asked in the same way.
 *
 * `onTier` is called after each tier with the bracket so far.
 *
 * @example
 * const exactTo50 = await ladder(async (trials) => trials.map(({ target }) => ({ prediction: Math.min(target, 50) })));
 * exactTo50.label // "32"
 */
export async function ladder<A extends Answered>(
  ask: (trials: readonly LadderTrial[]) => Promise<readonly A[] | OutOfReach>,
  options: LadderOptions & {
    readonly onTier?: (tier: Tier<A>, bracket: readonly [number | null, number | null]) => void;
  } = {},
): Promise<LadderResult<A>> {
  const rules = ladderRules(options);
  const tiers: Tier<A>[] = [];
  for (;;) {
    const step = nextStep(tiers, rules);
    if ("end" in step) return resultOf(tiers, rules, step.end, reasonOf(step.end, tiers, rules));
    const length = step.next;
    const targets = options.targets?.(length) ?? tierTargets(length, rules);
    const trials = targets.map((target, k) => ({ length, k, target }));
    const answers = await ask(trials);
    if ("outOfReach" in answers) return resultOf(tiers, rules, "outOfReach", answers.outOfReach);
    const predictions = answers.map(({ prediction }) => prediction);
    const tier: Tier<A> = {
      length,
      phase: step.phase,
      ...scoreTier(length, targets, predictions, rules.threshold),
      trials: trials.map((trial, k) => ({ ...(answers[k] as A), ...trial })),
    };
    tiers.push(tier);
    options.onTier?.(tier, bracketOf(tiers));
  }
}

function reasonOf(end: LadderEnd, tiers: readonly Verdict[], rules: LadderRules): string {
  const [stable, failed] = bracketOf(tiers);
  if (end === "belowStart") return `failed at the first tier, ${failed}`;
  if (end === "ceiling") return `stable at ${stable}, the longest tier allowed`;
  return `stable at ${stable}, failed at ${failed}, at most ${rules.resolution} apart`;
}

function resultOf<A extends Answered>(
  tiers: readonly Tier<A>[],
  rules: LadderRules,
  end: LadderEnd,
  reason: string,
): LadderResult<A> {
  const bracket = bracketOf(tiers);
  const [capacity] = bracket;
  return {
    capacity,
    label: labelOf(bracket, end, rules),
    plotted: capacity ?? 0,
    bracket,
    end,
    reason,
    tiers,
    sensitivity: missingSensitivity(tiers, rules, end),
    rules,
  };
}

function labelOf(
  [stable]: readonly [number | null, number | null],
  end: LadderEnd,
  rules: LadderRules,
): string {
  if (end === "belowStart") return `<${rules.start}`;
  if (stable === null) return "not measured";
  return end === "bracketed" ? `${stable}` : `>=${stable}`;
}

/** Plays the ladder again over the tiers that were visited, with the verdicts that leave out answers without an integer. */
function missingSensitivity(tiers: readonly Tier[], rules: LadderRules, end: LadderEnd): MissingSensitivity {
  const missing = tiers.reduce((sum, tier) => sum + tier.missing, 0);
  const decided = tiers.filter((tier) => !tier.stable && tier.stableParsed).map(({ length }) => length);
  const replayed: Verdict[] = [];
  for (;;) {
    const step = nextStep(replayed, rules);
    if ("end" in step) {
      return { missing, decided, labelWithout: labelOf(bracketOf(replayed), step.end, rules) };
    }
    const tier = tiers.find(({ length }) => length === step.next);
    if (tier === undefined) {
      const same = end === "outOfReach" && decided.length === 0;
      return { missing, decided, labelWithout: same ? labelOf(bracketOf(replayed), end, rules) : null };
    }
    replayed.push({ length: tier.length, stable: tier.stableParsed });
  }
}
