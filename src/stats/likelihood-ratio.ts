import type { LogisticFit } from "./logistic.js";
import { chiSquareTail, type Tail } from "./tails.js";

/** A likelihood-ratio test of nested fits. */
export interface LikelihoodRatio {
  /** Twice the difference of the log-likelihoods. */
  readonly statistic: number;
  readonly df: number;
  readonly test: Tail;
  /** True when a fit is penalised: the statistic then has no chi-square distribution and p is only a yardstick. */
  readonly penalised: boolean;
}

/**
 * Likelihood-ratio test of the columns that `full` has and `restricted` lacks.
 *
 * Takes rows as independent: with clustered rows the statistic is too large. Refused: fits of different rows or outcomes,
 * a restricted fit with columns of its own, and fits that stopped without a maximum or its limit.
 */
export function likelihoodRatio(restricted: LogisticFit, full: LogisticFit): LikelihoodRatio {
  const differ = (value: number, i: number) => value !== full.outcome[i];
  if (
    restricted.rows !== full.rows ||
    (restricted.outcome !== full.outcome && restricted.outcome.some(differ))
  )
    throw new Error(
      "likelihoodRatio: the two fits are of different rows; fit both models to the same outcomes",
    );
  const extra = restricted.design.names.filter((name) => !full.design.names.includes(name));
  if (extra.length > 0)
    throw new Error(
      `likelihoodRatio: the full fit lacks ${extra.join(", ")}; expected all columns of the restricted`,
    );
  const df = full.design.names.length - restricted.design.names.length;
  if (df < 1)
    throw new Error("likelihoodRatio: both fits have the same columns; expected more in the full one");
  for (const fit of [restricted, full])
    if (!fit.converged && fit.separation === "none")
      throw new Error(
        `likelihoodRatio: a fit has not converged after ${fit.iterations} iterations; allow more`,
      );
  const statistic = Math.max(0, 2 * (full.logLikelihood - restricted.logLikelihood));
  return {
    statistic,
    df,
    test: chiSquareTail(statistic, df),
    penalised: restricted.ridge > 0 || full.ridge > 0,
  };
}
