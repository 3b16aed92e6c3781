/**
 * The count probe: centre, unit direction, and the line that the projection follows over the count (second paper, section 3,
 * Figure 4b and Methods, "Residual stream projections and targeted causal interventions").
 *
 * Pure: matrices in, a probe out. Which rows belong to counts that the model gets right is the caller's business
 * (`stableRows`).
 */
import { directionSolver, dot, type ProbeEstimator, type ProbeRows } from "./probe-direction.js";

/** Estimator and penalty of a probe. */
export interface ProbeOptions {
  /** Default `ridge`. See `probe-direction` for what each is and is not. */
  readonly estimator?: ProbeEstimator;
  /** Only `ridge`: its penalty as a share of the rows' mean sum of squares a dimension; above 0. Default 0.003. */
  readonly penalty?: number;
}

/** A direction in the residual stream, and the line of its projections over the count. */
export interface Probe {
  readonly estimator: ProbeEstimator;
  /** As given; what scikit-learn calls alpha is this times the rows' total sum of squares over d_model. */
  readonly penalty: number;
  /** Mean of the rows, `[d_model]`. */
  readonly centre: Float32Array;
  /** Of unit length, `[d_model]`; the count grows along it. */
  readonly direction: Float32Array;
  /** projection = intercept + slope x count: least squares on the rows of the fit, in the rows' own units. */
  readonly slope: number;
  readonly intercept: number;
  /** Of that line, on the rows of the fit: too good by construction, see `heldOut`. */
  readonly fitR2: number;
  /** Standard deviation of the projection about the line, on the rows of the fit. */
  readonly residual: number;
  readonly width: number;
  /** Rows of the fit, and the smallest and largest count among them. */
  readonly rows: number;
  readonly from: number;
  readonly to: number;
  /** (row - centre) . direction, in the rows' units. The row has d_model values. */
  project(row: ArrayLike<number>): number;
  /** The projection that the line gives a count: where clamping moves a row to. */
  expected(count: number): number;
  /** The count that the line gives a row: (projection - intercept) / slope. */
  read(row: ArrayLike<number>): number;
}

/** The ridge penalty where none is given, as a share of the rows' total sum of squares over d_model. */
export const DEFAULT_PENALTY = 0.003;

/**
 * Fits a probe. `counts` has one number a row; at least 3 different ones.
 *
 * Refused: no rows (all counts failed: there is nothing to fit), lengths that differ, NaN, rows that do not vary with the count.
 *
 * @example
 * const { data, width } = results[0].captures[0];
 * const probe = fitProbe({ data, width }, counts);
 * probe.read(row) // 17.02
 */
export function fitProbe(rows: ProbeRows, counts: ArrayLike<number>, options: ProbeOptions = {}): Probe {
  const { estimator = "ridge", penalty = DEFAULT_PENALTY } = options;
  checkRows("fitProbe", rows, counts);
  checkOptions("fitProbe", estimator, penalty);
  const solver = directionSolver(rows, estimator, penalty);
  return probeAlong(rows, counts, solver.centre, solver.solve(counts), { estimator, penalty });
}

/** A probe along a given direction (of any length but zero) from a given centre: the line alone is fitted. */
export function probeAlong(
  rows: ProbeRows,
  counts: ArrayLike<number>,
  centre: ArrayLike<number>,
  along: ArrayLike<number>,
  { estimator, penalty }: Required<ProbeOptions>,
): Probe {
  const norm = Math.sqrt(dot(along, along));
  if (!(norm > 0))
    throw new Error(
      "fitProbe: the rows do not vary with the count, so there is no direction; expected activations that can know it (at embed() all items are alike)",
    );
  const { width } = rows;
  const n = counts.length;
  // Rounded before anything is projected, so that the line belongs to the direction as it is kept.
  const direction = Float32Array.from(along, (value) => value / norm);
  const kept = Float32Array.from(centre);
  const offset = dot(kept, direction);
  const project = (row: ArrayLike<number>): number => {
    if (row.length !== width)
      throw new Error(
        `probe.project: a row of ${row.length} values; expected ${width}, as the probe was fitted on`,
      );
    return dot(row, direction) - offset;
  };
  const projected = Float64Array.from({ length: n }, (_, i) =>
    project(rows.data.subarray(i * width, (i + 1) * width)),
  );
  const { slope, intercept, r2, residual } = line(counts, projected);
  const seen = Array.from(counts);
  return {
    estimator,
    penalty,
    centre: kept,
    direction,
    slope,
    intercept,
    fitR2: r2,
    residual,
    width,
    rows: n,
    from: Math.min(...seen),
    to: Math.max(...seen),
    project,
    expected: (count) => intercept + slope * count,
    read: (row) => (project(row) - intercept) / slope,
  };
}

