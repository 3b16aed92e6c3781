import { readFileSync } from "node:fs";
import { expect } from "vitest";

interface FitFigures {
  estimate: number[];
  se: number[];
  z: number[];
  p: number[];
  ll: number;
}
type ByCorrection = Record<"none" | "groups and rows", number[]>;

/** Figures of scipy, statsmodels, scikit-learn and mpmath; see test/fixtures/stats/make_reference.py. */
export interface Reference {
  student: [number, number, number][];
  normal: [number, number][];
  chi2: [number, number, number][];
  f: [number, number, number, number][];
  beta: [number, number, number, number, number][];
  betaQuantile: [number, number, number, number][];
  studentQuantile: [number, number, number][];
  correlation: {
    x: number[];
    y: number[];
    z: number[];
    ranks: number[];
    spearman: [number, number];
    pearson: [number, number];
    small: { x: number[]; y: number[]; spearman: number; exactSpearman: number; exactPearson: number };
  };
  logistic: {
    a: number[];
    b: number[];
    y: number[];
    pair: number[];
    model: number[];
    raw: FitFigures;
    standardised: FitFigures;
    standardisedDdof1: FitFigures;
    lrt: [number, number];
    null: number;
    ridge1: number[];
    ridge10: number[];
    clusterPair: ByCorrection;
    clusterModel: ByCorrection;
    clusterBoth: ByCorrection;
  };
  leastSquares: Record<"y" | "estimate" | "se" | "t" | "p", number[]> &
    Record<"r2" | "partialR2" | "f" | "fp", number>;
  auc: { auc: number; se: number; p: number };
  wilson: [number, number, number, number][];
  clopperPearson: [number, number, number, number][];
  mcnemar: [number, number, number][];
  bootstrapMean: { bca: [number, number]; percentile: [number, number]; se: number };
}

export const reference = JSON.parse(
  readFileSync(new URL("../fixtures/stats/reference.json", import.meta.url), "utf8"),
) as Reference;

/** Equal to 1e-6, relative for numbers above 1. */
export function close(got: number, expected: number, tolerance = 1e-6): void {
  const error = Math.abs(got - expected) / Math.max(1, Math.abs(expected));
  expect(error, `${got} against ${expected}`).toBeLessThan(tolerance);
}

/** Equal lists, to 1e-6. */
export function closeAll(got: readonly number[], expected: readonly number[], tolerance = 1e-6): void {
  expect(got.length).toBe(expected.length);
  got.forEach((value, i) => {
    close(value, expected[i] as number, tolerance);
  });
}
