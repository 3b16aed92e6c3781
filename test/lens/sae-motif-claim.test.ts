import { describe, expect, it } from "vitest";
import { motifClaim } from "../../src/lens/sae-motif-claim.js";
import { random } from "../../src/stats/random.js";
import { sparse } from "./sae-planted.js";

const counts = Array.from({ length: 40 }, (_, i) => i + 1);
const options = { k: 5, position: "final token", seed: 1, splits: 40 };

/** Features `from` to `from + 8` follow the count, each with its own slope; the others are noise. */
function motif(name: string, from: number, seed: number) {
  const draw = random(seed, "motif");
  const dense = counts.map((count) =>
    Array.from({ length: 60 }, (_, id) => {
      const own = id >= from && id < from + 8 ? (count / 10) * (1 + id / 60) : 0;
      return Math.max(0, own + draw.normal(0, 0.6));
    }),
  );
  return { name, counts, acts: sparse(dense) };
}

describe("motifClaim", () => {
  it("is silent where both motifs use the same features", () => {
    const { across, within, chance, reorganised, text } = motifClaim(
      motif("a", 10, 1),
      motif("b", 10, 2),
      options,
    );
    expect(reorganised).toBe(false);
    expect(across.estimate).toBeGreaterThan(chance);
    expect(Math.abs(across.estimate - within.estimate)).toBeLessThan(0.3);
    expect(text).toContain("that other features follow the count is not shown");
  });

  it("is silent on noise alone, where overlaps are those of chance", () => {
    const draw = random(3, "noise");
    const noise = (name: string) => ({
      name,
      counts,
      acts: sparse(counts.map(() => Array.from({ length: 60 }, () => Math.max(0, draw.normal())))),
    });
    const { across, within, chance, reorganised } = motifClaim(noise("a"), noise("b"), options);
    expect(reorganised).toBe(false);
    expect(Math.abs(across.estimate - chance)).toBeLessThan(0.1);
    expect(within.estimate).toBeLessThan(0.3);
  });

  it("finds planted other features", () => {
    const { across, within, difference, reorganised } = motifClaim(
      motif("a", 10, 1),
      motif("b", 40, 2),
      options,
    );
    expect(reorganised).toBe(true);
    expect(across.estimate).toBeLessThan(0.1);
    expect(within.estimate).toBeGreaterThan(0.2);
    expect(difference.estimate).toBeCloseTo(across.estimate - within.estimate, 12);
    expect(difference.high).toBeLessThan(0);
  });

  it("compares the same counts only", () => {
    const a = motif("a", 10, 1);
    expect(() => motifClaim(a, { ...a, counts: counts.map((n) => n + 1) }, options)).toThrow(
      /different counts/,
    );
    expect(() => motifClaim(a, { ...a, counts: counts.slice(1) }, options)).toThrow(/40 and 39 counts/);
    expect(() => motifClaim(a, a, { ...options, splits: 0 })).toThrow(/0 splits/);
  });
});
