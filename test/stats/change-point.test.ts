import { describe, expect, it } from "vitest";
import { changePoint, type Family } from "../../src/stats/change-point.js";
import { random } from "../../src/stats/random.js";

/** Synthetic sweeps of 1 to 80 items, four trials a count, whose level changes around 36.5 in a known way. */
function synthetic(kind: "step" | "smooth" | "none", family: Family, seed: number) {
  const draw = random(seed, kind, family);
  const x: number[] = [];
  const y: number[] = [];
  for (let n = 1; n <= 80; n += 1)
    for (let trial = 0; trial < 4; trial += 1) {
      const way = { step: Number(n > 36.5), smooth: 1 / (1 + Math.exp(-(n - 36.5) / 8)), none: 0.5 }[kind];
      x.push(n);
      if (family === "bernoulli") y.push(Number(draw.uniform() < 0.97 - 0.9 * way));
      else y.push(0.4 * way + draw.normal(0, 0.1));
    }
  return { x, y };
}

const seeds = [1, 2, 3, 4];

describe("changePoint", () => {
  it.each(["bernoulli", "gaussian"] as const)(
    "names a step a step, with its place in the interval (%s)",
    (family) => {
      for (const seed of seeds) {
        const { x, y } = synthetic("step", family, seed);
        const result = changePoint(x, y, { family });
        expect(result.verdict).toBe("step");
        expect(result.step.interval[0]).toBeLessThanOrEqual(36.5);
        expect(result.step.interval[1]).toBeGreaterThanOrEqual(36.5);
        expect(result.step.interval[1] - result.step.interval[0]).toBeLessThan(6);
        expect(result.widthInterval[0]).toBe(0);
        expect(result.bicDifference).toBeGreaterThan(0);
      }
    },
  );

  it.each(["bernoulli", "gaussian"] as const)(
    "names a smooth change smooth, with its width in the interval (%s)",
    (family) => {
      for (const seed of seeds) {
        const { x, y } = synthetic("smooth", family, seed);
        const result = changePoint(x, y, { family });
        expect(result.verdict).toBe("smooth");
        const width = 8 * 2 * Math.log(9);
        expect(result.widthInterval[0]).toBeLessThan(width);
        expect(result.widthInterval[1]).toBeGreaterThan(width);
        expect(result.smooth.interval[0]).toBeLessThanOrEqual(36.5);
        expect(result.smooth.interval[1]).toBeGreaterThanOrEqual(36.5);
        expect(result.bicDifference).toBeLessThan(0);
      }
    },
  );

  it.each(["bernoulli", "gaussian"] as const)("claims no transition where there is none (%s)", (family) => {
    for (const seed of seeds) {
      const { x, y } = synthetic("none", family, seed);
      expect(["none", "undecided"]).toContain(changePoint(x, y, { family }).verdict);
    }
  });

  it("is undecided when too little was measured", () => {
    const { x, y } = synthetic("smooth", "bernoulli", 1);
    const few = x.flatMap((_, i) => (i % 16 === 0 ? [i] : []));
    const result = changePoint(
      few.map((i) => x[i] ?? 0),
      few.map((i) => y[i] ?? 0),
      { family: "bernoulli" },
    );
    expect(result.verdict).toBe("undecided");
  });

  it("puts a perfect step half-way between its neighbours, with an interval that knows the spacing", () => {
    const x = Array.from({ length: 40 }, (_, i) => 8 * (i + 1));
    const result = changePoint(
      x,
      x.map((n) => Number(n <= 160)),
      { family: "bernoulli" },
    );
    expect(result.verdict).toBe("step");
    expect(result.step).toMatchObject({ middle: 164, width: 0, before: expect.closeTo(1, 6) });
    expect(result.step.interval).toEqual([164, 164]);
    expect(result.widthInterval[1]).toBeGreaterThanOrEqual(8);
  });

  it("finds the best of all splits, with the two means as its levels", () => {
    const x = [1, 2, 3, 4, 5, 6, 7, 8];
    const y = [1, 1, 0, 1, 0, 0, 1, 0];
    const ones = (list: number[]) => list.reduce((a, b) => a + b, 0);
    const log = (k: number, n: number) =>
      k === 0 || k === n ? 0 : k * Math.log(k / n) + (n - k) * Math.log(1 - k / n);
    const splits = [1, 2, 3, 4, 5, 6, 7].map((at) => {
      const [left, right] = [y.slice(0, at), y.slice(at)];
      return log(ones(left), left.length) + log(ones(right), right.length);
    });
    const { step } = changePoint(x, y, { family: "bernoulli" });
    expect(step.logLikelihood).toBeCloseTo(Math.max(...splits), 6);
    expect(step.middle).toBe(splits.indexOf(Math.max(...splits)) + 1.5);
    expect(step.before).toBeCloseTo(1, 6);
    expect(step.after).toBeCloseTo(2 / 6, 6);
  });

  it("does not mind the order of the rows, nor counts that were not asked", () => {
    const { x, y } = synthetic("step", "gaussian", 9);
    const order = random(1).shuffle(x.map((_, i) => i));
    const shuffled = changePoint(
      order.map((i) => x[i] ?? 0),
      order.map((i) => y[i] ?? 0),
      { family: "gaussian" },
    );
    const straight = changePoint(x, y, { family: "gaussian" });
    expect(shuffled.step.interval).toEqual(straight.step.interval);
    expect(shuffled.smooth.logLikelihood).toBeCloseTo(straight.smooth.logLikelihood, 8);
  });

  it.each([
    [[1, 2, 3], [1, 0, 1], {}, "changePoint"],
    [[1, 1, 1, 2, 2, 3], [1, 0, 1, 0, 1, 0], {}, "3 different x; expected at least 4"],
    [[1, 2, 3, 4, 5, 6], [1, 0, 2, 0, 1, 0], {}, "bernoulli y other than 0 and 1"],
    [[1, 2, 3, 4, 5, 6], [1, 0, 1, 0, 1, 0], { level: 0.5 }, "level 0.5; expected 0.9, 0.95 or 0.99"],
  ])("refuses %j, %j", (x, y, options, message) => {
    expect(() => changePoint(x, y, { family: "bernoulli", ...options })).toThrow(message);
  });
});
