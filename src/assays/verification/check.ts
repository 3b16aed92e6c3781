/** What verification says about an instance, and what it cost. */
import type { EvaluationStats } from "../../engine/request.js";

/** The verdict on one instance, and what it rests on. */
export interface Check {
  readonly verdict: "right" | "wrong";
  /**
   * Right: smallest gap between the chosen token and the runner-up on the way, the token that ended the answer included
   * (logits). Wrong: how far the answer's token was behind where the model left the answer. NaN where it is not known.
   */
  readonly margin: number;
  /** `forced`: by teacher forcing. `decoded`: by greedy decoding and the parser. `referee`: decoded alone, since a margin
   * was below the noise floor. `endpoint`: what a server answered. */
  readonly by: "forced" | "decoded" | "referee" | "endpoint";
  /** What the model wrote, where it was decoded. */
  readonly text?: string;
  /** It was cut by the limit on tokens before the answer was settled; counted as wrong. */
  readonly unfinished?: boolean;
  /** Of a server asked several times: how many answers were right. */
  readonly rightOf?: readonly [right: number, asked: number];
}

/** Sums over a run. */
export interface Counts {
  /** Instances verified, those that look-ahead verified beyond the failing size included. */
  readonly instances: number;
  /** Decoded because teacher forcing could not tell. */
  readonly fallbacks: number;
  /** Settled by the canonical evaluation, alone and greedy, because a margin was below the noise floor. */
  readonly refereed: number;
  /** Tokens of all prompts and answers, each alone: what evaluating nothing twice saves is the difference. */
  readonly tokensAsked: number;
  readonly tokensEvaluated: number;
  readonly tokensSaved: number;
  readonly decodes: number;
  /** Time inside the engine, ms. */
  readonly ms: number;
}

export const NO_COUNTS: Counts = {
  instances: 0,
  fallbacks: 0,
  refereed: 0,
  tokensAsked: 0,
  tokensEvaluated: 0,
  tokensSaved: 0,
  decodes: 0,
  ms: 0,
};

export function addCounts(a: Counts, b: Partial<Counts>): Counts {
  const sum = { ...a };
  for (const key of Object.keys(b) as (keyof Counts)[]) sum[key] += b[key] ?? 0;
  return sum;
}

export function countsOf(stats: EvaluationStats): Partial<Counts> {
  const { tokensAsked, tokensEvaluated, decodes, ms } = stats;
  return { tokensAsked, tokensEvaluated, tokensSaved: tokensAsked - tokensEvaluated, decodes, ms };
}
