import { expect, it } from "vitest";
import { mcnemar } from "../../src/stats/mcnemar.js";
import { close, reference } from "./reference.js";

it("equals the exact binomial test of the discordant rows", () => {
  for (const [i, j, p] of reference.mcnemar) {
    const first = [...Array(i).fill(true), ...Array(j).fill(false), true, false];
    const second = [...Array(i).fill(false), ...Array(j).fill(true), true, false];
    const test = mcnemar(first, second);
    expect(test).toMatchObject({ onlyFirst: i, onlySecond: j });
    close(test.exact.logP, Math.log(p), 1e-9);
  }
  expect(mcnemar([1, 0], [1, 0]).exact.p).toBe(1);
  expect(() => mcnemar([1, 0], [1, Number.NaN])).toThrow("mcnemar: second[1] is NaN");
  expect(() => mcnemar([], [])).toThrow("mcnemar: 0 values");
});
