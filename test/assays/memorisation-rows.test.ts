import { describe, expect, it } from "vitest";
import { gridFrequency, type ModelGrid, ofModel, stackGrids } from "../../src/assays/memorisation-rows.js";

const small: ModelGrid = {
  model: "small",
  parameters: 1e6,
  range: [1, 3],
  errors: [{ a: 2, b: 3, expected: 6, predicted: 5 }],
};
const large: ModelGrid = { model: "large", parameters: 1e8, range: [1, 3], errors: [] };

describe("stackGrids", () => {
  it("gives one row for each pair of each model, models one after the other", () => {
    const rows = stackGrids([small, large], { parameterUnit: 1e6 });
    expect(rows.rows).toBe(18);
    expect([...ofModel(rows, rows.correct, 0)]).toEqual([1, 1, 1, 1, 1, 0, 1, 1, 1]);
    expect([...ofModel(rows, rows.correct, 1)]).toEqual(Array(9).fill(1));
    expect([rows.a[5], rows.b[5], rows.pair[5], rows.model[5]]).toEqual([2, 3, 5, 0]);
    expect([rows.a[14], rows.b[14], rows.pair[14], rows.model[14]]).toEqual([2, 3, 5, 1]);
    expect([rows.log10Parameters[0], rows.log10Parameters[17]]).toEqual([0, 2]);
    expect(rows.log10Product[5]).toBeCloseTo(Math.log10(6), 12);
    expect(rows.log10Larger[5]).toBeCloseTo(Math.log10(3), 12);
    expect(stackGrids([large]).log10Parameters[0]).toBeCloseTo(-1, 12);
  });

  it("joins counts in the order of a model's rows", () => {
    const counts = new Map([
      ["1,2", 4],
      ["3,1", 9],
    ]);
    expect([...gridFrequency(small, counts, "ordered")]).toEqual([0, 4, 0, 0, 0, 0, 9, 0, 0]);
    expect([...gridFrequency(small, counts, "symmetric")]).toEqual([0, 4, 9, 4, 0, 0, 9, 0, 0]);
  });

  it("refuses grids that do not belong together", () => {
    expect(() => stackGrids([])).toThrow("stackGrids: no grids");
    expect(() => stackGrids([small, { ...large, range: [1, 4] }])).toThrow(
      "large has the range 1..4; expected 1..3",
    );
    expect(() => stackGrids([small, small])).toThrow("two grids of small");
    expect(() => stackGrids([{ ...small, parameters: Number.NaN }])).toThrow("small has NaN parameters");
    expect(() => stackGrids([{ ...small, range: [0, 3] }])).toThrow("range 0..3");
    const [error] = small.errors;
    expect(() => stackGrids([{ ...small, errors: [error!, error!] }])).toThrow("small lists 2,3 twice");
    expect(() => stackGrids([{ ...small, errors: [{ ...error!, b: 4 }] }])).toThrow("outside 1..3");
  });
});
