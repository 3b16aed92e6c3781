import { pchisq, pnorm } from "lib-r-math.js";
import { logBetaTailsOf } from "./incomplete-beta.js";

/** A tail probability with its natural logarithm: `p` underflows to 0 below 5e-324, `logP` does not. */
export interface Tail {
  readonly p: number;
  readonly logP: number;
}

/** Which tail a p-value counts. */
export type Side = "two" | "upper" | "lower";

/** What `side` of a distribution symmetric about 0 lies beyond `value`, from its log upper tail at |value|. */
function symmetric(value: number, logBeyond: number, logWithin: number, side: Side): Tail {
  if (side === "two") return tail(Math.min(0, logBeyond + Math.LN2));
  return tail((side === "upper") === value > 0 ? logBeyond : logWithin);
}

function tail(logP: number): Tail {
  return { p: Math.exp(logP), logP };
}

/**
 * Tail of the standard normal beyond z. `side` defaults to `two`: P(|Z| >= |z|).
 * NaN is refused; an infinite z has tail 0.
 */
export function normalTail(z: number, side: Side = "two"): Tail {
  refuseNaN("normalTail", z);
  const beyond = pnorm(Math.abs(z), 0, 1, false, true);
  return symmetric(z, beyond, pnorm(Math.abs(z), 0, 1, true, true), side);
}

/**
 * Tail of Student's t with `df` degrees of freedom beyond t. `side` defaults to `two`.
 * Exact far out (t = -27.2 on 9,799 df is 2.0e-157), through our own incomplete beta function: the library's is 0 there.
 */
export function studentTail(t: number, df: number, side: Side = "two"): Tail {
  refuseNaN("studentTail", t);
  if (!(df > 0)) throw new Error(`studentTail: ${df} degrees of freedom; expected more than 0`);
  // P(|T| >= |t|) = P(X <= df / (df + t^2)) for X ~ Beta(df/2, 1/2).
  const ratio = (t * t) / df;
  const both = logBetaTailsOf(-Math.log1p(ratio), -Math.log1p(1 / ratio), df / 2, 0.5);
  const beyond = both.lower - Math.LN2;
  return symmetric(t, beyond, Math.log1p(-Math.exp(beyond)), side);
}

/** Upper tail of chi-square with `df` degrees of freedom. A negative statistic, which no test gives, is refused. */
export function chiSquareTail(statistic: number, df: number): Tail {
  refuseNaN("chiSquareTail", statistic);
  if (!(df > 0) || statistic < 0)
    throw new Error(`chiSquareTail: ${statistic} on ${df} df; expected a statistic >= 0 and df > 0`);
  return tail(pchisq(statistic, df, undefined, false, true));
}

/** Upper tail of F with `df1` and `df2` degrees of freedom. */
export function fTail(statistic: number, df1: number, df2: number): Tail {
  refuseNaN("fTail", statistic);
  if (!(df1 > 0) || !(df2 > 0) || statistic < 0)
    throw new Error(`fTail: ${statistic} on ${df1} and ${df2} df; expected a statistic >= 0 and df > 0`);
  const ratio = (df1 * statistic) / df2;
  return tail(logBetaTailsOf(-Math.log1p(ratio), -Math.log1p(1 / ratio), df2 / 2, df1 / 2).lower);
}

function refuseNaN(what: string, value: number): void {
  if (Number.isNaN(value))
    throw new Error(`${what}: the statistic is NaN; expected a number; check what went in`);
}
