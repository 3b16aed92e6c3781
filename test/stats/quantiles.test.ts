import { describe, expect, it } from "vitest";
import { betaQuantile, normalQuantile, studentQuantile } from "../../src/stats/quantiles.js";
import { close, reference } from "./reference.js";

describe("quantiles", () => {
  it("equal the reference", () => {
    for (const [p, a, b, x] of reference.betaQuantile) close(betaQuantile(p, a, b), x, 1e-9);
    for (const [p, df, t] of reference.studentQuantile) close(studentQuantile(p, df), t, 1e-9);
    close(normalQuantile(0.975), 1.959963984540054, 1e-12);
    expect(studentQuantile(0.5, 3)).toBe(0);
  });

  it("refuse probabilities outside 0 .. 1", () => {
    expect(() => normalQuantile(0)).toThrow("normalQuantile: probability 0");
    expect(() => betaQuantile(1, 2, 3)).toThrow("betaQuantile: probability 1");
    expect(() => studentQuantile(Number.NaN, 3)).toThrow("studentQuantile: probability NaN");
  });
});
