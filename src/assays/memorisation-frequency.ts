/** How often pairs of operands were seen: keys `a,b`, absent pairs 0. */
export type PairFrequency = ReadonlyMap<string, number>;

/**
 * `ordered`: what stands under `a,b` and nothing else, as the published analysis looks up. `symmetric`: `a,b` and `b,a`
 * together (once where a = b), which is the same for all orders and right for keys that ignore the order.
 */
export type Lookup = "ordered" | "symmetric";

/** How often the pair was seen. */
export function frequencyOf(frequency: PairFrequency, a: number, b: number, lookup: Lookup): number {
  const ordered = frequency.get(`${a},${b}`) ?? 0;
  if (lookup === "ordered" || a === b) return ordered;
  return ordered + (frequency.get(`${b},${a}`) ?? 0);
}

/** In which order a table of counts writes its pairs. */
export interface KeyOrder {
  readonly keys: number;
  readonly ascending: number;
  readonly descending: number;
  readonly equal: number;
  /** True when no key has a > b, as when the counter sorted its operands: the ordered lookup then finds every b < a unseen. */
  readonly unordered: boolean;
}

/** Do the keys of a table of counts tell `3,2` from `2,3`? */
export function keyOrder(frequency: PairFrequency): KeyOrder {
  let ascending = 0;
  let descending = 0;
  let equal = 0;
  for (const key of frequency.keys()) {
    const [a, b] = operands(key);
    if (a < b) ascending += 1;
    else if (a > b) descending += 1;
    else equal += 1;
  }
  return { keys: frequency.size, ascending, descending, equal, unordered: descending === 0 && ascending > 0 };
}

/**
 * A table of counts from CSV text with the columns `a`, `b` and `count`, in any order and among others; the keys keep the
 * order of the operands. Refused: a missing column, a field that is no whole number from 0, a pair that stands twice.
 */
export function parsePairFrequency(csv: string): PairFrequency {
  const [head = "", ...lines] = csv
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const names = head.split(",").map((name) => name.trim());
  const columns = ["a", "b", "count"].map((name) => names.indexOf(name));
  if (columns.includes(-1))
    throw new Error(`parsePairFrequency: columns ${head}; expected a, b and count among them`);
  const frequency = new Map<string, number>();
  for (const line of lines) {
    const fields = line.split(",");
    const values = columns.map((column) => Number(fields[column]?.trim() || Number.NaN));
    const [a, b, count] = values as [number, number, number];
    if (!values.every((value) => Number.isInteger(value) && value >= 0))
      throw new Error(`parsePairFrequency: line "${line}"; expected whole numbers from 0`);
    const key = `${a},${b}`;
    if (frequency.has(key))
      throw new Error(`parsePairFrequency: the pair ${key} stands twice; expected it once`);
    frequency.set(key, count);
  }
  return frequency;
}

function operands(key: string): [number, number] {
  const [a, b] = key.split(",").map(Number);
  if (a === undefined || b === undefined || Number.isNaN(a) || Number.isNaN(b))
    throw new Error(`keyOrder: key "${key}"; expected two whole numbers, "a,b"`);
  return [a, b];
}
