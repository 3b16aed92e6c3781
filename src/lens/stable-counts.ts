/**
 * Which counts a probe may be fitted on. "Successful" is every count below the first error, never a lucky hit beyond it: a hit
 * there may come from an attractor, and says nothing of a state that follows the count.
 */

export interface StableCounts {
  /** Largest count below the first error; null where already the smallest fails. */
  readonly to: number | null;
  /** Smallest count with a wrong answer; null where there is none. */
  readonly firstError: number | null;
}

/** The stable range of answers at `counts`, in any order. A count asked several times is right only if all its answers are. */
export function stableCounts(counts: ArrayLike<number>, correct: ArrayLike<boolean>): StableCounts {
  if (counts.length !== correct.length || counts.length === 0)
    throw new Error(
      `stableCounts: ${counts.length} counts and ${correct.length} answers; expected as many of both, at least one`,
    );
  let firstError: number | null = null;
  for (let i = 0; i < counts.length; i++)
    if (!correct[i] && (firstError === null || counts[i]! < firstError)) firstError = counts[i]!;
  let to: number | null = null;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]!;
    if ((firstError === null || count < firstError) && (to === null || count > to)) to = count;
  }
  return { to, firstError };
}

/** Whole numbers from 1, each once, in rising order; a list of zero items is no list. */
export function checkCounts(where: string, counts: readonly number[]): number[] {
  const sorted = [...counts].sort((a, b) => a - b);
  const wrong = sorted.find(
    (count, i) => !Number.isSafeInteger(count) || count < 1 || count === sorted[i - 1],
  );
  if (wrong !== undefined || sorted.length === 0)
    throw new Error(
      `${where}: ${sorted.length === 0 ? "no counts" : `count ${wrong}`}; expected whole numbers from 1, each once`,
    );
  return sorted;
}
