import { auc } from "../stats/auc.js";
import { type Correlation, spearman } from "../stats/correlation.js";
import { formatP } from "../stats/format-p.js";
import { wilson } from "../stats/proportion.js";
import { isStructured } from "./features.js";
import { keyOrder, type Lookup, type PairFrequency } from "./memorisation-frequency.js";
import { type GridRows, gridFrequency, type ModelGrid, ofModel } from "./memorisation-rows.js";
import { summariseGrid } from "./zero-error-horizon-grid.js";

/** A row of Table 3: accuracy and horizon. */
export interface AccuracyRow {
  readonly model: string;
  readonly parameters: number;
  readonly instances: number;
  readonly accuracy: number;
  readonly horizon: number;
  /** False when no error was met: the horizon is then at least the end of the range. */
  readonly reached: boolean;
  /** The first error of the size after the horizon, `34x29 -> 1006`; empty without one. */
  readonly limiter: string;
}

/** Table 3 of the paper: accuracy on the grid and Zero-Error Horizon of each model. The range must start at 1. */
export function accuracyTable(grids: readonly ModelGrid[]): AccuracyRow[] {
  return grids.map((grid) => {
    const { horizon, reached, limiters, accuracy, instances } = summariseGrid(grid);
    const [first] = limiters;
    const limiter = first ? `${first.a}x${first.b} -> ${first.predicted ?? "no integer"}` : "";
    return { model: grid.model, parameters: grid.parameters, instances, accuracy, horizon, reached, limiter };
  });
}

/** A row of Table 4: corpus frequency against correctness. */
export interface FrequencyRow {
  readonly model: string;
  readonly parameters: number;
  readonly lookup: Lookup;
  /** Spearman's correlation of frequency with correctness. NaN when every answer is right, or none. */
  readonly rho: number;
  /** Two-sided, Student's t. Underflows below 5e-324; `pText` does not. */
  readonly p: number;
  readonly pText: string;
  /** Chance that a pair answered correctly was seen more often than one answered wrongly, with its DeLong interval. */
  readonly auc: number;
  readonly aucLow: number;
  readonly aucHigh: number;
}

/**
 * Table 4 of the paper: rank correlation of how often a pair was seen with whether it is answered correctly, and beside it
 * the area under the curve, which accuracy near 1 does not squeeze.
 */
export function frequencyTable(rows: GridRows, frequency: PairFrequency, lookup: Lookup): FrequencyRow[] {
  const seen = gridFrequency(rows.grids[0] as ModelGrid, frequency, lookup);
  return rows.grids.map(({ model, parameters }, m) => {
    const correct = ofModel(rows, rows.correct, m);
    const { r, student } = spearman(seen, correct);
    const area = correct.every((value) => value === correct[0])
      ? { estimate: Number.NaN, low: Number.NaN, high: Number.NaN }
      : auc(seen, correct);
    return {
      model,
      parameters,
      lookup,
      rho: r,
      p: student.p,
      pText: formatP(student),
      auc: area.estimate,
      aucLow: area.low,
      aucHigh: area.high,
    };
  });
}

/**
 * Rank correlation of log10(parameters) with a figure of each model, e.g. the rhos of Table 4. With its seven models the
 * exact p-value is the one to read; Student's t, as printed in the paper, is an approximation. Models whose figure is NaN
 * are left out; undefined with fewer than three left.
 */
export function acrossModels(
  parameters: readonly number[],
  figures: readonly number[],
): Correlation | undefined {
  const kept = figures.flatMap((figure, i) => (Number.isNaN(figure) ? [] : [i]));
  if (kept.length < 3) return undefined;
  return spearman(
    kept.map((i) => Math.log10(parameters[i] as number)),
    kept.map((i) => figures[i] as number),
  );
}

/** A row of Table 5: structured errors. */
export interface StructureRow {
  readonly model: string;
  readonly parameters: number;
  readonly errors: number;
  readonly structured: number;
  /** Share of the errors that are structured, with its Wilson interval; NaN without errors. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
  /** Errors whose ones digit is right, whatever their size: what structure needs first. */
  readonly onesDigitRight: number;
}

/** Table 5 of the paper: how many errors are off by 10, 20, ..., 100. */
export function structureTable(grids: readonly ModelGrid[]): StructureRow[] {
  return grids.map(({ model, parameters, errors }) => {
    const structured = errors.filter(({ predicted, expected }) => isStructured(predicted, expected)).length;
    const onesDigitRight = errors.filter(
      ({ predicted, expected }) => predicted !== null && (predicted - expected) % 10 === 0,
    ).length;
    const none = { estimate: Number.NaN, low: Number.NaN, high: Number.NaN };
    const { estimate, low, high } = errors.length > 0 ? wilson(structured, errors.length) : none;
    return {
      model,
      parameters,
      errors: errors.length,
      structured,
      share: estimate,
      low,
      high,
      onesDigitRight,
    };
  });
}

/** A row of the carry table: accuracy without and with a carry. */
export interface CarryRow {
  readonly model: string;
  readonly parameters: number;
  readonly withoutCarry: number;
  readonly withCarry: number;
  readonly pairsWithout: number;
  readonly pairsWith: number;
}

/** Accuracy of each model on pairs without and with a carry. NaN where the range has no such pair. */
export function carryTable(rows: GridRows): CarryRow[] {
  return rows.grids.map(({ model, parameters }, m) => {
    const pairs = [0, 0];
    const right = [0, 0];
    const correct = ofModel(rows, rows.correct, m);
    ofModel(rows, rows.carry, m).forEach((carry, i) => {
      pairs[carry] = (pairs[carry] as number) + 1;
      right[carry] = (right[carry] as number) + (correct[i] as number);
    });
    const [pairsWithout, pairsWith] = pairs as [number, number];
    return {
      model,
      parameters,
      withoutCarry: (right[0] as number) / pairsWithout,
      withCarry: (right[1] as number) / pairsWith,
      pairsWithout,
      pairsWith,
    };
  });
}

/** One line on the keys of a table of counts, for a caption. */
export function describeKeys(frequency: PairFrequency): string {
  const { keys, ascending, descending, equal, unordered } = keyOrder(frequency);
  const what = unordered ? "unordered (a <= b in every key)" : "ordered";
  return `${keys} keys, ${what}: ${ascending} with a < b, ${equal} with a = b, ${descending} with a > b`;
}
