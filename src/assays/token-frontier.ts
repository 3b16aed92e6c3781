/**
 * Tokens spent against capacity reached, and what reasoning tokens buy.
 *
 * Paper: section 2 and Fig. 3a, b ("an empirical efficiency frontier for stable counting that is approximately two consumed tokens per
 * true count"); Methods, "matched-pair analyses".
 */
import type { LadderResult } from "./ladder.js";
import type { CountTrial } from "./trial.js";

/** A model's capacity and the tokens it takes there. */
export interface FrontierRow {
  readonly model: string;
  /** 0 for `<32`. */
  readonly capacity: number;
  readonly label: string;
  /** Mean tokens of a trial at the highest stable tier (of the first tier for `<32`): prompt and answer, hidden reasoning included. */
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** tokens / mean true count of these trials. */
  readonly tokensPerItem: number;
  /** Context in tokens, and the share of it that the trials at capacity use; null where the context is not known. */
  readonly context: number | null;
  readonly contextShare: number | null;
  /** No other model reaches as much with fewer tokens: on the frontier. `<32` never is. */
  readonly frontier: boolean;
}

/** What is read of a capacity. */
export interface MeasuredCapacity extends Pick<LadderResult, "plotted" | "label" | "capacity"> {
  readonly model: string;
  readonly trials: readonly CountTrial[];
  readonly context?: number | null;
}

/** One row a model, by rising capacity. Trials without token counts (imported logs) are left out; a model with none is refused. */
export function tokenFrontier(capacities: readonly MeasuredCapacity[]): FrontierRow[] {
  const rows = capacities.map((measured) => {
    const { model, plotted, label, context = null } = measured;
    const own = boundaryTrials(measured).filter(
      ({ inputTokens, outputTokens }) => inputTokens !== null && outputTokens !== null,
    );
    if (own.length === 0)
      throw new Error(`tokenFrontier: ${model} has no trials with token counts at ${label}; leave it out`);
    const mean = (read: (trial: CountTrial) => number | null) =>
      own.reduce((sum, trial) => sum + (read(trial) ?? 0), 0) / own.length;
    const inputTokens = mean((trial) => trial.inputTokens);
    const outputTokens = mean((trial) => trial.outputTokens);
    const tokens = inputTokens + outputTokens;
    return {
      model,
      capacity: plotted,
      label,
      tokens,
      inputTokens,
      outputTokens,
      reasoningTokens: mean((trial) => trial.reasoningTokens),
      tokensPerItem: tokens / mean((trial) => trial.target),
      context,
      contextShare: context === null ? null : tokens / context,
    };
  });
  return rows
    .map((row) => ({
      ...row,
      frontier:
        row.capacity > 0 &&
        !rows.some(
          (other) =>
            other.capacity >= row.capacity &&
            other.tokens <= row.tokens &&
            (other.capacity > row.capacity || other.tokens < row.tokens),
        ),
    }))
    .sort((a, b) => a.capacity - b.capacity || a.tokens - b.tokens);
}

function boundaryTrials({ capacity, trials }: MeasuredCapacity): CountTrial[] {
  const tier = capacity ?? Math.min(...trials.map(({ tier }) => tier ?? Number.POSITIVE_INFINITY));
  return trials.filter((trial) => trial.tier === tier);
}

/** A base model beside its reasoning sibling. */
export interface MatchedPair {
  readonly base: string;
  readonly reasoning: string;
  /** Tokens of the reasoning model over those of the base model, each at its own boundary. */
  readonly tokenMultiplier: number;
  /** Hidden and visible output alone; Infinity where the base model wrote nothing. */
  readonly outputMultiplier: number;
  /** Capacity of the reasoning model less that of the base model, in items; `<32` enters as 0. */
  readonly change: number;
  readonly baseLabel: string;
  readonly reasoningLabel: string;
}

/** Pairs of a base model and the same model with reasoning. A name that is not among the rows is refused. */
export function matchedPairs(
  rows: readonly FrontierRow[],
  pairs: readonly (readonly [base: string, reasoning: string])[],
): MatchedPair[] {
  const named = (name: string): FrontierRow => {
    const row = rows.find(({ model }) => model === name);
    if (row === undefined)
      throw new Error(
        `matchedPairs: no row for ${name}; there are ${rows.map(({ model }) => model).join(", ")}`,
      );
    return row;
  };
  return pairs.map(([baseName, reasoningName]) => {
    const [base, reasoning] = [named(baseName), named(reasoningName)];
    return {
      base: base.model,
      reasoning: reasoning.model,
      tokenMultiplier: reasoning.tokens / base.tokens,
      outputMultiplier: reasoning.outputTokens / base.outputTokens,
      change: reasoning.capacity - base.capacity,
      baseLabel: base.label,
      reasoningLabel: reasoning.label,
    };
  });
}
