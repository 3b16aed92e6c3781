import { Matrix, QrDecomposition } from "ml-matrix";
import type { Design } from "./design.js";
import { finite, type Numbers } from "./input.js";
import { fTail, studentTail, type Tail } from "./tails.js";

/** An ordinary least-squares fit. */
export interface LinearFit {
  readonly coefficients: readonly {
    readonly name: string;
    readonly estimate: number;
    readonly se: number;
    readonly t: number;
    /** Two-sided, Student's t on `df`. */
    readonly test: Tail;
    /** Share of what the other columns leave unexplained that this one explains: t^2 / (t^2 + df). */
    readonly partialR2: number;
  }[];
  readonly rows: number;
  /** Residual degrees of freedom. 0 when there are as many columns as rows: the fit is then exact and means nothing. */
  readonly df: number;
  /** Share of variance explained about the mean (about 0 without an intercept). NaN for a constant outcome. */
  readonly r2: number;
  readonly residualSumOfSquares: number;
  readonly fitted: Float64Array;
  readonly residuals: Float64Array;
}

/**
 * Linear least squares by QR decomposition. Errors are taken as independent and of equal variance.
 *
 * Refused: more columns than rows (any outcome is then fitted exactly), NaN, lengths that differ.
 */
export function leastSquares(matrix: Design, outcome: Numbers): LinearFit {
  const y = finite("leastSquares: outcome", outcome);
  const { columns, names, rows } = matrix;
  const size = columns.length;
  if (y.length !== rows)
    throw new Error(`leastSquares: ${y.length} outcomes for ${rows} rows; expected one a row`);
  if (size > rows)
    throw new Error(
      `leastSquares: ${size} columns for ${rows} rows; expected fewer columns, or use ridge regression`,
    );
  const x = new Matrix(rows, size);
  columns.forEach((column, j) => {
    for (let i = 0; i < rows; i += 1) x.set(i, j, column[i] as number);
  });
  const qr = new QrDecomposition(x);
  const beta = qr.solve(Matrix.columnVector(Array.from(y))).to1DArray();
  const fitted = new Float64Array(rows);
  columns.forEach((column, j) => {
    for (let i = 0; i < rows; i += 1)
      fitted[i] = (fitted[i] as number) + (column[i] as number) * (beta[j] as number);
  });
  const residuals = y.map((value, i) => value - (fitted[i] as number));
  const df = rows - size;
  const residualSumOfSquares = residuals.reduce((sum, value) => sum + value * value, 0);
  const centre = matrix.intercept ? y.reduce((sum, value) => sum + value, 0) / rows : 0;
  const total = y.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  const inverse = new QrDecomposition(qr.upperTriangularMatrix).solve(Matrix.eye(size));
  const variance = df > 0 ? residualSumOfSquares / df : Number.NaN;
  const coefficients = names.map((name, j) => {
    const row = inverse.getRow(j);
    const se = Math.sqrt(variance * row.reduce((sum, value) => sum + value * value, 0));
    const estimate = beta[j] as number;
    const t = estimate / se;
    const test = Number.isNaN(t) ? { p: Number.NaN, logP: Number.NaN } : studentTail(t, df);
    return { name, estimate, se, t, test, partialR2: (t * t) / (t * t + df) };
  });
  const r2 = total > 0 ? 1 - residualSumOfSquares / total : Number.NaN;
  return { coefficients, rows, df, r2, residualSumOfSquares, fitted, residuals };
}

/** What a larger linear fit explains beyond a smaller one. */
export interface Improvement {
  /** Share of the restricted fit's residual sum of squares that the further columns explain. */
  readonly partialR2: number;
  readonly f: number;
  readonly df: readonly [number, number];
  readonly test: Tail;
}

/** What further columns explain beyond a restricted model: partial R2 and its F test. Both fits of the same rows. */
export function partialR2(restricted: LinearFit, full: LinearFit): Improvement {
  const more = restricted.df - full.df;
  if (restricted.rows !== full.rows || more < 1 || full.df < 1)
    throw new Error(
      "partialR2: expected a fit and a larger one of the same rows, with residual degrees of freedom",
    );
  const gain = Math.max(0, restricted.residualSumOfSquares - full.residualSumOfSquares);
  const f = gain / more / (full.residualSumOfSquares / full.df);
  return {
    partialR2: gain / restricted.residualSumOfSquares,
    f,
    df: [more, full.df],
    test: fTail(f, more, full.df),
  };
}