/** The count that a probe reads in each row, `[row]`. */
export function readings(probe: Probe, rows: ProbeRows): Float64Array {
  return eachRow(rows, probe.read);
}

/** Projection of each row on a probe's direction, `[row]`. */
export function projections(probe: Probe, rows: ProbeRows): Float64Array {
  return eachRow(rows, probe.project);
}

function eachRow({ data, width }: ProbeRows, value: (row: Float32Array) => number): Float64Array {
  return Float64Array.from({ length: data.length / width }, (_, i) =>
    value(data.subarray(i * width, (i + 1) * width)),
  );
}

/** Some of the rows, in the order of `indices`. */
export function pickRows({ data, width }: ProbeRows, indices: readonly number[]): ProbeRows {
  const picked = new Float32Array(indices.length * width);
  indices.forEach((row, i) => {
    picked.set(data.subarray(row * width, (row + 1) * width), i * width);
  });
  return { data: picked, width };
}

function line(counts: ArrayLike<number>, projected: Float64Array) {
  const n = counts.length;
  let meanX = 0;
  let meanY = 0;
  for (let i = 0; i < n; i++) {
    meanX += counts[i]! / n;
    meanY += projected[i]! / n;
  }
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (let i = 0; i < n; i++) {
    const dx = counts[i]! - meanX;
    const dy = projected[i]! - meanY;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const slope = xy / xx;
  const left = Math.max(0, yy - slope * xy);
  return {
    slope,
    intercept: meanY - slope * meanX,
    r2: yy > 0 ? 1 - left / yy : Number.NaN,
    residual: Math.sqrt(left / Math.max(1, n - 2)),
  };
}

/** What every function of rows and counts refuses. */
export function checkRows(where: string, rows: ProbeRows, counts: ArrayLike<number>, least = 3): void {
  const { data, width } = rows;
  if (!Number.isInteger(width) || width < 1 || data.length % width !== 0)
    throw new Error(`${where}: ${data.length} values in rows of width ${width}; expected whole rows`);
  const n = data.length / width;
  if (n !== counts.length)
    throw new Error(`${where}: ${n} rows and ${counts.length} counts; expected one count a row`);
  if (n === 0)
    throw new Error(
      `${where}: no rows, nothing to fit; expected rows of counts that the model answers rightly (did all fail?)`,
    );
  const distinct = new Set(Array.from(counts)).size;
  if (distinct < least)
    throw new Error(
      `${where}: ${distinct} different counts; expected at least ${least} that the model answers rightly`,
    );
  for (let i = 0; i < n; i++)
    if (!Number.isFinite(counts[i]))
      throw new Error(`${where}: count of row ${i} is ${counts[i]}; expected a number`);
  for (let i = 0; i < data.length; i++)
    if (!Number.isFinite(data[i]))
      throw new Error(`${where}: row ${Math.floor(i / width)} holds ${data[i]}; expected finite activations`);
}

/** Refuses an estimator that is not there, and a penalty below 0. */
export function checkOptions(where: string, estimator: ProbeEstimator, penalty: number): void {
  if (!["ridge", "covariance", "principal"].includes(estimator))
    throw new Error(
      `${where}: estimator ${JSON.stringify(estimator)}; expected "ridge", "covariance" or "principal"`,
    );
  if (estimator === "ridge" && !(penalty > 0 && Number.isFinite(penalty)))
    throw new Error(`${where}: penalty ${penalty}; expected a number above 0, e.g. ${DEFAULT_PENALTY}`);
}
