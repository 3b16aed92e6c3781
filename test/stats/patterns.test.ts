import { expect, it } from "vitest";
import { patterns } from "../../src/stats/patterns.js";

it("merges rows that are alike and loses none", () => {
  const a = new Float64Array([1, 1, 2, 1, 2]);
  const b = new Float64Array([0, 0.5, 0, 0, 0]);
  const merged = patterns([a, b], new Uint8Array([1, 0, 1, 0, 1]));
  expect(merged.count).toBe(3);
  expect([...merged.of]).toEqual([0, 1, 2, 0, 2]);
  expect([...merged.values]).toEqual([1, 0, 1, 0.5, 2, 0]);
  expect([...merged.trials]).toEqual([2, 1, 2]);
  expect([...merged.ones]).toEqual([1, 0, 2]);
});
