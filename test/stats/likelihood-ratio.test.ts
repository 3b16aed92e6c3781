import { expect, it } from "vitest";
import { design, product } from "../../src/stats/design.js";
import { likelihoodRatio } from "../../src/stats/likelihood-ratio.js";
import { logistic, withoutColumns } from "../../src/stats/logistic.js";
import { close, reference } from "./reference.js";

const { a, b, y, lrt } = reference.logistic;
const full = logistic(design({ a, b, "a x b": product(a, b) }), y);
const restricted = logistic(design({ a, b }), y);

it("equals twice the difference of statsmodels' log-likelihoods", () => {
  const ratio = likelihoodRatio(restricted, full);
  close(ratio.statistic, lrt[0]);
  close(ratio.test.p, lrt[1]);
  expect(ratio).toMatchObject({ df: 1, penalised: false });
  expect(likelihoodRatio(restricted, logistic(full.design, y, { ridge: 1 })).penalised).toBe(true);
});

it("takes a restricted fit made from the full one", () => {
  for (const options of [{}, { ridge: 2 }]) {
    const from = logistic(full.design, y, options);
    const short = withoutColumns(from, ["a x b"]);
    const anew = logistic(restricted.design, y, options);
    expect(short.design.names).toEqual(restricted.design.names);
    expect(short.ones).toBe(anew.ones);
    close(short.logLikelihood, anew.logLikelihood, 1e-10);
    close(likelihoodRatio(short, from).statistic, likelihoodRatio(anew, from).statistic, 1e-8);
  }
  const slope = withoutColumns(full, ["intercept", "a x b"]);
  expect(slope.design).toMatchObject({ names: ["a", "b"], intercept: false });
  expect(() => withoutColumns(full, ["c"])).toThrow('withoutColumns: no column "c"');
  expect(() => withoutColumns(full, full.design.names)).toThrow("nothing left");
});

it("uses the limit under separation", () => {
  const x = [1, 2, 3, 4];
  const outcome = [0, 0, 1, 1];
  const ratio = likelihoodRatio(logistic(design({}, { rows: 4 }), outcome), logistic(design({ x }), outcome));
  close(ratio.statistic, 8 * Math.LN2, 1e-12);
});

it("refuses fits that are not nested", () => {
  expect(() => likelihoodRatio(full, restricted)).toThrow("likelihoodRatio: the full fit lacks a x b");
  expect(() => likelihoodRatio(full, full)).toThrow("both fits have the same columns");
  const other = logistic(
    design({ a, b }),
    y.map((value) => 1 - value),
  );
  expect(() => likelihoodRatio(other, full)).toThrow("different rows");
  const stopped = logistic(restricted.design, y, { maxIterations: 1 });
  expect(() => likelihoodRatio(stopped, full)).toThrow("has not converged after 1 iterations");
});
