import { finite, type Numbers } from "./input.js";

/** Ranks of the values, 1 for the smallest; tied values share the mean of the ranks they take up. `[row]` -> `[row]` */
export function ranks(values: Numbers): Float64Array {
  const checked = finite("ranks: values", values);
  // Sorting the numbers themselves is many times faster than sorting an index by a comparison function.
  const sorted = Float64Array.from(checked).sort();
  const rankOf = new Map<number, number>();
  for (let start = 0; start < sorted.length; ) {
    const value = sorted[start] as number;
    let end = start + 1;
    while (end < sorted.length && sorted[end] === value) end += 1;
    rankOf.set(value, (start + end + 1) / 2);
    start = end;
  }
  return checked.map((value) => rankOf.get(value) as number);
}
