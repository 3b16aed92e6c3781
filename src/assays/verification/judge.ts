/** Verdicts from what a model's next tokens were, or from what it wrote (first paper, section 4.1). */
import type { Reader } from "../../tasks/reader.js";

/** What a verdict needs to know about tokens. */
export interface Vocabulary {
  /** The text of a token on its own. */
  piece(token: number): string;
  /** Does it end the answer? */
  ends(token: number): boolean;
}

/**
 * The next-token distributions of a prompt followed by its right answer of k tokens, k + 1 of them: before each answer
 * token, and after the last one.
 */
export interface Forced {
  /** `[k + 1]` most probable token. */
  readonly argmax: ArrayLike<number>;
  /** `[k + 1]` those next to it, nearest first, at least one. */
  readonly runners: readonly (readonly Runner[])[];
  /** `[k + 1]` logit of the awaited token (the answer's, and last the one that ends the turn) less the largest other:
   * negative where another is preferred. */
  readonly lead: ArrayLike<number>;
}

export interface Runner {
  readonly token: number;
  /** Logits by which it is less than the most probable one. */
  readonly behind: number;
}

export interface Judgement {
  /** `open`: it has to be decoded. */
  readonly verdict: "right" | "wrong" | "open";
  /** Right: the smallest gap on the way, including that of the token that ended the answer. Else: how far behind the
   * awaited token was where the model left the answer (not above 0). */
  readonly margin: number;
  /** By how much logits would have to move for another verdict. Below the noise floor it may be another one elsewhere. */
  readonly confidence: number;
}

export interface ForcedJudgement extends Judgement {
  /** Tokens that the model had written when the verdict was known. */
  readonly length: number;
}

/** A last character that is not whole yet could become anything. */
function settle(reader: Reader, text: string, answer: string): "right" | "wrong" | "open" {
  return text.endsWith("\uFFFD") ? "open" : reader.settle(text, answer);
}

/**
 * Judges by teacher forcing. Right only if every argmax is the answer's token *and the answer ends there*: the next argmax
 * ends the turn, or is a token after which no continuation can change what is read. Wrong only if no continuation could
 * still be read as the answer (another digit, the other word). All else is open: a space, a comma, a sign, a leading
 * zero, other tokens for the same text, an answer that goes on.
 *
 * @param tokens `[k]` the answer's tokens
 * @param answer its text
 */
export function judgeForced(
  forced: Forced,
  tokens: ArrayLike<number>,
  answer: string,
  reader: Reader,
  vocabulary: Vocabulary,
): ForcedJudgement {
  const verdictAfter = (text: string, next: number): Judgement["verdict"] => {
    if (!vocabulary.ends(next)) return settle(reader, text + vocabulary.piece(next), answer);
    return reader.parse(text) === answer ? "right" : "wrong";
  };
  const before = [""];
  let at = 0;
  while (at < tokens.length && forced.argmax[at] === tokens[at]) {
    before.push(before[at]! + vocabulary.piece(tokens[at]!));
    at++;
  }
  const verdict = verdictAfter(before[at]!, forced.argmax[at]!);
  let gap = Number.POSITIVE_INFINITY;
  let confidence = Number.POSITIVE_INFINITY;
  for (let i = 0; i <= at; i++) {
    const runners = forced.runners[i]!;
    gap = Math.min(gap, runners[0]!.behind);
    // One wrong digit in place of another changes nothing. Of those behind the last runner nothing is known.
    const other = runners.find(({ token }) => verdictAfter(before[i]!, token) !== verdict) ?? runners.at(-1)!;
    confidence = Math.min(confidence, other.behind);
  }
  return { verdict, margin: verdict === "right" ? gap : forced.lead[at]!, confidence, length: at + 1 };
}

/** What came of decoding. */
export interface Decoded {
  readonly tokens: ArrayLike<number>;
  readonly text: string;
  /** Did the model end it, rather than a limit? */
  readonly ended: boolean;
  /** Logit of each chosen token less the largest other, the ending token's last where there is one. */
  readonly margins: ArrayLike<number>;
}

export interface DecodedJudgement extends Judgement {
  readonly verdict: "right" | "wrong";
  /** It was cut by the limit before the answer was settled: counted as wrong, whatever could be read from it. */
  readonly unfinished: boolean;
}

/**
 * Judges a decoded answer by the task's parser. One that did not end is right only if nothing that could follow would
 * change what is read.
 */
export function judgeDecoded(
  decoded: Decoded,
  answer: string,
  reader: Reader,
  vocabulary: Vocabulary,
): DecodedJudgement {
  const settled = decoded.ended ? "open" : settle(reader, decoded.text, answer);
  const right = decoded.ended ? reader.parse(decoded.text) === answer : settled === "right";
  // Tokens after the one that settled the answer have no part in it.
  let confidence = Number.POSITIVE_INFINITY;
  let text = "";
  for (let i = 0; i < decoded.margins.length; i++) {
    confidence = Math.min(confidence, decoded.margins[i]!);
    if (i >= decoded.tokens.length) break;
    text += vocabulary.piece(decoded.tokens[i]!);
    if (settle(reader, text, answer) !== "open") break;
  }
  return {
    verdict: right ? "right" : "wrong",
    margin: right ? confidence : Number.NaN,
    confidence,
    unfinished: !decoded.ended && settled === "open",
  };
}
