import { describe, expect, it } from "vitest";
import { design, product } from "../../src/stats/design.js";
import { type LogisticFit, logistic } from "../../src/stats/logistic.js";
import { close, closeAll, reference } from "./reference.js";

const { a, b, y, ...figures } = reference.logistic;
const columns = { a, b, "a x b": product(a, b) };
const estimates = (fit: LogisticFit) => fit.coefficients.map(({ estimate }) => estimate);

describe("logistic", () => {
  it("equals statsmodels on raw and standardised columns", () => {
    for (const [matrix, expected] of [
      [design(columns), figures.raw],
      [design(columns, { standardise: 0 }), figures.standardised],
      [design(columns, { standardise: 1 }), figures.standardisedDdof1],
    ] as const) {
      const fit = logistic(matrix, y);
      expect(fit).toMatchObject({ converged: true, separation: "none" });
      closeAll(estimates(fit), expected.estimate);
      closeAll(
        fit.coefficients.map(({ se }) => se),
        expected.se,
      );
      closeAll(
        fit.coefficients.map(({ z }) => z),
        expected.z,
      );
      closeAll(
        fit.coefficients.map(({ test }) => test.p),
        expected.p,
      );
      close(fit.logLikelihood, expected.ll);
    }
  });

  it("equals scikit-learn's converged ridge", () => {
    const matrix = design(columns, { standardise: 0 });
    closeAll(estimates(logistic(matrix, y, { ridge: 1 })), figures.ridge1);
    closeAll(estimates(logistic(matrix, y, { ridge: 10 })), figures.ridge10);
  });

  it("fits the empty model: the intercept alone", () => {
    const fit = logistic(design({}, { rows: y.length }), y);
    close(fit.logLikelihood, figures.null);
    const share = y.reduce((sum, value) => sum + value, 0) / y.length;
    close(estimates(fit)[0] as number, Math.log(share / (1 - share)));
    expect(fit.patterns).toBe(1);
  });

  it("merges repeated rows without changing the fit", () => {
    const twice = <T>(values: readonly T[]) => [...values, ...values];
    const once = logistic(design({ a, b }), y);
    const double = logistic(design({ a: twice(a), b: twice(b) }), twice(y));
    closeAll(estimates(double), estimates(once), 1e-9);
    expect(double.patterns).toBe(once.patterns);
    close(double.logLikelihood, 2 * once.logLikelihood, 1e-9);
  });

  it("says complete separation, and gives no number that looks right", () => {
    const x = [1, 2, 3, 4, 5, 6];
    const fit = logistic(design({ x }), [0, 0, 0, 1, 1, 1]);
    expect(fit).toMatchObject({ separation: "complete", converged: false });
    expect(fit.coefficients[1]?.estimate).toBe(Number.POSITIVE_INFINITY);
    expect(fit.logLikelihood).toBe(0);
    expect([...fit.probability]).toEqual([0, 0, 0, 1, 1, 1]);
    expect(fit.coefficients.every(({ se, test }) => Number.isNaN(se) && Number.isNaN(test.p))).toBe(true);
  });

  it("says quasi-complete separation, and which column runs away", () => {
    // Every row with a = 1 is a one; b says something of its own.
    const one = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1];
    const other = [1, 2, 3, 4, 5, 6, 1, 2, 3, 4];
    const fit = logistic(design({ a: one, b: other }), [0, 1, 0, 1, 0, 1, 1, 1, 1, 1]);
    expect(fit.separation).toBe("quasi");
    const [intercept, first, second] = estimates(fit) as [number, number, number];
    expect(first).toBe(Number.POSITIVE_INFINITY);
    // The rest is what the rows with a = 0 alone give.
    const rest = logistic(design({ b: other.slice(0, 6) }), [0, 1, 0, 1, 0, 1]);
    closeAll([intercept, second], estimates(rest), 1e-6);
    close(fit.logLikelihood, rest.logLikelihood, 1e-6);
  });

  it("gives a finite fit of separated rows with ridge", () => {
    const fit = logistic(design({ x: [1, 2, 3, 4] }), [0, 0, 1, 1], { ridge: 1 });
    expect(fit).toMatchObject({ converged: true, separation: "none" });
    expect(Number.isFinite(estimates(fit)[1])).toBe(true);
  });

  it("does not cry separation over a large but finite effect", () => {
    const x = Array.from({ length: 400 }, (_, i) => i / 10);
    const outcome = x.map((value, i) => (i === 150 ? false : value > 10));
    const fit = logistic(design({ x }), outcome);
    expect(fit).toMatchObject({ converged: true, separation: "none" });
    expect(fit.coefficients[1]?.se).toBeGreaterThan(0);
  });

  it("does not care about the scale of a column", () => {
    const scaled = logistic(design({ a, b: b.map((value) => value * 1e8) }), y);
    closeAll(
      scaled.coefficients.map(({ z }) => z),
      logistic(design({ a, b }), y).coefficients.map(({ z }) => z),
    );
  });

  it("refuses one class, NaN, and lengths that differ", () => {
    const matrix = design({ x: [1, 2, 3] });
    expect(() => logistic(matrix, [1, 1, 1])).toThrow("logistic: all 3 outcomes are 1");
    expect(() => logistic(matrix, [false, false, false])).toThrow("all 3 outcomes are 0");
    expect(() => logistic(matrix, [1, 0, Number.NaN])).toThrow("logistic: outcome[2] is NaN");
    expect(() => logistic(matrix, [1, 0, 2])).toThrow("outcome[2] is 2");
    expect(() => logistic(matrix, [1, 0])).toThrow("logistic: 2 outcomes for 3 rows");
    expect(() => logistic(matrix, [1, 0, 1], { ridge: -1 })).toThrow("logistic: ridge -1");
  });
});
