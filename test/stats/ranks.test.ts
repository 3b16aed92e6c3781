import { expect, it } from "vitest";
import { ranks } from "../../src/stats/ranks.js";
import { reference } from "./reference.js";

it("shares ranks among ties, for plain and typed arrays", () => {
  expect([...ranks([10, 20, 10, 30])]).toEqual([1.5, 3, 1.5, 4]);
  expect([...ranks(new Float32Array([3, 1, 2]))]).toEqual([3, 1, 2]);
  expect([...ranks(reference.correlation.x)]).toEqual(reference.correlation.ranks);
  expect([...ranks([0, -0, 1])]).toEqual([1.5, 1.5, 3]);
  expect(ranks([]).length).toBe(0);
  expect(() => ranks([1, Number.NaN])).toThrow("ranks: values[1] is NaN");
});
