/** How far a forced answer is from being what the model itself would say: the smallest margin over its tokens. */
import type { LogitsRead, LogitsWanted } from "../engine/request.js";

/** By how much an answer leads, teacher-forced. */
export interface ForcedMargin {
  /** Smallest margin (nats) of the answer's tokens, each its logit less the largest other, with the end of the answer. */
  readonly gap: number;
  /** The same without the end of the answer: 4 against 40 is not told apart here. */
  readonly gapWithoutEnd: number;
}

/**
 * What to read of a prompt followed by an answer, so that `forcedMargin` can be computed: the distributions before each of the
 * answer's tokens and the one after it.
 */
export function forcedLogits(
  promptLength: number,
  answer: Int32Array | readonly number[],
  endTokens: readonly number[],
): LogitsWanted {
  return {
    positions: Array.from({ length: answer.length + 1 }, (_, k) => promptLength - 1 + k),
    // Enough for the largest that ends nothing, were every end token above it.
    top: endTokens.length + 2,
    tokens: Array.from({ length: answer.length + 1 }, (_, k) => [answer[k] ?? answer[0]!, ...endTokens]),
  };
}

/** By how much each token of an answer leads, and over which other. */
export interface TokenMargins {
  /** `[k + 1]` logit of each of the answer's k tokens less the largest other; last, the best end less the best token that ends nothing. */
  readonly margins: readonly number[];
  /** `[k + 1]` the strongest other token at each. */
  readonly competitors: readonly number[];
}

/**
 * The margins of `answer` in what `forcedLogits` asked for. The end counts as right with whichever end token is on top, and competes
 * with every token that does not end the answer. Infinity never comes out: the vocabulary has more tokens than ends.
 */
export function tokenMargins(
  { k, topIds, topLogits, tokenLogits }: LogitsRead,
  answer: Int32Array | readonly number[],
  endTokens: readonly number[],
): TokenMargins {
  const asked = 1 + endTokens.length;
  const margins: number[] = [];
  const competitors: number[] = [];
  for (let at = 0; at <= answer.length; at++) {
    const atEnd = at === answer.length;
    const right = atEnd ? endTokens : [answer[at]!];
    const own = tokenLogits!.subarray(at * asked + (atEnd ? 1 : 0), (at + 1) * asked);
    let other = at * k;
    while (right.includes(topIds[other]!)) other++;
    competitors.push(topIds[other]!);
    margins.push((atEnd ? Math.max(...own) : own[0]!) - topLogits[other]!);
  }
  return { margins, competitors };
}

/** The smallest of them. Paper: Methods, "teacher-forced minimum logit margins". */
export function forcedMargin(
  read: LogitsRead,
  answer: Int32Array | readonly number[],
  endTokens: readonly number[],
): ForcedMargin {
  const { margins } = tokenMargins(read, answer, endTokens);
  return { gap: Math.min(...margins), gapWithoutEnd: Math.min(...margins.slice(0, -1)) };
}
