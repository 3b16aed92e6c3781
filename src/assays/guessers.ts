/**
 * False positives of the ladder: how often does a strategy that does not count reach a numeric capacity?
 *
 * Paper: Methods, "The randomized ladder bounds the false-positive rate for guessing-based strategies at approximately
 * 0.025 % (Supplementary Note 3)". A constant guess of 32 at L = 32 passes with a probability of exactly 2.40e-4.
 */
import { type Interval, wilson } from "../stats/proportion.js";
import { type Random, random } from "../stats/random.js";
import { type LadderOptions, type LadderRules, ladderRules, nextStep } from "./ladder.js";

/** A strategy that answers without counting. */
export type Guesser =
  /** Always the same number. */
  | { readonly kind: "constant"; readonly value: number }
  /** Sees the size roughly (Gaussian noise of `spread` times the true count), then says the nearest of the attractors. */
  | { readonly kind: "attractors"; readonly values: readonly number[]; readonly spread: number }
  /** Sees the size roughly and says it: Gaussian noise of `spread` times the true count, rounded. With a spread of 6 % it
   * has an nMAE of about 0.048 and passes often: the ladder measures tolerance, not counting. */
  | { readonly kind: "magnitude"; readonly spread: number }
  /** Remembers the true counts of the tier before (of another first tier, at the start) and says one of them. */
  | { readonly kind: "lastTier" };

/** How often a strategy that does not count passes the ladder's first tier. */
export interface FalsePositives {
  readonly guesser: Guesser;
  /** Share of ladders whose first tier is passed, with Wilson's interval. */
  readonly rate: Interval;
  /** By convolution, where the strategy is a constant. */
  readonly exact?: number;
  readonly passed: number;
  readonly ladders: number;
  /** How many ladders ended with each capacity (highest stable tier), rising; `<32` is not among them. */
  readonly capacities: readonly { readonly capacity: number; readonly ladders: number }[];
  readonly rules: LadderRules;
}

/** The ladder's rules, and how many ladders are simulated. */
export interface FalsePositiveOptions extends LadderOptions {
  /** Ladders to simulate. Default 1,000,000. */
  readonly ladders?: number;
  /** Level of the interval. Default 0.95. */
  readonly level?: number;
}

/**
 * Simulates whole ladders of a guesser. Start, K, spread and threshold are parameters, as in `ladder`; the draws come from one
 * stream (not keyed by trial), so they are not those of a ladder with the same seed. A tier ends as soon as its errors can
 * no longer pass. Cost: below a microsecond a trial.
 *
 * @example
 * falsePositives({ kind: "constant", value: 32 }).exact // 0.00024
 */
export function falsePositives(guesser: Guesser, options: FalsePositiveOptions = {}): FalsePositives {
  const { ladders = 1_000_000, level = 0.95 } = options;
  if (!Number.isSafeInteger(ladders) || ladders < 1)
    throw new Error(`falsePositives: ${ladders} ladders; expected a whole number from 1`);
  checkGuesser(guesser);
  const rules = ladderRules(options);
  const draw = random(rules.seed, "guesser", JSON.stringify(guesser));
  const plays = new Map<number, number>();
  for (let i = 0; i < ladders; i += 1) {
    const capacity = oneLadder(guesser, rules, draw);
    if (capacity !== null) plays.set(capacity, (plays.get(capacity) ?? 0) + 1);
  }
  const capacities = [...plays]
    .sort(([a], [b]) => a - b)
    .map(([capacity, count]) => ({ capacity, ladders: count }));
  const passed = capacities.reduce((sum, row) => sum + row.ladders, 0);
  return {
    guesser,
    rate: wilson(passed, ladders, level),
    ...(guesser.kind === "constant" ? { exact: constantPassProbability(guesser.value, rules) } : {}),
    passed,
    ladders,
    capacities,
    rules,
  };
}

function checkGuesser(guesser: Guesser): void {
  const { kind } = guesser;
  const numbers = kind === "constant" ? [guesser.value] : kind === "attractors" ? guesser.values : [1];
  const spread = kind === "attractors" || kind === "magnitude" ? guesser.spread : 0;
  if (
    numbers.length === 0 ||
    !numbers.every(Number.isInteger) ||
    !(spread >= 0 && spread < Number.POSITIVE_INFINITY)
  )
    throw new Error(
      `falsePositives: ${JSON.stringify(guesser)}; expected whole numbers to say and a spread from 0`,
    );
}

function oneLadder(guesser: Guesser, rules: LadderRules, draw: Random): number | null {
  const visited: { length: number; stable: boolean }[] = [];
  let memory: Int32Array | undefined;
  for (;;) {
    const step = nextStep(visited, rules);
    if ("end" in step) {
      const stable = visited.filter((tier) => tier.stable);
      return stable.length === 0 ? null : Math.max(...stable.map(({ length }) => length));
    }
    if (guesser.kind === "lastTier") {
      memory ??= drawTargets(rules.start, rules, draw);
      const targets = drawTargets(step.next, rules, draw);
      visited.push({ length: step.next, stable: passes(targets, step.next, rules, recall(memory, draw)) });
      memory = targets;
    } else {
      visited.push({ length: step.next, stable: passesLive(guesser, step.next, rules, draw) });
    }
  }
}

