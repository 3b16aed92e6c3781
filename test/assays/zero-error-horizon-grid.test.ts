import { describe, expect, it } from "vitest";
import { accuracyWithin, readGrid, summariseGrid } from "../../src/assays/zero-error-horizon-grid.js";
import { loadPublished, type PublishedGrid } from "../../src/store/published.js";

// The published grids are not part of the repository: without them these tests are skipped.
const published = await loadPublished();
const named = (part: string): PublishedGrid => published!.grids.find((grid) => grid.model.includes(part))!;

// What the paper prints: Table 3 and the limiters of sections 2.2.3 and 3.2.
const printed = [
  ["0.5B", 0, [1, 1, 2], 4412, 0.5498],
  ["1.5B", 20, [1, 21, 42], 2360, 0.7592],
  ["3B", 15, [11, 16, 186], 2032, 0.7927],
  ["7B", 22, [4, 23, 86], 668, 0.9318],
  ["14B", 26, [11, 27, 303], 287, 0.9707],
  ["32B", 33, [34, 29, 1006], 140, 0.9857],
  ["72B", 42, [28, 43, 1192], 141, 0.9856],
] as const;

describe.skipIf(published === undefined)(
  "published grids (skipped where zeh-published has not been fetched)",
  () => {
    it.each(printed)("%s: horizon %i as printed", (name, horizon, [a, b, predicted], errors, accuracy) => {
      const summary = summariseGrid(named(`-${name}-`));
      expect(summary.horizon).toBe(horizon);
      expect(summary.reached).toBe(true);
      expect(summary.limiters).toContainEqual({ a, b, expected: a * b, predicted });
      expect(summary.errors).toBe(errors);
      expect(summary.accuracy).toBeCloseTo(accuracy, 4);
    });

    it("gives the authors' verdicts from the raw responses of five models", () => {
      const withText = published!.grids.filter((grid) => grid.responses !== undefined);
      expect(withText).toHaveLength(5);
      for (const grid of withText) expect(readGrid(grid.responses!, grid.range).errors).toEqual(grid.errors);
    });

    it("taking the last integer instead gives other verdicts", () => {
      const grid = named("-1.5B-");
      const errors = readGrid(grid.responses!, grid.range, "last").errors;
      const structured = errors.filter(({ expected, predicted }) => {
        const by = Math.abs((predicted ?? Number.NaN) - expected);
        return by % 10 === 0 && by >= 10 && by <= 100;
      });
      expect([errors.length, structured.length]).toEqual([2354, 1840]);
    });

    it("accuracy depends on the range: Figure 3", () => {
      const at = (name: string) => [20, 50, 99].map((n) => accuracyWithin(named(name), n).toFixed(4));
      expect(at("-72B-")).toEqual(["1.0000", "0.9984", "0.9856"]);
      expect(at("-7B-")).toEqual(["1.0000", "0.9952", "0.9318"]);
    });
  },
);

describe("summariseGrid", () => {
  const error = { a: 2, b: 3, expected: 6, predicted: null };

  it("has a lower bound where nothing is wrong, and every error of the failing size as a limiter", () => {
    expect(summariseGrid({ range: [1, 9], errors: [] })).toMatchObject({
      horizon: 9,
      reached: false,
      limiters: [],
    });
    const two = [error, { ...error, a: 3, b: 3 }, { ...error, a: 4 }];
    expect(summariseGrid({ range: [1, 4], errors: two })).toMatchObject({ horizon: 2, errors: 3 });
    expect(summariseGrid({ range: [1, 4], errors: two }).limiters).toHaveLength(2);
  });

  it("refuses ranges and gaps that would give a wrong number", () => {
    expect(() => summariseGrid({ range: [2, 9], errors: [] })).toThrow(
      "summariseGrid: range 2..9; a horizon needs",
    );
    expect(() => accuracyWithin({ range: [1, 9], errors: [] }, 10)).toThrow(
      "accuracyWithin: 10; expected 1..9",
    );
    expect(() => readGrid(new Map([["1,1", "1"]]), [1, 2])).toThrow("readGrid: no response for 1,2");
  });
});
