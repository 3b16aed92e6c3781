/** Seeded damage to files, for parsers that must not trust them. */

/** A small generator of whole numbers below `n`; the same seed gives the same run. */
export function seededInts(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

/** One to four changes: bytes set or flipped, mostly in the first `head` bytes, and at times the end cut or doubled. */
export function mutate(file: Uint8Array, int: (n: number) => number, head: number): Uint8Array {
  let out = Uint8Array.from(file);
  for (let k = 1 + int(4); k > 0; k--) {
    const at = int(int(4) === 0 ? out.length : Math.min(head, out.length));
    const kind = int(8);
    if (kind === 0) out = out.slice(0, at + 1);
    else if (kind === 1) out = Uint8Array.from([...out, ...out.subarray(0, at)]);
    else if (kind < 5) out[at] = int(256);
    else out[at] = out[at]! ^ (1 << int(8));
  }
  return out;
}

/** Plain data with one to three values, or keys, turned into something else. */
export function mutateJson(json: unknown, int: (n: number) => number): unknown {
  let out = structuredClone(json);
  for (let k = 1 + int(3); k > 0; k--) out = changeOne(out, int);
  return out;
}

const STRANGE: readonly unknown[] = [
  null,
  -1,
  0,
  1.5,
  1e300,
  "",
  "../../x",
  "\u0000",
  [],
  {},
  true,
  [[[]]],
  "x".repeat(5000),
];

function changeOne(value: unknown, int: (n: number) => number): unknown {
  const isParent = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isParent || int(5) === 0) return structuredClone(STRANGE[int(STRANGE.length)]);
  const parent = value as Record<string, unknown>;
  const keys = Object.keys(parent);
  const key = keys[int(keys.length)]!;
  if (int(8) > 0) parent[key] = changeOne(parent[key], int);
  else if (Array.isArray(value)) value.push(structuredClone(value[int(value.length)]));
  else delete parent[key];
  return value;
}
