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

/**
 * The margin of `answer` in what `forcedLogits` asked for. The end counts as right with whichever end token is on top, and competes
 * with every token that does not end the answer. Paper: Methods, "teacher-forced minimum logit margins". Infinity never
 * comes out: the vocabulary has more tokens than ends.
 */
export function forcedMargin(
  read: LogitsRead,
  answer: Int32Array | readonly number[],
  endTokens: readonly number[],
): ForcedMargin {
  const { k, topIds, topLogits, tokenLogits } = read;
  const each = 1 + endTokens.length;
  let inside = Number.POSITIVE_INFINITY;
  for (let t = 0; t < answer.length; t++) {
    const own = tokenLogits![t * each]!;
    const other = topIds[t * k] === answer[t] ? topLogits[t * k + 1]! : topLogits[t * k]!;
    inside = Math.min(inside, own - other);
  }
  const row = answer.length;
  const ends = tokenLogits!.subarray(row * each + 1, (row + 1) * each);
  const best = ends.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const other = Array.from({ length: k }, (_, i) => row * k + i).find((i) => !endTokens.includes(topIds[i]!));
  return { gap: Math.min(inside, best - topLogits[other!]!), gapWithoutEnd: inside };
}
