import { describe, expect, it } from "vitest";
import { featureClaim } from "../../src/lens/sae-claim.js";
import { rankFeatures } from "../../src/lens/sae-ranking.js";
import { random } from "../../src/stats/random.js";
import { sparse } from "./sae-planted.js";

const counts = Array.from({ length: 60 }, (_, i) => i + 1);
const noise = (seed: number, features = 100) => {
  const draw = random(seed, "noise features");
  return counts.map(() => Array.from({ length: features }, () => Math.max(0, draw.normal())));
};

function claimOf(dense: readonly (readonly number[])[], k: number) {
  const acts = sparse(dense);
  return featureClaim(acts, counts, rankFeatures(acts, counts, { k, position: "final token" }), {
    seed: 1,
    resamples: 200,
  });
}

describe("featureClaim", () => {
  it("disappears on features that know nothing of the count", () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const { follows, noAccumulator, text } = claimOf(noise(seed), 10);
      expect({ follows, noAccumulator }).toEqual({ follows: false, noAccumulator: false });
      expect(text).toMatch(/^No feature is shown to follow the count: /);
    }
  });

  it("finds planted features that rise and fall, and says that none is a counter", () => {
    const turning = noise(6).map((row, i) => [
      Math.max(0, 30 - Math.abs(counts[i]! - 40)),
      Math.max(0, 25 - Math.abs(counts[i]! - 42)),
      ...row.slice(2),
    ]);
    const { follows, noAccumulator, monotone, text } = claimOf(turning, 2);
    expect({ follows, noAccumulator }).toEqual({ follows: true, noAccumulator: true });
    expect(monotone.map(({ feature }) => feature).sort()).toEqual([0, 1]);
    expect(Math.max(...monotone.map(({ share }) => share))).toBeLessThan(0.95);
    expect(text).toMatch(/^Features follow the count: .*No single feature accumulates the count\. top 2 of/);
  });

  it("does not deny a planted accumulator", () => {
    const counter = noise(7).map((row, i) => [counts[i]! / 10, ...row.slice(1)]);
    const { best, follows, noAccumulator, monotone, text } = claimOf(counter, 1);
    expect(best.estimate).toBeCloseTo(1, 6);
    expect({ follows, noAccumulator }).toEqual({ follows: true, noAccumulator: false });
    expect(monotone[0]!.share).toBe(1);
    expect(text).toContain("An accumulator is not ruled out.");
  });

  it("is held against random directions where they are given", () => {
    const acts = sparse(noise(7).map((row, i) => [counts[i]! / 10, ...row.slice(1)]));
    const ranking = rankFeatures(acts, counts, { k: 1, position: "final token" });
    const against = (randomBest: number) =>
      featureClaim(acts, counts, ranking, { seed: 1, resamples: 100, randomBest });
    expect(against(0.6)).toMatchObject({ beyondRandom: true });
    expect(against(-1)).toMatchObject({ follows: true, beyondRandom: false });
    expect(against(-1).text).toContain(
      "random directions has |r| = 1: that features do better is not shown.",
    );
    expect(claimOf(noise(7), 3).beyondRandom).toBeNull();
  });

  it("refuses rankings without features", () => {
    const acts = sparse(counts.map(() => [1]));
    const ranking = rankFeatures(acts, counts, { k: 1, position: "final token" });
    expect(() => featureClaim(acts, counts, ranking, { seed: 1 })).toThrow(/no feature varies/);
  });
});
