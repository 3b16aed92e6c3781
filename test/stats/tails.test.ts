import { describe, expect, it } from "vitest";
import { chiSquareTail, fTail, normalTail, studentTail } from "../../src/stats/tails.js";
import { close, reference } from "./reference.js";

describe("tails", () => {
  it("are exact far out, in logarithms", () => {
    for (const [t, df, log] of reference.student) {
      close(studentTail(t, df, "upper").logP, log, 1e-9);
      close(studentTail(-t, df, "lower").logP, log, 1e-9);
      close(studentTail(-t, df).logP, log + Math.LN2, 1e-9);
    }
    for (const [z, log] of reference.normal) close(normalTail(z, "upper").logP, log, 1e-9);
    for (const [x, df, log] of reference.chi2) close(chiSquareTail(x, df).logP, log, 1e-9);
    for (const [x, a, b, log] of reference.f) close(fTail(x, a, b).logP, log, 1e-9);
  });

  it("keep both sides of a symmetric distribution together", () => {
    for (const value of [-2.5, -0.1, 0, 0.1, 2.5]) {
      close(normalTail(value, "upper").p + normalTail(value, "lower").p, 1, 1e-12);
      close(studentTail(value, 7, "upper").p + studentTail(value, 7, "lower").p, 1, 1e-12);
      close(studentTail(value, 7).p, 2 * studentTail(Math.abs(value), 7, "upper").p, 1e-12);
    }
    expect(studentTail(0, 5)).toEqual({ p: 1, logP: 0 });
    expect(normalTail(Number.POSITIVE_INFINITY).p).toBe(0);
    expect(studentTail(Number.POSITIVE_INFINITY, 5).p).toBe(0);
    expect(chiSquareTail(0, 1)).toEqual({ p: 1, logP: 0 });
    expect(fTail(0, 2, 5).p).toBe(1);
  });

  it("refuse NaN and impossible parameters", () => {
    expect(() => normalTail(Number.NaN)).toThrow("normalTail: the statistic is NaN");
    expect(() => studentTail(1, 0)).toThrow("studentTail: 0 degrees of freedom");
    expect(() => chiSquareTail(-1, 1)).toThrow("chiSquareTail: -1 on 1 df");
    expect(() => fTail(1, 2, 0)).toThrow("fTail: 1 on 2 and 0 df");
  });
});
