import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Random, type RandomKey, random, xoshiro128 } from "../../src/stats/random.js";

const reference = JSON.parse(
  readFileSync(new URL("../fixtures/stats/random.json", import.meta.url), "utf8"),
) as {
  state1234: number[];
  seeded: { path: [RandomKey, ...RandomKey[]]; words: number[] }[];
};

const draw = (count: number, one: () => number) => Array.from({ length: count }, one);
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe("random", () => {
  it("gives the words of the definition", () => {
    const next = xoshiro128([1, 2, 3, 4]);
    expect(draw(12, next)).toEqual(reference.state1234);
    for (const { path, words } of reference.seeded) expect(draw(6, random(...path).uint32)).toEqual(words);
  });

  it("names independent streams by key, whatever was drawn before", () => {
    const parent = random(7);
    draw(100, () => parent.uniform());
    const words = (source: Random) => draw(4, source.uint32);
    expect(words(parent.stream("tier", 32))).toEqual(words(random(7, "tier", 32)));
    expect(words(random(7, "tier", 32))).not.toEqual(words(random(7, "tier", 33)));
    expect(words(random(1, 23))).not.toEqual(words(random(12, 3)));
  });

  it("draws uniform numbers and Gaussians with the right moments", () => {
    const source = random(3);
    const uniform = draw(50_000, () => source.uniform(-1, 3));
    expect(Math.min(...uniform)).toBeGreaterThanOrEqual(-1);
    expect(Math.max(...uniform)).toBeLessThan(3);
    expect(mean(uniform)).toBeCloseTo(1, 1);
    const normal = draw(50_000, () => source.normal(5, 2));
    expect(mean(normal)).toBeCloseTo(5, 1);
    expect(Math.sqrt(mean(normal.map((value) => (value - 5) ** 2)))).toBeCloseTo(2, 1);
    expect(mean(normal.map((value) => ((value - 5) / 2) ** 4))).toBeCloseTo(3, 0);
  });

  it("draws whole numbers with both ends, without bias", () => {
    const source = random(4);
    const counts = [0, 0, 0];
    for (const value of draw(30_000, () => source.integer(-1, 1))) counts[value + 1]! += 1;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
    expect(source.integer(5, 5)).toBe(5);
    expect(source.integer(0, 0xffffffff)).toBeLessThanOrEqual(0xffffffff);
  });

  it("shuffles every order equally often and leaves the argument alone", () => {
    const source = random(5);
    const items = ["a", "b", "c"];
    const seen = new Map<string, number>();
    for (let i = 0; i < 12_000; i += 1) {
      const order = source.shuffle(items).join("");
      seen.set(order, (seen.get(order) ?? 0) + 1);
    }
    expect(seen.size).toBe(6);
    for (const count of seen.values()) expect(Math.abs(count - 2_000)).toBeLessThan(200);
    expect(items).toEqual(["a", "b", "c"]);
    const sample = source.sample(new Float64Array([1, 2, 3, 4]), 3);
    expect(new Set(sample).size).toBe(3);
  });

  it("refuses what would give a silent constant", () => {
    expect(() => random(Number.NaN)).toThrow("random: seed or key NaN");
    expect(() => random(1).integer(3, 2)).toThrow("random.integer: 3 .. 2");
    expect(() => random(1).integer(0, 1.5)).toThrow("random.integer");
    expect(() => random(1).choice([])).toThrow("random.choice: an empty list");
    expect(() => random(1).sample([1, 2], 3)).toThrow("random.sample: 3 of 2");
  });
});
