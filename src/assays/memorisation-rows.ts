import { hasCarry, log10Larger, log10Product } from "./features.js";
import { frequencyOf, type Lookup, type PairFrequency } from "./memorisation-frequency.js";
import type { Grid } from "./zero-error-horizon-grid.js";

/** All products of a range, answered by one model. A published grid is one, and so is a sweep of one's own. */
export interface ModelGrid extends Grid {
  readonly model: string;
  /** Number of parameters, e.g. 0.5e9. */
  readonly parameters: number;
}

/** Grids stacked into columns, one row for each instance of each model: models one after the other, a, then b. */
export interface GridRows {
  readonly grids: readonly ModelGrid[];
  readonly rows: number;
  /** Index into `grids`. */
  readonly model: Int32Array;
  /** The same code for the same ordered pair, whichever model answered: what errors are clustered by. */
  readonly pair: Int32Array;
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** 0 or 1. */
  readonly correct: Uint8Array;
  /** 0 or 1, see `hasCarry`. */
  readonly carry: Float64Array;
  /** log10 of the number of parameters in units of `parameterUnit`. */
  readonly log10Parameters: Float64Array;
  readonly log10Product: Float64Array;
  readonly log10Larger: Float64Array;
  readonly parameterUnit: number;
}

/** The unit in which a model's parameters are counted. */
export interface StackOptions {
  /**
   * What the number of parameters is counted in. Default 1e9, as in the published analysis. With an interaction in the
   * model the unit decides what the carry coefficient means (the effect at one unit of parameters).
   */
  readonly parameterUnit?: number;
}

/**
 * Stacks the grids of several models. Refused: no grid, ranges that differ, errors outside the range or listed twice, a
 * number of parameters that is not positive, two grids under one name.
 */
export function stackGrids(grids: readonly ModelGrid[], options: StackOptions = {}): GridRows {
  const { parameterUnit = 1e9 } = options;
  check(grids);
  const [low, high] = (grids[0] as ModelGrid).range;
  const side = high - low + 1;
  const perModel = side * side;
  const rows = perModel * grids.length;
  const numbers = () => new Float64Array(rows);
  const result = {
    grids,
    rows,
    model: new Int32Array(rows),
    pair: new Int32Array(rows),
    a: numbers(),
    b: numbers(),
    correct: new Uint8Array(rows).fill(1),
    carry: numbers(),
    log10Parameters: numbers(),
    log10Product: numbers(),
    log10Larger: numbers(),
    parameterUnit,
  };
  for (let pair = 0; pair < perModel; pair += 1) {
    const a = low + Math.floor(pair / side);
    const b = low + (pair % side);
    const carry = hasCarry(a, b) ? 1 : 0;
    const size = log10Product(a, b);
    const larger = log10Larger(a, b);
    for (let m = 0, row = pair; m < grids.length; m += 1, row += perModel) {
      result.model[row] = m;
      result.pair[row] = pair;
      result.a[row] = a;
      result.b[row] = b;
      result.carry[row] = carry;
      result.log10Product[row] = size;
      result.log10Larger[row] = larger;
    }
  }
  grids.forEach((grid, m) => {
    const start = m * perModel;
    result.log10Parameters.fill(Math.log10(grid.parameters / parameterUnit), start, start + perModel);
    for (const { a, b } of grid.errors) {
      const row = start + (a - low) * side + (b - low);
      if (!(a >= low && a <= high && b >= low && b <= high) || result.correct[row] === 0)
        throw new Error(`stackGrids: ${grid.model} lists ${a},${b} twice or outside ${low}..${high}`);
      result.correct[row] = 0;
    }
  });
  return result;
}

/** How often the pair of each row of one grid was seen. `[pair]`, in the order of the rows of a model. */
export function gridFrequency(grid: Grid, frequency: PairFrequency, lookup: Lookup): Float64Array {
  const [low, high] = grid.range;
  const side = high - low + 1;
  const counts = new Float64Array(side * side);
  for (let pair = 0; pair < counts.length; pair += 1)
    counts[pair] = frequencyOf(frequency, low + Math.floor(pair / side), low + (pair % side), lookup);
  return counts;
}

/** The rows of one model, as a view into a column. */
export function ofModel<T extends Float64Array | Uint8Array>(rows: GridRows, column: T, model: number): T {
  const perModel = rows.rows / rows.grids.length;
  return column.subarray(model * perModel, (model + 1) * perModel) as T;
}

function check(grids: readonly ModelGrid[]): void {
  const [first] = grids;
  if (first === undefined) throw new Error("stackGrids: no grids; expected at least one");
  const [low, high] = first.range;
  if (!Number.isInteger(low) || !Number.isInteger(high) || low < 1 || high < low)
    throw new Error(`stackGrids: range ${low}..${high}; expected whole numbers from 1`);
  const names = new Set<string>();
  for (const { model, parameters, range } of grids) {
    if (range[0] !== low || range[1] !== high)
      throw new Error(
        `stackGrids: ${model} has the range ${range.join("..")}; expected ${low}..${high} as the first`,
      );
    if (!(parameters > 0) || parameters === Number.POSITIVE_INFINITY)
      throw new Error(`stackGrids: ${model} has ${parameters} parameters; expected a positive number`);
    if (names.has(model)) throw new Error(`stackGrids: two grids of ${model}; give them different names`);
    names.add(model);
  }
}
