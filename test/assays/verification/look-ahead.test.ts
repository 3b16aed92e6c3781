import { describe, expect, it } from "vitest";
import { nextSizes } from "../../../src/assays/verification/look-ahead.js";

/** All batches of a search that finds its first error at `horizon + 1`. */
function search(horizon: number, last: number, count: (size: number) => number) {
  const batches: number[][] = [];
  let verified = 0;
  for (let next = 1; next <= last; next = batches.at(-1)!.at(-1)! + 1) {
    const sizes = nextSizes(next, last, verified, count);
    batches.push(sizes);
    verified += sizes.reduce((sum, size) => sum + count(size), 0);
    if (sizes.at(-1)! > horizon) break;
  }
  return { batches, verified };
}

describe("nextSizes", () => {
  it("grows from one size, and covers every size once", () => {
    const { batches } = search(99, 99, (n) => 2 * n - 1);
    expect(batches[0]).toEqual([1]);
    expect(batches[1]).toEqual([2]);
    expect(batches.flat()).toEqual(Array.from({ length: 99 }, (_, i) => i + 1));
    expect(batches.length).toBeLessThan(20);
  });

  it("verifies no more than about twice what a search size by size does", () => {
    const count = (n: number) => 2 * n - 1;
    for (let horizon = 0; horizon < 99; horizon++) {
      const { verified } = search(horizon, 99, count);
      expect(verified).toBeLessThanOrEqual(2 * (horizon + 1) ** 2);
    }
    expect(search(0, 99, count).verified).toBe(1);
  });

  it("never looks ahead where each size has more instances than all before", () => {
    expect(search(10, 12, (n) => 2 ** n).batches.every((sizes) => sizes.length === 1)).toBe(true);
  });
});
