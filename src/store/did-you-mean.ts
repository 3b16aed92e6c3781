/** Nearest names for an unknown one. */

/**
 * A hint for an error line: `did you mean A or B?` where names are near, else the list of all (at most ten).
 * Near: at most a third of the letters differ (Levenshtein) from the name or its beginning, or it holds the one given.
 */
export function didYouMean(name: string, known: readonly string[]): string {
  const wanted = name.toLowerCase();
  // A long name is often given by its beginning: compare with that, too.
  const near = known
    .map((k) => ({
      k,
      d: Math.min(...[k.length, wanted.length].map((n) => distance(wanted, k.slice(0, n).toLowerCase()))),
    }))
    .filter(
      ({ k, d }) =>
        d <= Math.max(1, Math.floor(wanted.length / 3)) || (wanted.length > 2 && k.includes(wanted)),
    )
    .sort((a, b) => a.d - b.d)
    .slice(0, 3)
    .map(({ k }) => k);
  if (near.length > 0) return `did you mean ${near.join(" or ")}?`;
  if (known.length === 0) return "there are none";
  return `there are ${known.slice(0, 10).join(", ")}${known.length > 10 ? ", ..." : ""}`;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
