import { finite, type Numbers } from "./input.js";

/**
 * Isotonic regression: the non-decreasing sequence closest to `y` in squares (pool adjacent violators). `y` in the order of
 * its abscissa; values with the same abscissa must have been averaged before.
 */
export function isotonic(y: Numbers): Float64Array {
  const values = finite("isotonic", y);
  // Blocks of pooled values: mean and size.
  const means: number[] = [];
  const sizes: number[] = [];
  for (const value of values) {
    means.push(value);
    sizes.push(1);
    while (means.length > 1 && means.at(-2)! >= means.at(-1)!) {
      const [mean, size] = [means.pop()!, sizes.pop()!];
      const before = means.length - 1;
      const total = sizes[before]! + size;
      means[before] = (means[before]! * sizes[before]! + mean * size) / total;
      sizes[before] = total;
    }
  }
  const fitted = new Float64Array(values.length);
  let at = 0;
  means.forEach((mean, block) => {
    fitted.fill(mean, at, at + sizes[block]!);
    at += sizes[block]!;
  });
  return fitted;
}

/**
 * Share of the variance of `y` that the best monotone sequence explains, rising or falling, whichever is better: 1 for a curve
 * that never turns, about 0 for one that rises and falls back. NaN for a constant `y`.
 *
 * Weakness: noise counts as turning, and a short noisy sequence looks partly monotone by chance.
 */
export function monotoneShare(y: Numbers): number {
  const values = finite("monotoneShare", y);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const total = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  if (total === 0) return Number.NaN;
  const left = (of: Float64Array) => {
    const fitted = isotonic(of);
    return of.reduce((sum, value, i) => sum + (value - fitted[i]!) ** 2, 0);
  };
  return 1 - Math.min(left(values), left(values.map((value) => -value))) / total;
}
