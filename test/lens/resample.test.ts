import { describe, expect, it } from "vitest";
import { resampleRows } from "../../src/lens/resample.js";

const rows = (...values: number[][]) => Float32Array.from(values.flat());

describe("resampleRows", () => {
  it("interpolates linearly with the ends aligned, longer and shorter", () => {
    const line = rows([0, 10], [1, 20], [2, 30]);
    expect(resampleRows(line, 2, 5)).toEqual(rows([0, 10], [0.5, 15], [1, 20], [1.5, 25], [2, 30]));
    expect(resampleRows(line, 2, 2)).toEqual(rows([0, 10], [2, 30]));
    const five = resampleRows(rows([0], [1], [4], [9], [16]), 1, 4);
    expect([...five].map((value) => value.toFixed(5))).toEqual(["0.00000", "2.00000", "7.33333", "16.00000"]);
  });

  it("gives the same rows back bit for bit, in a copy", () => {
    const own = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i) / 3);
    expect(resampleRows(own, 3, 4)).toEqual(own);
    expect(resampleRows(own, 3, 4)).not.toBe(own);
  });

  it("repeats a single row, and takes the last where one is wanted", () => {
    expect(resampleRows(rows([3, 4]), 2, 3)).toEqual(rows([3, 4], [3, 4], [3, 4]));
    expect(resampleRows(rows([1], [2], [7]), 1, 1)).toEqual(rows([7]));
  });

  it("refuses broken rows, no rows and no length", () => {
    expect(() => resampleRows(new Float32Array(5), 2, 3)).toThrow(/5 numbers in rows of 2/);
    expect(() => resampleRows(new Float32Array(0), 2, 3)).toThrow(/at least one/);
    expect(() => resampleRows(new Float32Array(4), 2, 0)).toThrow(/to 0 rows/);
  });
});
