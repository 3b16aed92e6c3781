import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ProbeEstimator } from "../../src/lens/probe-direction.js";
import { fitProbe, pickRows, projections, readings } from "../../src/lens/probe-fit.js";
import { close, closeAll } from "../stats/reference.js";
import { cosine, planted, upTo } from "./planted.js";

interface Fit {
  direction: number[];
  slope: number;
  intercept: number;
  r2: number;
  projections: number[];
}
interface ReferenceSet {
  rows: number[][];
  counts: number[];
  penalty: number;
  centre: number[];
  fits: Record<ProbeEstimator, Fit>;
}
const { sets } = JSON.parse(
  readFileSync(new URL("../fixtures/lens/probe-reference.json", import.meta.url), "utf8"),
) as { sets: ReferenceSet[] };

const estimators: ProbeEstimator[] = ["ridge", "covariance", "principal"];

describe.each(estimators)("fitProbe, %s", (estimator) => {
  it.each([
    ["more rows than dimensions", 0],
    ["more dimensions than rows", 1],
  ])("agrees with scikit-learn to 1e-6: %s", (_, which) => {
    const { rows, counts, penalty, centre, fits } = sets[which]!;
    const matrix = { data: Float32Array.from(rows.flat()), width: rows[0]!.length };
    const probe = fitProbe(matrix, counts, { estimator, penalty });
    const fit = fits[estimator];
    closeAll([...probe.centre], centre);
    closeAll([...probe.direction], fit.direction);
    close(probe.slope, fit.slope);
    close(probe.intercept, fit.intercept);
    close(probe.fitR2, fit.r2);
    closeAll([...projections(probe, matrix)], fit.projections);
  });

  it("finds a planted direction, slope and noise", () => {
    const plan = { counts: upTo(60, 10), width: 48, slope: 0.8, noise: 0.5, seed: 5 };
    const truth = planted(plan);
    const probe = fitProbe(truth, truth.counts, { estimator });
    // Stated error. Covariance and first component: each dimension of 600 rows is known to 0.5 / (0.8 x 17.3 x sqrt(600)), all
    // 48 together to 1 %. Ridge divides by the noise, so that its direction is known only to 0.6 / (0.5 x sqrt(600)) x sqrt(48) = 0.34 of 1.25: a cosine of 0.96.
    const ridge = estimator === "ridge";
    const along = cosine(probe.direction, truth.direction);
    expect(along).toBeGreaterThan(ridge ? 0.92 : 0.99);
    expect(Math.abs(probe.slope - 0.8 * along)).toBeLessThan(0.01);
    expect(Math.abs(probe.residual - 0.5)).toBeLessThan(0.05);
    expect([probe.from, probe.to, probe.rows, probe.width]).toEqual([1, 60, 600, 48]);
  });

  it("reads its own line back: expected and read are inverse, the centre projects to 0", () => {
    const truth = planted({ counts: upTo(20), width: 30, slope: 1, noise: 0.1, seed: 2 });
    const probe = fitProbe(truth, truth.counts, { estimator });
    expect(probe.project(probe.centre)).toBeCloseTo(0, 10);
    const at7 = probe.centre.map((value, j) => value + probe.expected(7) * probe.direction[j]!);
    expect(probe.read(at7)).toBeCloseTo(7, 4);
    expect(Math.hypot(...probe.direction)).toBeCloseTo(1, 6);
    expect(probe.slope).toBeGreaterThan(0);
    const own = readings(probe, pickRows(truth, [4]));
    expect(own[0]).toBe(probe.read(truth.data.subarray(4 * 30, 5 * 30)));
  });
});

it("ridge turns away from what varies beside the count, the others take it along", () => {
  const truth = planted({ counts: upTo(60, 10), width: 48, slope: 0.8, noise: 0.2, nuisance: 6, seed: 5 });
  const [ridge, covariance, principal] = estimators.map((estimator) =>
    fitProbe(truth, truth.counts, { estimator }),
  );
  const r2 = (probe = ridge) => probe!.fitR2;
  expect(r2(ridge)).toBeGreaterThan(0.999);
  expect(r2(covariance)).toBeLessThan(r2(ridge));
  expect(r2(principal)).toBeLessThan(r2(covariance));
});

describe("fitProbe refuses", () => {
  const data = new Float32Array(12).map((_, i) => i % 5);
  const rows = { data, width: 3 };
  it.each([
    ["no rows", { data: new Float32Array(0), width: 3 }, [], {}, /no rows, nothing to fit; .*did all fail/],
    ["broken rows", { data, width: 5 }, [1, 2, 3, 4], {}, /12 values in rows of width 5/],
    ["other numbers of counts", rows, [1, 2, 3], {}, /4 rows and 3 counts/],
    ["two counts", rows, [1, 2, 1, 2], {}, /2 different counts; expected at least 3/],
    ["NaN counts", rows, [1, 2, 3, Number.NaN], {}, /count of row 3 is NaN/],
    [
      "NaN rows",
      { data: data.map((v, i) => (i === 7 ? Number.NaN : v)), width: 3 },
      [1, 2, 3, 4],
      {},
      /row 2 holds NaN/,
    ],
    [
      "rows all alike",
      { data: new Float32Array(12).fill(2), width: 3 },
      [1, 2, 3, 4],
      {},
      /do not vary with the count/,
    ],
    [
      "an unknown estimator",
      rows,
      [1, 2, 3, 4],
      { estimator: "lasso" as "ridge" },
      /estimator "lasso"; expected/,
    ],
    ["no penalty", rows, [1, 2, 3, 4], { penalty: 0 }, /penalty 0; expected a number above 0/],
  ])("%s", (_, matrix, counts, options, message) => {
    expect(() => fitProbe(matrix, counts, options)).toThrow(message);
  });

  it("a row of another width", () => {
    const truth = planted({ counts: upTo(9), width: 4, slope: 1, noise: 0.1, seed: 1 });
    expect(() => fitProbe(truth, truth.counts).project(new Float32Array(5))).toThrow(/5 values; expected 4/);
  });
});
