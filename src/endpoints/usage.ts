/** What a server was asked, and what it cost. */
import type { Answer } from "./wire.js";

/** Money for a million tokens, in whatever currency; reasoning tokens are billed as output. */
export interface Prices {
  readonly input: number;
  readonly output: number;
}

/** What was asked of a server so far. */
export interface Usage {
  /** Requests sent, retries included. */
  readonly requests: number;
  readonly answers: number;
  readonly retries: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** In the currency of the prices; undefined without prices. Answers that never came are not in it. */
  readonly cost?: number;
}

export function noUsage(prices?: Prices): Usage {
  const none = { requests: 0, answers: 0, retries: 0, inputTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  return prices === undefined ? none : { ...none, cost: 0 };
}

/** Usage with one more answer, which took `attempts` requests. */
export function addAnswer(usage: Usage, answer: Answer, attempts: number, prices?: Prices): Usage {
  const sum = {
    requests: usage.requests + attempts,
    answers: usage.answers + 1,
    retries: usage.retries + attempts - 1,
    inputTokens: usage.inputTokens + answer.inputTokens,
    outputTokens: usage.outputTokens + answer.outputTokens,
    reasoningTokens: usage.reasoningTokens + answer.reasoningTokens,
  };
  return prices === undefined ? sum : { ...sum, cost: costOf(sum.inputTokens, sum.outputTokens, prices) };
}

export function costOf(inputTokens: number, outputTokens: number, prices: Prices): number {
  return (inputTokens * prices.input + outputTokens * prices.output) / 1e6;
}
