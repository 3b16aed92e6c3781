import type { Tail } from "./tails.js";

/**
 * A p-value as text: `0.004959`, `4.71e-4`, `2.90e-157`, and `2.22e-6072` where a number would be 0.
 *
 * Taken from the logarithm, so nothing is lost to underflow. `digits` (default 3) are significant ones, zeros kept;
 * values of 0.001 and above are written without an exponent. A p-value that is not defined is written `n/a`.
 */
export function formatP(tail: Tail, digits = 3): string {
  if (Number.isNaN(tail.logP)) return "n/a";
  if (tail.logP === Number.NEGATIVE_INFINITY) return "0";
  const log10 = tail.logP / Math.LN10;
  if (log10 >= -3) return Math.exp(tail.logP).toPrecision(digits);
  let exponent = Math.floor(log10);
  let mantissa = (10 ** (log10 - exponent)).toFixed(digits - 1);
  if (Number(mantissa) >= 10) {
    exponent += 1;
    mantissa = (Number(mantissa) / 10).toFixed(digits - 1);
  }
  return `${mantissa}e${exponent}`;
}
