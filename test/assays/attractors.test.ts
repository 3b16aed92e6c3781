import { describe, expect, it } from "vitest";
import { attractorHistogram } from "../../src/assays/attractors.js";

describe("attractorHistogram", () => {
  const said = (model: string, prediction: number | null, ...targets: number[]) =>
    targets.map((target) => ({ model, target, prediction }));

  it("counts wrong answers by value, with where they were said", () => {
    const result = attractorHistogram([
      ...said("one", 500, 90, 120, 700),
      ...said("two", 500, 300),
      ...said("two", 73, 74),
      ...said("one", 60, 61, 59),
      ...said("one", 60, 60), // right: not an attractor
      ...said("one", null, 80), // no integer
    ]);
    expect(result.wrong).toBe(7);
    expect(result.values.map(({ value, times }) => [value, times])).toEqual([
      [500, 4],
      [60, 2],
      [73, 1],
    ]);
    expect(result.values[0]).toEqual({ value: 500, times: 4, share: 4 / 7, from: 90, to: 700, models: 2 });
    expect(result.multiplesOf10).toBeCloseTo(6 / 7);
    expect(result.multiplesOf100).toBeCloseTo(4 / 7);
    expect(result.top1).toBeCloseTo(4 / 7);
    expect(result.top3).toBeCloseTo(1);
  });

  it("measures variety as a number of values", () => {
    expect(attractorHistogram(said("m", 7, 1, 2, 3)).effectiveValues).toBeCloseTo(1);
    const even = [10, 20, 30, 40].flatMap((value) => said("m", value, 1, 2));
    expect(attractorHistogram(even).effectiveValues).toBeCloseTo(4);
  });

  it("has nothing to say of a model that is always right", () => {
    expect(attractorHistogram(said("m", 5, 5))).toMatchObject({
      values: [],
      wrong: 0,
      top1: 0,
      effectiveValues: 0,
    });
  });
});
