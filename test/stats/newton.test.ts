import { expect, it } from "vitest";
import { ascend } from "../../src/stats/newton.js";
import { patterns } from "../../src/stats/patterns.js";
import { close } from "./reference.js";

const one = (rows: number) => new Float64Array(rows).fill(1);

it("stops at the closed form of the intercept model", () => {
  const found = ascend(patterns([one(8)], new Uint8Array([1, 1, 1, 0, 0, 0, 0, 0])), [0], 20);
  expect(found.converged).toBe(true);
  close(found.beta[0] as number, Math.log(3 / 5), 1e-12);
  close(found.covariance[0] as number, 1 / (8 * (3 / 8) * (5 / 8)), 1e-12);
});

it("says when it had too few iterations", () => {
  const x = new Float64Array([1, 2, 3, 4, 5, 6]);
  const found = ascend(patterns([one(6), x], new Uint8Array([0, 1, 0, 1, 0, 1])), [0, 0], 1);
  expect(found).toMatchObject({ converged: false, separation: "none", iterations: 1 });
});

it("certifies the direction of a separation", () => {
  const x = new Float64Array([-2, -1, 1, 2]);
  const found = ascend(patterns([one(4), x], new Uint8Array([1, 1, 0, 0])), [0, 0], 40);
  expect(found.separation).toBe("complete");
  expect(found.direction?.[1]).toBeLessThan(0);
});
