import { describe, expect, it } from "vitest";
import { agreement, heldOut } from "../../src/lens/probe-held-out.js";
import { random } from "../../src/stats/random.js";
import { planted, upTo } from "./planted.js";

describe("heldOut", () => {
  it("reads planted counts it has not seen, with the error that the noise implies", () => {
    const truth = planted({ counts: upTo(60, 5), width: 24, slope: 0.5, noise: 0.1, seed: 3 });
    for (const estimator of ["ridge", "covariance", "principal"] as const) {
      const { r2, rmse, interval, control } = heldOut(truth, truth.counts, { estimator, permutations: 39 });
      // Noise of 0.1 over a slope of 0.5 is 0.2 items; what the direction misses adds a little.
      expect(rmse).toBeGreaterThan(0.17);
      expect(rmse).toBeLessThan(0.3);
      expect(r2).toBeGreaterThan(0.999);
      expect(interval.low).toBeGreaterThan(0.999);
      expect(interval.high).toBeGreaterThanOrEqual(r2);
      expect(control!.highest).toBeLessThan(0.5);
      expect(control!.p).toBe(1 / 40);
    }
  });

  it("reads nothing from noise, though with more dimensions than rows the fit is perfect", () => {
    const draw = random(8, "noise");
    const rows = { data: Float32Array.from({ length: 40 * 120 }, () => draw.normal()), width: 120 };
    const { r2, interval, control } = heldOut(rows, upTo(40), { penalty: 1e-9, permutations: 39 });
    expect(r2).toBeLessThan(0.2);
    expect(interval.low).toBeLessThan(control!.highest);
    expect(control!.p).toBeGreaterThan(0.05);
  });

  it("never reads a count by a probe that has seen it: copies of a count do not help", () => {
    const draw = random(9, "copies");
    const single = Float32Array.from({ length: 30 * 80 }, () => draw.normal());
    const counts = [...upTo(30), ...upTo(30), ...upTo(30)];
    const copies = { data: Float32Array.from([...single, ...single, ...single]), width: 80 };
    expect(heldOut(copies, counts, { permutations: 0 }).r2).toBeLessThan(0.2);
  });

  it("is the same for the same seed, and other folds for another", () => {
    const truth = planted({ counts: upTo(30, 2), width: 10, slope: 1, noise: 2, seed: 4 });
    const read = (seed: number) => [...heldOut(truth, truth.counts, { seed, permutations: 0 }).read];
    expect(read(1)).toEqual(read(1));
    expect(read(1)).not.toEqual(read(2));
  });

  it("refuses too few counts, folds and permutations", () => {
    const truth = planted({ counts: upTo(3, 4), width: 4, slope: 1, noise: 0.1, seed: 1 });
    expect(() => heldOut(truth, truth.counts)).toThrow(/heldOut: 3 different counts; expected at least 4/);
    const more = planted({ counts: upTo(9), width: 4, slope: 1, noise: 0.1, seed: 1 });
    expect(() => heldOut(more, more.counts, { folds: 1 })).toThrow(/1 folds/);
    expect(() => heldOut(more, more.counts, { permutations: -1 })).toThrow(/-1 permutations/);
  });
});

describe("agreement", () => {
  it("has R2, squared correlation and errors of given rows", () => {
    expect(agreement([1, 2, 3, 4], [1, 2, 3, 4])).toEqual({
      r2: 1,
      correlation2: 1,
      rmse: 0,
      meanAbsolute: 0,
      n: 4,
    });
    const shifted = agreement([3, 4, 5], [1, 2, 3]);
    expect(shifted.r2).toBe(1 - 12 / 2);
    expect(shifted.correlation2).toBeCloseTo(1, 12);
    expect(shifted.meanAbsolute).toBe(2);
    expect(agreement([9, 1, 2, 9], [5, 1, 2, 5], [1, 2]).r2).toBe(1);
    expect(agreement([1, 2], [5, 5]).r2).toBeNaN();
  });
});
