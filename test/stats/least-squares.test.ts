import { expect, it } from "vitest";
import { design, product } from "../../src/stats/design.js";
import { leastSquares, partialR2 } from "../../src/stats/least-squares.js";
import { close, closeAll, reference } from "./reference.js";

const { a, b } = reference.logistic;
const { y, ...figures } = reference.leastSquares;

it("equals statsmodels", () => {
  const full = leastSquares(design({ a, b, "a x b": product(a, b) }), y);
  closeAll(
    full.coefficients.map(({ estimate }) => estimate),
    figures.estimate,
  );
  closeAll(
    full.coefficients.map(({ se }) => se),
    figures.se,
  );
  closeAll(
    full.coefficients.map(({ t }) => t),
    figures.t,
  );
  closeAll(
    full.coefficients.map(({ test }) => test.p),
    figures.p,
  );
  close(full.r2, figures.r2);
  const more = partialR2(leastSquares(design({ a }), y), full);
  close(more.partialR2, figures.partialR2);
  close(more.f, figures.f);
  close(more.test.logP, Math.log(figures.fp));
  // One further column: the two ways to partial R2 are the same.
  const last = partialR2(leastSquares(design({ a, b }), y), full);
  close(last.partialR2, full.coefficients[3]?.partialR2 ?? Number.NaN, 1e-9);
});

it("states an exact fit and a constant outcome, and refuses more columns than rows", () => {
  const exact = leastSquares(design({ x: [1, 2] }), [3, 5]);
  expect(exact.df).toBe(0);
  expect(exact.coefficients[1]?.estimate).toBeCloseTo(2, 10);
  expect(exact.coefficients[1]?.se).toBeNaN();
  expect(leastSquares(design({ x: [1, 2, 4] }), [3, 3, 3]).r2).toBeNaN();
  expect(() => leastSquares(design({ x: [1, 2] }), [3])).toThrow("leastSquares: 1 outcomes for 2 rows");
  expect(() => leastSquares(design({ x: [1, 2] }), [3, Number.NaN])).toThrow("outcome[1] is NaN");
  const wide = design({ x: [1, 2], y: [2, 1] }, { intercept: false });
  expect(() => leastSquares({ ...wide, rows: 1 }, [1])).toThrow("2 columns for 1 rows");
  expect(() => partialR2(exact, exact)).toThrow("partialR2: expected a fit and a larger one");
});
