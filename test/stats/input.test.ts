import { expect, it } from "vitest";
import { binary, codes, finite, paired } from "../../src/stats/input.js";

it("copies checked numbers and names what is wrong", () => {
  expect([...finite("f: x", [1, 2])]).toEqual([1, 2]);
  expect(() => finite("f: x", [1, undefined as unknown as number])).toThrow("f: x[1] is undefined");
  expect([...binary("f: y", [true, 0, 1, false])]).toEqual([1, 0, 1, 0]);
  expect(() => binary("f: y", [0.5])).toThrow("f: y[0] is 0.5; expected true, false, 0 or 1");
  expect(() => paired("f", [1], [1, 2], 1)).toThrow("f: 1 and 2 values");
  expect(() => paired("f", [], [], 1)).toThrow("f: 0 values; expected at least 1");
  expect(codes(["b", "a", "b"])).toEqual({ code: new Int32Array([0, 1, 0]), count: 2 });
});
