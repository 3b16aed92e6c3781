import { describe, expect, it } from "vitest";
import { planHorizon } from "../../src/assays/horizon-plan.js";
import { accuracyUpTo, horizonAtMargin } from "../../src/assays/horizon-result.js";
import { summariseHorizons } from "../../src/assays/prompt-stability.js";
import { gridOf } from "../../src/assays/zero-error-horizon-grid.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { parity } from "../../src/tasks/parity.js";

const row = (size: number, wrong: number, margin: number) => ({
  size,
  instances: 2 * size - 1,
  wrong,
  margin,
});
const result = { sizes: [row(1, 0, 5), row(2, 0, 0.5), row(3, 0, 2), row(4, 1, 1), row(5, 0, 9)] };

describe("horizonAtMargin", () => {
  it("is the horizon at 0 and falls as more is asked", () => {
    expect([0, 0.5, 0.6, 5, 6].map((epsilon) => horizonAtMargin(result, epsilon))).toEqual([3, 3, 1, 1, 0]);
    const at = Array.from({ length: 60 }, (_, i) => horizonAtMargin(result, i / 10));
    expect(at).toEqual([...at].sort((a, b) => b - a));
  });

  it("takes unknown margins as none", () => {
    const server = { sizes: [row(1, 0, Number.NaN), row(2, 0, Number.NaN)] };
    expect([horizonAtMargin(server, 0), horizonAtMargin(server, 0.01)]).toEqual([2, 0]);
    expect(() => horizonAtMargin(server, -1)).toThrow("horizonAtMargin: epsilon -1");
    expect(() => horizonAtMargin(server, Number.NaN)).toThrow("horizonAtMargin: epsilon NaN");
  });
});

describe("accuracyUpTo", () => {
  it("counts all instances up to a size", () => {
    expect(accuracyUpTo(result, 3)).toBe(1);
    expect(accuracyUpTo(result, 4)).toBe(15 / 16);
    expect(accuracyUpTo({ sizes: [] }, 4)).toBeNaN();
  });
});

describe("summariseHorizons", () => {
  // Table 1 of the paper, as printed.
  it.each([
    ["0.5B", [0, 10, 6, 0, 1], 3.4, 4.4, 0],
    ["1.5B", [20, 16, 10, 16, 14], 15.2, 3.6, 10],
    ["3B", [15, 12, 12, 12, 9], 12.0, 2.1, 9],
    ["7B", [22, 22, 22, 21, 22], 21.8, 0.4, 21],
    ["14B", [26, 41, 41, 31, 43], 36.4, 7.5, 26],
    ["32B", [33, 46, 33, 33, 33], 35.6, 5.8, 33],
    ["72B", [42, 40, 40, 45, 43], 42.0, 2.1, 40],
  ] as const)("%s as printed", (_, horizons, mean, sd, minimum) => {
    const summary = summariseHorizons(horizons);
    expect(summary.mean).toBeCloseTo(mean, 6);
    expect(Number(summary.sd.toFixed(1))).toBe(sd);
    expect(summary.minimum).toBe(minimum);
  });

  it("has no deviation from one horizon, and nothing from none", () => {
    expect(summariseHorizons([7])).toEqual({ mean: 7, sd: Number.NaN, minimum: 7 });
    expect(() => summariseHorizons([])).toThrow("summariseHorizons: no horizons");
  });
});

describe("planHorizon", () => {
  it("says how many requests each horizon costs", () => {
    const plan = planHorizon(multiplication(), 126, { repeats: 3, prices: { input: 2, output: 8 } });
    expect(plan.sizes.map(({ requests }) => requests)).toEqual(plan.sizes.map(({ size }) => 3 * size ** 2));
    expect(plan.requests).toBe(3 * 126 ** 2);
    expect(plan.cost).toBeCloseTo((plan.inputTokens * 2 + plan.outputTokens * 8) / 1e6);
    expect(planHorizon(parity(), 5).requests).toBe(62);
    expect(() => planHorizon(parity(), 0)).toThrow("planHorizon: upTo: size 0");
  });
});

describe("gridOf", () => {
  it("has operands and read answers", () => {
    const error = {
      key: "4,2",
      fields: { a: "4", b: "2" },
      size: 4,
      expected: "8",
      margin: -1,
      by: "forced",
    } as const;
    const grid = gridOf({
      ...result,
      task: "multiplication",
      errors: [error, { ...error, key: "2,4", fields: { a: "2", b: "4" }, read: "9" }],
    });
    expect(grid).toEqual({
      range: [1, 5],
      errors: [
        { a: 2, b: 4, expected: 8, predicted: 9 },
        { a: 4, b: 2, expected: 8, predicted: null },
      ],
    });
    expect(() => gridOf({ ...result, task: "parity", errors: [] })).toThrow(
      "gridOf: a result of the task parity",
    );
  });
});
