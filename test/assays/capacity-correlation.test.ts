import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { capacityCorrelation } from "../../src/assays/capacity-correlation.js";

type Three = Record<"pearson" | "pearson of log" | "spearman", { r: number; p: number; models: number }>;
const reference = JSON.parse(
  readFileSync(new URL("../fixtures/assays/correlation.json", import.meta.url), "utf8"),
) as {
  models: { model: string; capacity: number | null; score: number; date: string }[];
  split: string;
  all: Three;
  before: Three;
  from: Three;
};
const { models, split } = reference;

describe("capacityCorrelation", () => {
  const result = capacityCorrelation(models, models, { splitAt: split });

  it.each(["all", "before", "from"] as const)("agrees with scipy for %s", (group) => {
    const rows = result.rows.filter((row) => row.group === group);
    expect(rows.map(({ method }) => method)).toEqual(["pearson", "pearson of log", "spearman"]);
    for (const { method, r, p, models } of rows) {
      expect(r).toBeCloseTo(reference[group][method].r, 10);
      expect(models).toBe(reference[group][method].models);
      // Up to nine models p is by permutation, not from Student's t as in scipy.
      if (models > 9) expect(p).toBeCloseTo(reference[group][method].p, 8);
      else expect(p).toBeGreaterThan(0);
    }
  });

  it("has an interval around each r, and says how <32 entered", () => {
    for (const { r, interval, models } of result.rows) {
      expect(interval === undefined).toBe(models < 5);
      if (interval === undefined) continue;
      expect(interval.low).toBeLessThanOrEqual(r);
      expect(interval.high).toBeGreaterThanOrEqual(r);
    }
    expect(result.points.find(({ model }) => model === "m0")).toMatchObject({ capacity: 16, below: true });
    expect(result.rows[0]).toMatchObject({ below: 1, models: 12 });
    const omitted = capacityCorrelation(models, models, { belowStart: "omit" });
    expect(omitted.rows[0]).toMatchObject({ below: 0, models: 11 });
    const ranks = (belowStart: number) => capacityCorrelation(models, models, { belowStart }).rows[2]?.r;
    expect(ranks(1)).toBe(ranks(31));
  });

  it("says which models it could not use", () => {
    const some = capacityCorrelation(
      [...models.slice(0, 6), { model: "only measured", capacity: 64 }],
      [
        ...models.slice(1).map(({ model, score }) => ({ model: ` ${model.toUpperCase()} `, score })),
        { model: "only scored", score: 1 },
      ],
      { splitAt: split },
    );
    expect(some.points.map(({ model }) => model)).toEqual(["m1", "m2", "m3", "m4", "m5"]);
    expect(some.unmatched).toEqual(expect.arrayContaining(["m0", "only measured", "only scored", "m11"]));
    expect(some.undated).toEqual(["m1", "m2", "m3", "m4", "m5"]);
    expect(some.rows.map(({ group }) => group)).toEqual(["all", "all", "all"]);
  });

  it.each([
    [models.slice(0, 2), models, {}, "2 models in both lists; expected at least 3"],
    [[...models, { model: "M3", capacity: 1 }], models, {}, "M3 stands twice in the capacities"],
    [models, models, { splitAt: "spring" }, "splitAt spring; expected an ISO date"],
    [models, models, { belowStart: 0 }, "a capacity of 0 has no logarithm; give null for <32"],
  ])("refuses what cannot be correlated", (capacities, scores, options, message) => {
    expect(() => capacityCorrelation(capacities, scores, options)).toThrow(`capacityCorrelation: ${message}`);
  });
});
