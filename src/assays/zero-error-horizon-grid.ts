/** Horizon, limiters and accuracy of a multiplication grid, from its list of errors (first paper, Figure 3 and Table 3). */

import type { IntegerPlace } from "../tasks/integer-reader.js";
import { multiplication } from "../tasks/multiplication.js";
import type { HorizonResult } from "./horizon-result.js";

/** One wrong product. */
export interface GridError {
  readonly a: number;
  readonly b: number;
  readonly expected: number;
  /** The integer read from the answer, null where there was none. */
  readonly predicted: number | null;
}

/** All ordered pairs of `range[0]..range[1]`; pairs not in `errors` were answered correctly. */
export interface Grid {
  readonly range: readonly [number, number];
  readonly errors: readonly GridError[];
}

/** Horizon and limiters of a grid that is there already. */
export interface GridSummary {
  /** Largest n such that no pair with both operands up to n is wrong. The end of the range where nothing is. */
  readonly horizon: number;
  /** False where nothing in the range is wrong: the horizon is then a lower bound. */
  readonly reached: boolean;
  /** The errors of size `horizon + 1`. */
  readonly limiters: readonly GridError[];
  readonly instances: number;
  readonly errors: number;
  /** Over the whole range. */
  readonly accuracy: number;
}

const sizeOf = (error: GridError): number => Math.max(error.a, error.b);

/** Horizon of a grid whose range starts at 1; another start is refused, since sizes below it were not tried. */
export function summariseGrid(grid: Grid): GridSummary {
  const [low, high] = grid.range;
  if (low !== 1 || high < 1)
    throw new Error(`summariseGrid: range ${low}..${high}; a horizon needs all sizes from 1`);
  const first = Math.min(high + 1, ...grid.errors.map(sizeOf));
  const instances = high ** 2;
  return {
    horizon: first - 1,
    reached: first <= high,
    limiters: grid.errors.filter((error) => sizeOf(error) === first),
    instances,
    errors: grid.errors.length,
    accuracy: 1 - grid.errors.length / instances,
  };
}

/** Share of right answers among pairs with both operands up to n, 1 to the end of the range (the paper: 20, 50, 99). */
export function accuracyWithin(grid: Grid, n: number): number {
  const [low, high] = grid.range;
  if (!Number.isInteger(n) || n < low || n > high)
    throw new Error(`accuracyWithin: ${n}; expected ${low}..${high}`);
  return 1 - grid.errors.filter((error) => sizeOf(error) <= n).length / (n - low + 1) ** 2;
}

/**
 * The grid that raw answers give, read again.
 *
 * @param responses answers keyed `a,b`, one for every pair of the range
 * @param place where the integer stands; default `start`, as the published grids were read
 */
export function readGrid(
  responses: ReadonlyMap<string, string>,
  range: readonly [number, number],
  place: IntegerPlace = "start",
): Grid {
  const { reader } = multiplication({ reader: place });
  const errors: GridError[] = [];
  for (let a = range[0]; a <= range[1]; a++) {
    for (let b = range[0]; b <= range[1]; b++) {
      const text = responses.get(`${a},${b}`);
      if (text === undefined)
        throw new Error(`readGrid: no response for ${a},${b}; expected all of the range`);
      const read = reader.parse(text);
      if (read !== String(a * b))
        errors.push({ a, b, expected: a * b, predicted: read === undefined ? null : Number(read) });
    }
  }
  return { range, errors };
}

/** The grid of a multiplication result: errors with operands, right and read answers, for figures and regressions. */
export function gridOf(result: Pick<HorizonResult, "task" | "sizes" | "errors">): Grid {
  if (result.task !== "multiplication") {
    throw new Error(`gridOf: a result of the task ${result.task}; expected multiplication`);
  }
  const errors = result.errors.map(({ fields, expected, read }): GridError => {
    const predicted = read === undefined || read === null ? null : Number(read);
    return { a: Number(fields.a), b: Number(fields.b), expected: Number(expected), predicted };
  });
  errors.sort((x, y) => x.a - y.a || x.b - y.b);
  return { range: [1, result.sizes.at(-1)!.size], errors };
}
