import { describe, expect, it } from "vitest";
import { logBetaTails, logBetaTailsOf, logOneMinusExp } from "../../src/stats/incomplete-beta.js";
import { close, reference } from "./reference.js";

describe("logBetaTails", () => {
  it("gives both tails as 50-digit arithmetic does", () => {
    for (const [x, a, b, lower, upper] of reference.beta) {
      const tails = logBetaTails(x, a, b);
      close(tails.lower, lower, 1e-9);
      close(tails.upper, upper, 1e-9);
    }
  });

  it("has tails of 0 and 1 at the ends", () => {
    expect(logBetaTails(0, 2, 3)).toEqual({ lower: Number.NEGATIVE_INFINITY, upper: 0 });
    expect(logBetaTails(1, 2, 3)).toEqual({ lower: 0, upper: Number.NEGATIVE_INFINITY });
    expect(() => logBetaTails(1.1, 2, 3)).toThrow("logBetaTails: x 1.1");
    expect(() => logBetaTails(0.5, 0, 3)).toThrow("a 0");
  });

  it("takes logarithms where x is too near to 1 for itself", () => {
    // P(X > 1 - 1e-30) for Beta(1, 1/2) is sqrt(1e-30).
    close(logBetaTailsOf(-1e-30, Math.log(1e-30), 1, 0.5).upper, Math.log(1e-15), 1e-12);
    close(logOneMinusExp(-1e-20), Math.log(1e-20), 1e-12);
    close(logOneMinusExp(-50), -Math.exp(-50), 1e-30);
  });
});
