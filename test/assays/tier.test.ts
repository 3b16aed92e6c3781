import { describe, expect, it } from "vitest";
import { scoreTier, tierTargets } from "../../src/assays/tier.js";

describe("scoreTier", () => {
  it("is the paper's nMAE", () => {
    expect(scoreTier(32, [30, 32, 34, 36], [30, 33, 34, 33], 0.05)).toEqual({
      nMAE: 4 / (4 * 32),
      stable: true,
      exact: 0.5,
      bias: -2 / (4 * 32),
      missing: 0,
      nMAEParsed: 4 / (4 * 32),
      stableParsed: true,
    });
  });

  it("is not stable exactly at the threshold", () => {
    // 32 / (20 * 32) is 0.05 itself.
    const targets = new Array(20).fill(32);
    const off = (by: number) => targets.map((target, k) => (k === 0 ? target + by : target));
    expect(scoreTier(32, targets, off(32), 0.05).nMAE).toBe(0.05);
    expect(scoreTier(32, targets, off(32), 0.05).stable).toBe(false);
    expect(scoreTier(32, targets, off(31), 0.05).stable).toBe(true);
  });

  it("has no parsed score without an integer", () => {
    const score = scoreTier(32, [30, 31], [null, null], 0.05);
    expect(score).toMatchObject({ nMAE: 1, missing: 2, stable: false, stableParsed: false });
    expect(score.nMAEParsed).toBeNaN();
    expect(score.bias).toBeNaN();
  });

  it("refuses lists of different length", () => {
    expect(() => scoreTier(32, [30], [], 0.05)).toThrow(
      "scoreTier: 1 targets and 0 predictions; expected as many",
    );
  });
});

describe("tierTargets", () => {
  it("does not change a trial when more are asked", () => {
    const few = tierTargets(64, { trials: 4, spread: 0.2, seed: 1 });
    const many = tierTargets(64, { trials: 16, spread: 0.2, seed: 1 });
    expect(many.slice(0, 4)).toEqual(few);
  });

  it("is the length itself without a spread", () => {
    expect(tierTargets(50, { trials: 3, spread: 0, seed: "any" })).toEqual([50, 50, 50]);
  });
});
