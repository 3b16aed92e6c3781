import { logBetaTails } from "./incomplete-beta.js";
import { binary, paired } from "./input.js";
import type { Tail } from "./tails.js";

/** McNemar's exact test of two raters on the same rows. */
export interface McNemar {
  /** Rows where only the first was right, and where only the second was. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** Two-sided exact p: twice the smaller binomial tail at 1/2, at most 1. No discordant row gives 1. */
  readonly exact: Tail;
}

/**
 * McNemar's exact test: do two conditions, asked the same questions, differ in how often they are right?
 *
 * `first[row]` and `second[row]` are the verdicts on the same instance. Only rows where they differ carry information.
 */
export function mcnemar(first: ArrayLike<boolean | number>, second: ArrayLike<boolean | number>): McNemar {
  paired("mcnemar", first, second, 1);
  const x = binary("mcnemar: first", first);
  const y = binary("mcnemar: second", second);
  let onlyFirst = 0;
  let onlySecond = 0;
  for (let i = 0; i < x.length; i += 1) {
    if (x[i] === y[i]) continue;
    if (x[i] === 1) onlyFirst += 1;
    else onlySecond += 1;
  }
  const total = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  // P(X <= k) for X ~ Binomial(n, 1/2) is P(B > 1/2) for B ~ Beta(k + 1, n - k).
  const logTail = fewer === total ? 0 : logBetaTails(0.5, fewer + 1, total - fewer).upper;
  const logP = Math.min(0, logTail + Math.LN2);
  return { onlyFirst, onlySecond, exact: { p: Math.exp(logP), logP } };
}
