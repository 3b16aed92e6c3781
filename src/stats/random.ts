import { createHash } from "node:crypto";

/**
 * Seeded random numbers, the only source of chance in the library.
 *
 * Generator: xoshiro128** (Blackman and Vigna, period 2^128 - 1; not for cryptography). Its four words of state are the
 * first 16 bytes (little-endian) of the SHA-256 of the JSON array `[seed, ...key]`, so that any seed and key give a
 * stream of their own: a trial draws the same numbers whatever was drawn before it, in whichever order trials run.
 */
export interface Random {
  /** A whole number, uniform over 0 .. 2^32 - 1. */
  uint32(): number;
  /** Uniform over `[low, high)` with 53 random bits. Default: `[0, 1)`. */
  uniform(low?: number, high?: number): number;
  /** A whole number, uniform over `low .. high`, **both ends included**, without modulo bias. */
  integer(low: number, high: number): number;
  /** Gaussian, by the polar method of Marsaglia. Default: mean 0, standard deviation 1. */
  normal(mean?: number, sd?: number): number;
  /** A shuffled copy (Fisher and Yates); the argument stays as it is. */
  shuffle<T>(values: ArrayLike<T>): T[];
  /** One of the values, each equally likely. Refuses an empty list. */
  choice<T>(values: ArrayLike<T>): T;
  /** `count` different values in random order, drawn without replacement. */
  sample<T>(values: ArrayLike<T>, count: number): T[];
  /** An independent stream named by a key: the same key gives the same stream, however much was drawn here. */
  stream(...key: readonly RandomKey[]): Random;
}

/** What names a stream of random numbers: the same keys give the same numbers. */
export type RandomKey = number | string;

/**
 * A generator for this seed and, optionally, a key within it.
 *
 * `random(7, "tier", 32, 5)` equals `random(7).stream("tier", 32, 5)`. A seed or key that is NaN or infinite is refused,
 * because all such would share one stream.
 *
 * @example
 * const draw = random(1, "targets", tier, k);
 * const target = Math.round(draw.uniform(0.8 * tier, 1.2 * tier));
 */
export function random(seed: RandomKey, ...key: readonly RandomKey[]): Random {
  const path = [seed, ...key];
  for (const part of path) {
    if (typeof part === "number" && !Number.isFinite(part))
      throw new Error(
        `random: seed or key ${part}; expected finite numbers or strings; pass e.g. random(1, "trial", 3)`,
      );
  }
  const digest = createHash("sha256").update(JSON.stringify(path)).digest();
  const state = [
    digest.readUInt32LE(0),
    digest.readUInt32LE(4),
    digest.readUInt32LE(8),
    digest.readUInt32LE(12),
  ];
  return fromState(state as [number, number, number, number], path);
}

/** xoshiro128**: the bare generator of 32-bit words. The state must not be all zero. */
export function xoshiro128(state: readonly [number, number, number, number]): () => number {
  let [s0, s1, s2, s3] = state.map((word) => word | 0) as [number, number, number, number];
  return () => {
    const result = Math.imul(rotate(Math.imul(s1, 5), 7), 9) >>> 0;
    const shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = rotate(s3, 11);
    return result;
  };
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function fromState(state: [number, number, number, number], path: readonly RandomKey[]): Random {
  const uint32 = xoshiro128(state);
  // 27 high bits and 26 high bits make one of 2^53 equally spaced numbers.
  const unit = () => ((uint32() >>> 5) * 67108864 + (uint32() >>> 6)) / 9007199254740992;
  let spare: number | undefined;

  const integer = (low: number, high: number): number => {
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || high < low || high - low > 0xffffffff)
      throw new Error(
        `random.integer: ${low} .. ${high}; expected whole numbers, low <= high, at most 2^32 of them`,
      );
    const range = high - low + 1;
    const limit = 0x100000000 - (0x100000000 % range);
    let word = uint32();
    while (word >= limit) word = uint32();
    return low + (word % range);
  };

  const gaussian = (): number => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    for (;;) {
      const u = 2 * unit() - 1;
      const v = 2 * unit() - 1;
      const s = u * u + v * v;
      if (s === 0 || s >= 1) continue;
      const scale = Math.sqrt((-2 * Math.log(s)) / s);
      spare = v * scale;
      return u * scale;
    }
  };

  const sample = <T>(values: ArrayLike<T>, count: number): T[] => {
    if (!Number.isInteger(count) || count < 0 || count > values.length)
      throw new Error(
        `random.sample: ${count} of ${values.length} values; expected a whole number from 0 to their number`,
      );
    const copy = Array.from(values);
    for (let i = 0; i < count; i += 1) {
      const j = integer(i, copy.length - 1);
      const swap = copy[i] as T;
      copy[i] = copy[j] as T;
      copy[j] = swap;
    }
    copy.length = count;
    return copy;
  };

  return {
    uint32,
    uniform: (low = 0, high = 1) => low + (high - low) * unit(),
    integer,
    normal: (mean = 0, sd = 1) => mean + sd * gaussian(),
    shuffle: (values) => sample(values, values.length),
    choice: <T>(values: ArrayLike<T>): T => {
      if (values.length === 0) throw new Error("random.choice: an empty list; expected at least one value");
      return values[integer(0, values.length - 1)] as T;
    },
    sample,
    stream: (...key) => {
      const [seed, ...rest] = [...path, ...key];
      return random(seed as RandomKey, ...rest);
    },
  };
}
