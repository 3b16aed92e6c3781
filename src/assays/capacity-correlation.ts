/**
 * Counting capacity against any benchmark: Pearson and Spearman, on log capacity, split by a date.
 *
 * Paper: section 4, Methods "Cross-benchmark alignment and paired analyses", and Fig. 5a-c.
 */
import { bootstrap } from "../stats/bootstrap.js";
import { pearson, spearman } from "../stats/correlation.js";
import type { Interval } from "../stats/proportion.js";

/** A model's capacity, in items. */
export interface ModelCapacity {
  readonly model: string;
  /** null: `<32`. */
  readonly capacity: number | null;
}

/** A model's score in a benchmark. */
export interface ModelScore {
  readonly model: string;
  readonly score: number;
  /** ISO date (`2025-03-24`), as a rule the model's release. */
  readonly date?: string;
}

/**
 * How `<32` enters: `half` (default) as half the first tier, so that its logarithm exists; `omit`: not at all; or a number of items.
 * Ranks do not depend on it as long as it lies below every other capacity.
 */
export type BelowAs = "half" | "omit" | number;

/** How `<32` enters, and whether models are split by date. */
export interface CapacityCorrelationOptions {
  readonly belowStart?: BelowAs;
  /** First tier of the ladders, for `half`. Default 32. */
  readonly start?: number;
  /** Models dated before it, and from it on, are also correlated apart: a benchmark's release. ISO date. */
  readonly splitAt?: string;
  /** Seed of the bootstrap. Default 1. */
  readonly seed?: number | string;
}

/** One correlation of a group of models. */
export interface CorrelationRow {
  readonly group: "all" | "before" | "from";
  readonly method: "pearson" | "pearson of log" | "spearman";
  readonly r: number;
  /** Percentile bootstrap over models, 95 %; absent below 5 models or where it cannot be computed. */
  readonly interval?: Interval;
  /** Two-sided; exact by permutation up to 9 models, else Student's t. */
  readonly p: number;
  readonly models: number;
  /** How many of them are `<32`. */
  readonly below: number;
}

/** Correlations of capacity with a benchmark, and the models that entered. */
export interface CapacityCorrelation {
  readonly rows: readonly CorrelationRow[];
  /** The models that entered, with the capacity as it entered. */
  readonly points: readonly {
    readonly model: string;
    readonly capacity: number;
    readonly below: boolean;
    readonly score: number;
    readonly date?: string;
  }[];
  /** Models in one list only; and, with a split, without a date. */
  readonly unmatched: readonly string[];
  readonly undated: readonly string[];
  readonly belowStart: BelowAs;
}

/**
 * Correlates over the models that both lists have (names compared without case and outer space). A group below 3 models gets no rows;
 * fewer than 3 models in all, and a name twice in a list, are refused.
 *
 * Weakness: models are not independent (families, shared data), and a correlation over a dozen of them has a wide interval; both are why
 * the interval and the number stand beside it.
 *
 * @example
 * const scores = await readScores("gpqa.csv", { model: "name", score: "accuracy" });
 * capacityCorrelation(capacities, scores, { splitAt: "2025-03-24" }).rows
 */
export function capacityCorrelation(
  capacities: readonly ModelCapacity[],
  scores: readonly ModelScore[],
  options: CapacityCorrelationOptions = {},
): CapacityCorrelation {
  const { belowStart = "half", start = 32, splitAt, seed = 1 } = options;
  if (splitAt !== undefined && Number.isNaN(Date.parse(splitAt)))
    throw new Error(`capacityCorrelation: splitAt ${splitAt}; expected an ISO date, e.g. 2025-03-24`);
  const left = byName("capacities", capacities);
  const right = byName("scores", scores);
  const stand = belowStart === "half" ? start / 2 : belowStart;
  const points = [...left].flatMap(([name, { model, capacity }]) => {
    const scored = right.get(name);
    if (scored === undefined || (capacity === null && stand === "omit")) return [];
    return [
      {
        model,
        capacity: capacity ?? (stand as number),
        below: capacity === null,
        score: scored.score,
        ...(scored.date === undefined ? {} : { date: scored.date }),
      },
    ];
  });
  if (points.length < 3)
    throw new Error(
      `capacityCorrelation: ${points.length} models in both lists; expected at least 3 (do the names agree?)`,
    );
  if (points.some(({ capacity }) => !(capacity > 0)))
    throw new Error("capacityCorrelation: a capacity of 0 has no logarithm; give null for <32");
  const groups: [CorrelationRow["group"], typeof points][] = [["all", points]];
  if (splitAt !== undefined) {
    const dated = points.filter(({ date }) => date !== undefined);
    const at = Date.parse(splitAt);
    groups.push(["before", dated.filter(({ date }) => Date.parse(date as string) < at)]);
    groups.push(["from", dated.filter(({ date }) => Date.parse(date as string) >= at)]);
  }
  const names = [...left.keys(), ...right.keys()];
  return {
    rows: groups.flatMap(([group, own]) => rowsOf(group, own, seed)),
    points,
    unmatched: [...new Set(names.filter((name) => !(left.has(name) && right.has(name))))],
    undated:
      splitAt === undefined ? [] : points.filter(({ date }) => date === undefined).map(({ model }) => model),
    belowStart,
  };
}

function byName<T extends { readonly model: string }>(what: string, rows: readonly T[]): Map<string, T> {
  const out = new Map<string, T>();
  for (const row of rows) {
    const name = row.model.trim().toLowerCase();
    if (out.has(name))
      throw new Error(`capacityCorrelation: ${row.model} stands twice in the ${what}; expected once`);
    out.set(name, row);
  }
  return out;
}

function rowsOf(
  group: CorrelationRow["group"],
  points: readonly { readonly capacity: number; readonly score: number; readonly below: boolean }[],
  seed: number | string,
): CorrelationRow[] {
  if (points.length < 3) return [];
  const score = points.map((point) => point.score);
  const capacity = points.map((point) => point.capacity);
  const log = capacity.map(Math.log10);
  const methods = [
    ["pearson", pearson, capacity],
    ["pearson of log", pearson, log],
    ["spearman", spearman, capacity],
  ] as const;
  return methods.map(([method, correlate, x]) => {
    const { r, exact, student } = correlate(x, score);
    const interval =
      points.length < 5 || Number.isNaN(r)
        ? undefined
        : bootstrap(
            points.length,
            (row) =>
              correlate(
                row.map((i) => x[i] as number),
                row.map((i) => score[i] as number),
                { exactUpTo: 0 },
              ).r,
            { seed },
          );
    return {
      group,
      method,
      r,
      ...(interval && { interval }),
      p: (exact ?? student).p,
      models: points.length,
      below: points.filter(({ below }) => below).length,
    };
  });
}
