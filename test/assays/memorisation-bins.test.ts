import { expect, it } from "vitest";
import { accuracyBins, pairProducts } from "../../src/assays/memorisation-bins.js";
import { stackGrids } from "../../src/assays/memorisation-rows.js";

const rows = stackGrids([
  { model: "m", parameters: 1e9, range: [1, 3], errors: [{ a: 3, b: 3, expected: 9, predicted: 8 }] },
]);

it("bins pairs by powers of the factor, without empty bins", () => {
  const values = Float64Array.from([0, 1, 3, 4, 15, 16, 300, 300, 300]);
  const bins = accuracyBins(rows, values);
  expect(bins.map(({ bin, n }) => [bin, n])).toEqual([
    ["0", 1],
    ["1–3", 2],
    ["4–15", 2],
    ["16–63", 1],
    ["256–1023", 3],
  ]);
  expect(bins[4]?.accuracy).toBeCloseTo(2 / 3, 12);
  expect(bins[4]?.low).toBeLessThan(2 / 3);
  expect(accuracyBins(rows, values, 2)[1]?.bin).toBe("1");
});

it("bins by the product, and refuses values of other pairs", () => {
  expect([...pairProducts(rows)]).toEqual([1, 2, 3, 2, 4, 6, 3, 6, 9]);
  expect(() => accuracyBins(rows, new Float64Array(4))).toThrow("accuracyBins: 4 values for 9 pairs");
  expect(() => accuracyBins(rows, pairProducts(rows), 1)).toThrow("factor 1");
});
