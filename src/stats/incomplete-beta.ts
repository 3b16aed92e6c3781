import { lbeta } from "lib-r-math.js";

/**
 * Natural logarithms of the two tails of the beta distribution: log P(X <= x) and log P(X > x) for X ~ Beta(a, b).
 *
 * Method: the continued fraction of the regularised incomplete beta function, evaluated by Lentz's algorithm on the side
 * where it converges fast, in logarithms, so that a tail of 1e-6000 keeps its relative precision (about 1e-12 for a, b up
 * to 1e5). It stands here because the library's own `pbeta`, and with it `pt`, `pf` and `pbinom`, underflow to 0 for
 * large parameters (a tail of 4e-28 at a = 4,900). Weakness: near the mean about sqrt(max(a, b)) terms are needed.
 */
export function logBetaTails(
  x: number,
  a: number,
  b: number,
): { readonly lower: number; readonly upper: number } {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1))
    throw new Error(`logBetaTails: x ${x}, a ${a}, b ${b}; expected 0 <= x <= 1 and positive parameters`);
  return logBetaTailsOf(Math.log(x), Math.log1p(-x), a, b);
}

/** The same from log x and log(1 - x), for an x so near to 0 or 1 that only one of the two is exact. */
export function logBetaTailsOf(
  logX: number,
  logOther: number,
  a: number,
  b: number,
): { readonly lower: number; readonly upper: number } {
  if (logX === Number.NEGATIVE_INFINITY) return { lower: Number.NEGATIVE_INFINITY, upper: 0 };
  if (logOther === Number.NEGATIVE_INFINITY) return { lower: 0, upper: Number.NEGATIVE_INFINITY };
  const front = a * logX + b * logOther - lbeta(a, b);
  const x = Math.exp(logX);
  if (x < (a + 1) / (a + b + 2)) {
    const lower = Math.min(0, front - Math.log(a) + Math.log(fraction(x, a, b)));
    return { lower, upper: logOneMinusExp(lower) };
  }
  const upper = Math.min(0, front - Math.log(b) + Math.log(fraction(Math.exp(logOther), b, a)));
  return { lower: logOneMinusExp(upper), upper };
}

/** log(1 - exp(v)) for v <= 0 without losing digits at either end. */
export function logOneMinusExp(v: number): number {
  return v > -Math.LN2 ? Math.log(-Math.expm1(v)) : Math.log1p(-Math.exp(v));
}

function fraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1), tiny);
  let value = d;
  for (let m = 1; m <= 100_000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d, tiny);
    c = nonzero(1 + even / c, tiny);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d, tiny);
    c = nonzero(1 + odd / c, tiny);
    const step = d * c;
    value *= step;
    if (Math.abs(step - 1) < 1e-15) return value;
  }
  throw new Error(
    `logBetaTails: no convergence at x ${x}, a ${a}, b ${b}; expected parameters below about 1e9`,
  );
}

function nonzero(value: number, tiny: number): number {
  return Math.abs(value) < tiny ? tiny : value;
}
