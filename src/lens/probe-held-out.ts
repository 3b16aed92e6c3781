/**
 * How well a probe reads counts it was not fitted on, and how well the same procedure reads shuffled ones.
 *
 * Whole counts are held out, not rows: rows of one count (after other filler) are near copies of each other.
 */
import { bootstrap } from "../stats/bootstrap.js";
import type { Interval } from "../stats/proportion.js";
import { random } from "../stats/random.js";
import { directionSolver, type ProbeRows } from "./probe-direction.js";
import {
  checkOptions,
  checkRows,
  DEFAULT_PENALTY,
  type ProbeOptions,
  pickRows,
  probeAlong,
  readings,
} from "./probe-fit.js";

/** Folds and permutations. */
export interface HeldOutOptions extends ProbeOptions {
  /** Groups of counts, each read by a probe of the others. Default 10; fewer where there are fewer counts. */
  readonly folds?: number;
  /** Times the counts are shuffled for the control. Default 99: the smallest p is then 0.01. 0 for no control. */
  readonly permutations?: number;
  /** Of folds, shuffles and intervals. Default 1. */
  readonly seed?: number;
  /** Resamples of the interval. Default 1,000. */
  readonly resamples?: number;
}

/** How well counts are read that the probe has not seen. */
export interface HeldOut {
  /** The count read in each row by a probe that has not seen its count, `[row]`, in the order of the rows. */
  readonly read: Float64Array;
  /** 1 - sum of squared errors / sum of squares of the counts about their mean, over all rows. Negative: worse than the mean. */
  readonly r2: number;
  /** Bootstrap over whole counts. */
  readonly interval: Interval;
  /** Root mean square error, in items. */
  readonly rmse: number;
  readonly folds: number;
  readonly control: PermutationControl | null;
}

/** How well shuffled counts are read: what the probe would find in anything. */
export interface PermutationControl {
  /** Held-out R2 with the counts shuffled (as a relabelling of whole counts), each time. */
  readonly r2: readonly number[];
  readonly highest: number;
  /** Largest squared correlation of a shuffled reading with its counts: R2 alone makes the control look worse than it is. */
  readonly highestCorrelation2: number;
  /** (1 + shuffles that reach the true R2) / (1 + shuffles). */
  readonly p: number;
}

/** Held-out reading of every row. Needs at least 4 different counts; refuses what `fitProbe` refuses. */
export function heldOut(rows: ProbeRows, counts: ArrayLike<number>, options: HeldOutOptions = {}): HeldOut {
  const { estimator = "ridge", penalty = DEFAULT_PENALTY, folds = 10, permutations = 99, seed = 1 } = options;
  checkRows("heldOut", rows, counts, 4);
  checkOptions("heldOut", estimator, penalty);
  if (!Number.isInteger(folds) || folds < 2)
    throw new Error(`heldOut: ${folds} folds; expected a whole number from 2`);
  if (!Number.isInteger(permutations) || permutations < 0)
    throw new Error(`heldOut: ${permutations} permutations; expected a whole number from 0`);
  const distinct = [...new Set(Array.from(counts))].sort((a, b) => a - b);
  const groups = Math.min(folds, distinct.length);
  const draw = random(seed, "held out");
  // Dealt after a shuffle of the order, so that every fold has counts of all sizes.
  const foldOf = new Map(draw.shuffle(distinct).map((count, i) => [count, i % groups]));

  const prepared = Array.from({ length: groups }, (_, fold) => {
    const train: number[] = [];
    const test: number[] = [];
    for (let i = 0; i < counts.length; i++) (foldOf.get(counts[i]!) === fold ? test : train).push(i);
    const trainRows = pickRows(rows, train);
    return {
      train,
      test,
      trainRows,
      testRows: pickRows(rows, test),
      solver: directionSolver(trainRows, estimator, penalty),
    };
  });
  const readWith = (labels: ArrayLike<number>): Float64Array => {
    const read = new Float64Array(counts.length);
    for (const { train, test, trainRows, testRows, solver } of prepared) {
      const own = train.map((i) => labels[i]!);
      const probe = probeAlong(trainRows, own, solver.centre, solver.solve(own), { estimator, penalty });
      readings(probe, testRows).forEach((value, k) => {
        read[test[k]!] = value;
      });
    }
    return read;
  };

  const read = readWith(counts);
  const { r2, rmse } = agreement(read, counts);
  const interval = bootstrap(counts.length, (row) => agreement(read, counts, row).r2, {
    seed,
    resamples: options.resamples ?? 1000,
    clusters: Array.from(counts),
  });
  return { read, r2, rmse, interval, folds: groups, control: permutations === 0 ? null : control() };

  function control(): PermutationControl {
    const shuffled: Agreement[] = [];
    for (let k = 0; k < permutations; k++) {
      const relabelled = draw.stream("shuffle", k).shuffle(distinct);
      const label = new Map(distinct.map((count, i) => [count, relabelled[i]!]));
      const labels = Array.from(counts, (count) => label.get(count)!);
      shuffled.push(agreement(readWith(labels), labels));
    }
    const all = shuffled.map((one) => one.r2);
    return {
      r2: all,
      highest: Math.max(...all),
      highestCorrelation2: Math.max(...shuffled.map(({ correlation2 }) => correlation2)),
      p: (1 + all.filter((value) => value >= r2).length) / (1 + permutations),
    };
  }
}

/** By how much two lists of counts agree. */
export interface Agreement {
  /** 1 - sum of squared errors / sum of squares about the mean; NaN where all counts are one. */
  readonly r2: number;
  /** Squared correlation: what is left of a linear relation, whatever its slope. NaN where either is constant. */
  readonly correlation2: number;
  readonly rmse: number;
  readonly meanAbsolute: number;
  readonly n: number;
}

/** How well counts read agree with true ones. `only`: these rows (repeats count again). */
export function agreement(
  read: ArrayLike<number>,
  counts: ArrayLike<number>,
  only?: readonly number[],
): Agreement {
  const n = only?.length ?? counts.length;
  const at = (i: number): number => (only === undefined ? i : only[i]!);
  let meanCount = 0;
  let meanRead = 0;
  for (let i = 0; i < n; i++) {
    meanCount += counts[at(i)]! / n;
    meanRead += read[at(i)]! / n;
  }
  let errors = 0;
  let absolute = 0;
  let cc = 0;
  let rr = 0;
  let cr = 0;
  for (let i = 0; i < n; i++) {
    const count = counts[at(i)]!;
    const value = read[at(i)]!;
    errors += (value - count) ** 2;
    absolute += Math.abs(value - count);
    cc += (count - meanCount) ** 2;
    rr += (value - meanRead) ** 2;
    cr += (count - meanCount) * (value - meanRead);
  }
  return {
    r2: cc > 0 ? 1 - errors / cc : Number.NaN,
    correlation2: cc > 0 && rr > 0 ? (cr * cr) / (cc * rr) : Number.NaN,
    rmse: Math.sqrt(errors / n),
    meanAbsolute: absolute / n,
    n,
  };
}
