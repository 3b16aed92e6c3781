import { describe, expect, it } from "vitest";
import { pearson, spearman } from "../../src/stats/correlation.js";
import { close, reference } from "./reference.js";

const { x, y, z, small, ...figures } = reference.correlation;

describe("correlation", () => {
  it("equals scipy with ties, for plain and typed arrays", () => {
    const rho = spearman(x, Float32Array.from(y));
    close(rho.r, figures.spearman[0]);
    close(rho.student.p, figures.spearman[1]);
    const r = pearson(Float64Array.from(x), z);
    close(r.r, figures.pearson[0]);
    close(r.student.p, figures.pearson[1]);
    expect(r.exact).toBeUndefined();
  });

  it("counts every pairing when there are few rows", () => {
    const rho = spearman(small.x, small.y);
    close(rho.r, small.spearman);
    close(rho.exact?.p ?? Number.NaN, small.exactSpearman);
    close(pearson(small.x, small.y).exact?.p ?? Number.NaN, small.exactPearson);
    // A perfect order of 5 and its reverse: 2 of 120 pairings.
    const perfect = spearman([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]);
    close(perfect.exact?.p ?? Number.NaN, 2 / 120, 1e-12);
    expect(perfect.student.p).toBeLessThan(1e-20);
    expect(spearman(small.x, small.y, { exactUpTo: 5 }).exact).toBeUndefined();
  });

  it("says that a constant list has no correlation", () => {
    const rho = spearman([1, 1, 1, 1], [1, 2, 3, 4]);
    expect(rho.r).toBeNaN();
    expect(rho.student.p).toBeNaN();
    expect(rho.exact).toBeUndefined();
    expect(pearson([0.1, 0.1, 0.1], [1, 2, 3]).r).toBeNaN();
  });

  it("refuses NaN, unequal lengths and too few rows", () => {
    expect(() => pearson([1, 2, Number.NaN], [1, 2, 3])).toThrow("pearson: x[2] is NaN");
    expect(() => spearman([1, 2, 3], [1, 2, Number.POSITIVE_INFINITY])).toThrow("[2] is Infinity");
    expect(() => spearman([1, 2], [1, 2, 3])).toThrow("spearman: 2 and 3 values");
    expect(() => spearman([1, 2], [1, 2])).toThrow("spearman: 2 values; expected at least 3");
  });
});
