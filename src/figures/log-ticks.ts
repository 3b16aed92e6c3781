/** Ticks of a logarithmic axis of capacities at powers of two, at most seven. */
export function doublings(values: readonly number[]): { tickvals: number[]; ticktext: string[] } {
  const from = Math.floor(Math.log2(Math.min(...values)));
  const to = Math.ceil(Math.log2(Math.max(...values)));
  const step = Math.max(1, Math.ceil((to - from) / 6));
  const tickvals = Array.from(
    { length: Math.floor((to - from) / step) + 1 },
    (_, i) => 2 ** (from + i * step),
  );
  return { tickvals, ticktext: tickvals.map((value) => value.toLocaleString("en-US")) };
}
