import { describe, expect, it } from "vitest";
import { design, product } from "../../src/stats/design.js";

describe("design", () => {
  it("puts the intercept first and standardises with the divisor asked for", () => {
    const plain = design({ x: [1, 2, 3], y: new Float32Array([1, 0, 1]) });
    expect(plain.names).toEqual(["intercept", "x", "y"]);
    expect([...(plain.columns[1] as Float64Array)]).toEqual([1, 2, 3]);
    const zero = design({ x: [1, 2, 3] }, { standardise: 0 });
    expect(zero.standardised).toEqual([{ name: "x", mean: 2, sd: Math.sqrt(2 / 3) }]);
    const one = design({ x: [1, 2, 3] }, { standardise: 1, intercept: false });
    expect([...(one.columns[0] as Float64Array)]).toEqual([-1, 0, 1]);
    expect([...product([1, 2], [3, 4])]).toEqual([3, 8]);
    expect(() => product([1], [3, 4])).toThrow("product: 1 and 2 rows");
  });

  it("allows the intercept alone, and nothing less", () => {
    expect(design({}, { rows: 4 }).names).toEqual(["intercept"]);
    expect(() => design({})).toThrow("design: no rows");
    expect(() => design({}, { intercept: false, rows: 4 })).toThrow("design: no columns and no intercept");
    expect(() => design({ x: [] })).toThrow("design: no rows");
  });

  it("refuses NaN, constant, collinear and unequal columns", () => {
    expect(() => design({ x: [1, Number.NaN] })).toThrow('design: column "x"[1] is NaN');
    expect(() => design({ x: [2, 2, 2] })).toThrow('design: column "x" is 2 in every row');
    expect(() => design({ x: [0, 0] }, { intercept: false })).toThrow('column "x" is 0 in every row');
    expect(() => design({ x: [1, 2], y: [1, 2, 3] })).toThrow('column "y" has 3 rows; expected 2');
    expect(() => design({ x: [1, 2, 3], y: [5, 7, 9] })).toThrow('"y" is a combination of intercept, x');
    expect(design({ x: [2, 2, 2] }, { intercept: false }).names).toEqual(["x"]);
  });
});
