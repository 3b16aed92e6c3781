import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isotonic, monotoneShare } from "../../src/stats/isotonic.js";

const { cases } = JSON.parse(
  readFileSync(join(import.meta.dirname, "..", "fixtures", "stats", "isotonic.json"), "utf8"),
) as { cases: Record<string, { y: number[]; fitted: number[]; share: number }> };

describe("isotonic", () => {
  it.each(Object.entries(cases))("%s: as scikit-learn, to 1e-6", (_, { y, fitted, share }) => {
    isotonic(y).forEach((value, i) => {
      expect(Math.abs(value - fitted[i]!)).toBeLessThan(1e-6);
    });
    expect(Math.abs(monotoneShare(y) - share)).toBeLessThan(1e-6);
  });

  it("takes rising and falling alike, and knows what never varies", () => {
    const y = [1, 2, 2, 5];
    expect(monotoneShare(y)).toBe(1);
    expect(monotoneShare([...y].reverse())).toBe(1);
    expect(monotoneShare([3, 3, 3])).toBeNaN();
    expect([...isotonic([])]).toEqual([]);
    expect(() => isotonic([1, Number.NaN])).toThrow(/isotonic\[1\] is NaN/);
  });
});
