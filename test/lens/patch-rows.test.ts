import { describe, expect, it } from "vitest";
import { derangement, donorRows, onlyHead, randomShift } from "../../src/lens/patch-rows.js";
import { random } from "../../src/stats/random.js";

const norm = (row: ArrayLike<number>) => Math.hypot(...Array.from(row));

describe("rows of patches and their controls", () => {
  it("resamples run by run, never across two runs", () => {
    const donor = Float32Array.of(5, 0, 1, 2, 9);
    const from = [Int32Array.of(0), Int32Array.of(1, 2, 3), Int32Array.of(4)];
    const to = [Int32Array.of(0), Int32Array.of(1, 2), Int32Array.of(3)];
    expect([...donorRows(donor, 1, from, to)]).toEqual([5, 0, 2, 9]);
  });

  it("shifts by as much as the patch in another direction, seeded, and not at all where the patch does nothing", () => {
    const own = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i));
    const donor = own.map((value, i) => (i < 32 ? value + 3 : value));
    const shifted = randomShift(own, donor, 32, random(1));
    const moved = shifted.map((value, i) => value - own[i]!);
    expect(norm(moved.subarray(0, 32))).toBeCloseTo(norm(new Float32Array(32).fill(3)), 4);
    expect(norm(moved.subarray(32))).toBe(0);
    const cosine = moved.subarray(0, 32).reduce((sum, value) => sum + value, 0) / norm(moved) / Math.sqrt(32);
    expect(Math.abs(cosine)).toBeLessThan(0.6);
    expect(randomShift(own, donor, 32, random(1))).toEqual(shifted);
    expect(randomShift(own, donor, 32, random(2))).not.toEqual(shifted);
  });

  it("takes one head's share of every row", () => {
    const own = new Float32Array(8);
    const donor = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    expect([...onlyHead(own, donor, 4, 1, 2)]).toEqual([0, 0, 3, 4, 0, 0, 7, 8]);
  });

  it("exchanges donors so that none keeps its own", () => {
    for (let count = 2; count < 12; count++) {
      const partner = derangement(count, random(count));
      expect([...partner].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
      expect(partner.every((to, from) => to !== from)).toBe(true);
    }
    expect(() => derangement(1, random(1))).toThrow(/at least 2/);
  });
});
