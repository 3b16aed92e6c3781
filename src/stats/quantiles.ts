import { qnorm } from "lib-r-math.js";
import { logBetaTails } from "./incomplete-beta.js";
import { studentTail } from "./tails.js";

/** The z below which a standard normal lies with probability p, 0 < p < 1. */
export function normalQuantile(p: number): number {
  within("normalQuantile", p);
  return qnorm(p);
}

/** The t below which Student's t with `df` degrees of freedom lies with probability p. By bisection, to 1e-12. */
export function studentQuantile(p: number, df: number): number {
  within("studentQuantile", p);
  if (p === 0.5) return 0;
  if (p < 0.5) return -studentQuantile(1 - p, df);
  let high = 1;
  while (studentTail(high, df, "upper").p > 1 - p) high *= 2;
  return bisect(0, high, (t) => studentTail(t, df, "upper").p > 1 - p);
}

/** The x below which a Beta(a, b) lies with probability p. By bisection, to 1e-12 of its size. */
export function betaQuantile(p: number, a: number, b: number): number {
  within("betaQuantile", p);
  const target = Math.log(p);
  return bisect(0, 1, (x) => logBetaTails(x, a, b).lower < target);
}

/** The point of [low, high] where `below` turns false. */
function bisect(low: number, high: number, below: (x: number) => boolean): number {
  let [left, right] = [low, high];
  for (let i = 0; i < 200 && right - left > 1e-14 * Math.abs(right); i += 1) {
    const middle = (left + right) / 2;
    if (below(middle)) left = middle;
    else right = middle;
  }
  return (left + right) / 2;
}

function within(what: string, p: number): void {
  if (!(p > 0 && p < 1)) throw new Error(`${what}: probability ${p}; expected 0 < p < 1`);
}