const recall = (memory: Int32Array, draw: Random) => (): number =>
  memory[draw.integer(0, memory.length - 1)] as number;

function drawTargets(length: number, { trials, spread }: LadderRules, draw: Random): Int32Array {
  const targets = new Int32Array(trials);
  for (let k = 0; k < trials; k += 1)
    targets[k] = Math.round(draw.uniform((1 - spread) * length, (1 + spread) * length));
  return targets;
}

function passes(
  targets: Int32Array,
  length: number,
  rules: LadderRules,
  guess: (x: number) => number,
): boolean {
  let errors = 0;
  for (const target of targets) errors += Math.abs(guess(target) - target);
  return errors / (rules.trials * length) < rules.threshold;
}

/** Draws target and guess trial by trial, and stops when the errors so far already fail the tier. */
function passesLive(
  guesser: Exclude<Guesser, { kind: "lastTier" }>,
  length: number,
  { trials, spread, threshold }: LadderRules,
  draw: Random,
): boolean {
  const low = (1 - spread) * length;
  const high = (1 + spread) * length;
  let errors = 0;
  for (let k = 0; k < trials; k += 1) {
    const target = Math.round(draw.uniform(low, high));
    errors += Math.abs(say(guesser, target, draw) - target);
    if (errors / (trials * length) >= threshold) return false;
  }
  return true;
}

function say(guesser: Exclude<Guesser, { kind: "lastTier" }>, target: number, draw: Random): number {
  if (guesser.kind === "constant") return guesser.value;
  const seen = draw.normal(target, guesser.spread * target);
  if (guesser.kind === "magnitude") return Math.round(seen);
  let nearest = guesser.values[0] as number;
  for (const value of guesser.values) if (Math.abs(value - seen) < Math.abs(nearest - seen)) nearest = value;
  return nearest;
}

/**
 * The exact probability that one and the same answer passes the first tier: the distribution of |value - target|, convolved K
 * times, below `threshold x K x start`. Rounding makes the two outermost targets rarer than the others (at L = 32, 26 and 38
 * have 0.9 of the weight).
 */
export function constantPassProbability(value: number, options: LadderOptions = {}): number {
  const rules = ladderRules(options);
  const { start, trials, threshold } = rules;
  const single: number[] = [];
  for (const [target, p] of targetDistribution(start, rules.spread)) {
    const error = Math.abs(value - target);
    single[error] = (single[error] ?? 0) + p;
  }
  let sum = [1];
  for (let k = 0; k < trials; k += 1) {
    const next = new Array<number>(sum.length + single.length - 1).fill(0);
    for (const [i, p] of sum.entries())
      for (const [error, q] of single.entries()) if (q) next[i + error] = (next[i + error] ?? 0) + p * q;
    sum = next;
  }
  return sum.reduce((total, p, errors) => (errors / (trials * start) < threshold ? total + p : total), 0);
}

/** Probability of each target of a tier: what `round(U((1 - spread) L, (1 + spread) L))` gives. */
export function targetDistribution(length: number, spread: number): Map<number, number> {
  const low = (1 - spread) * length;
  const high = (1 + spread) * length;
  if (high === low) return new Map([[Math.round(low), 1]]);
  const out = new Map<number, number>();
  for (let target = Math.round(low); target <= Math.round(high); target += 1) {
    const p = (Math.min(high, target + 0.5) - Math.max(low, target - 0.5)) / (high - low);
    if (p > 0) out.set(target, p);
  }
  return out;
}

/** The guessers of the paper's argument and some harder ones, at a first tier of 32. */
export const guessers: readonly Guesser[] = [
  { kind: "constant", value: 32 },
  { kind: "constant", value: 30 },
  { kind: "attractors", values: [10, 20, 30, 40, 50, 100], spread: 0.2 },
  { kind: "attractors", values: [25, 30, 32, 35, 40], spread: 0.2 },
  { kind: "magnitude", spread: 0.2 },
  { kind: "magnitude", spread: 0.1 },
  { kind: "magnitude", spread: 0.06 },
  { kind: "lastTier" },
];

/** A guesser in a few words: `always 32`, `magnitude, noise 10 %`. */
export function guesserName(guesser: Guesser): string {
  const noise = (spread: number) => `noise ${Number((100 * spread).toPrecision(3))} %`;
  if (guesser.kind === "constant") return `always ${guesser.value}`;
  if (guesser.kind === "magnitude") return `magnitude, ${noise(guesser.spread)}`;
  if (guesser.kind === "attractors")
    return `nearest of ${guesser.values.join(", ")}, ${noise(guesser.spread)}`;
  return "a count of the last tier";
}
