import { describe, expect, it } from "vitest";
import { clusterRobust } from "../../src/stats/cluster-robust.js";
import { design, product } from "../../src/stats/design.js";
import { logistic } from "../../src/stats/logistic.js";
import { studentTail } from "../../src/stats/tails.js";
import { close, closeAll, reference } from "./reference.js";

const { a, b, y, pair, model, ...figures } = reference.logistic;
const fit = logistic(design({ a, b, "a x b": product(a, b) }), y);
const errors = (...args: Parameters<typeof clusterRobust>) =>
  clusterRobust(...args).coefficients.map(({ se }) => se);

describe("clusterRobust", () => {
  it("equals statsmodels by pair, by model, and by both", () => {
    for (const correction of ["none", "groups and rows"] as const) {
      closeAll(errors(fit, [pair], { correction }), figures.clusterPair[correction]);
      closeAll(errors(fit, [model], { correction }), figures.clusterModel[correction]);
      closeAll(errors(fit, [pair, model], { correction }), figures.clusterBoth[correction]);
    }
  });

  it("corrects by G / (G - 1) unless told otherwise, and tests on G - 1 df", () => {
    const none = errors(fit, [model], { correction: "none" });
    const robust = clusterRobust(fit, [model.map((label) => `model ${label}`)]);
    closeAll(
      robust.coefficients.map(({ se }) => se),
      none.map((se) => se * Math.sqrt(6 / 5)),
    );
    expect(robust).toMatchObject({ groups: [6], df: 5, correction: "groups" });
    const slope = robust.coefficients[2];
    close(slope?.student.p ?? Number.NaN, studentTail(slope?.z ?? Number.NaN, 5).p);
    expect(slope?.student.p).toBeGreaterThan(slope?.test.p ?? 1);
    expect(clusterRobust(fit, [pair, model])).toMatchObject({ groups: [30, 6], df: 5 });
  });

  it("refuses a single group, missing labels and fits without a maximum", () => {
    expect(() => clusterRobust(fit, [y.map(() => 1)])).toThrow("clusterRobust: a single group");
    expect(() => clusterRobust(fit, [[1, 2]])).toThrow("clusterRobust: 2 labels for 240 rows");
    const separated = logistic(design({ x: [1, 2, 3, 4] }), [0, 0, 1, 1]);
    expect(() => clusterRobust(separated, [[1, 1, 2, 2]])).toThrow("no finite maximum");
  });
});
