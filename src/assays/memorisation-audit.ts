import { clusterRobust } from "../stats/cluster-robust.js";
import { design } from "../stats/design.js";
import { formatP } from "../stats/format-p.js";
import { likelihoodRatio } from "../stats/likelihood-ratio.js";
import { logistic, withoutColumns } from "../stats/logistic.js";
import { type KeyOrder, keyOrder, type PairFrequency } from "./memorisation-frequency.js";
import {
  CARRY,
  type CarryModel,
  type CoefficientRow,
  carryModel,
  coefficientRows,
  type ErrorRow,
  errorTable,
  INTERACTION,
} from "./memorisation-regression.js";
import { type GridRows, gridFrequency, type ModelGrid, ofModel } from "./memorisation-rows.js";
import {
  acrossModels,
  type CarryRow,
  carryTable,
  type FrequencyRow,
  frequencyTable,
} from "./memorisation-tables.js";

/** Everything the audit computes; each part is a table of flat rows. */
export interface MemorisationAudit {
  readonly keys: KeyOrder;
  /** Table 4 under both lookups. */
  readonly lookups: readonly FrequencyRow[];
  /** How figures of the models go with their size. */
  readonly trends: readonly TrendRow[];
  /** Table 6 as maximum likelihood (raw, standardised) and as converged ridge regression. Empty where it is undefined. */
  readonly fits: readonly CoefficientRow[];
  readonly interactionTests: readonly InteractionRow[];
  /** The interaction under every assumption on which rows are independent. */
  readonly errors: readonly ErrorRow[];
  /** Carry and interaction with operand size in the model. */
  readonly confounders: readonly ConfounderRow[];
  readonly carry: readonly CarryRow[];
  /** What frequency says of correctness once size is known. */
  readonly beyondSize: readonly BeyondSizeRow[];
}

/** One figure's trend over models, with an exact p-value. */
export interface TrendRow {
  readonly figure: string;
  readonly models: number;
  /** Spearman's correlation with log10(parameters). */
  readonly rho: number;
  /** Student's t with n - 2 df, as the paper prints it. */
  readonly pStudent: number;
  /** From all pairings; NaN where there are too many models to count them. */
  readonly pExact: number;
}

/** The interaction of carry and size under one way of fitting. */
export interface InteractionRow {
  readonly fit: string;
  readonly estimate: number;
  readonly logLikelihood: number;
  readonly chi2: number;
  readonly df: number;
  readonly p: number;
  /** True for ridge: the statistic then has no chi-square distribution. */
  readonly penalised: boolean;
}

/** Carry beside another explanation, its error clustered by pair and by model. */
export interface ConfounderRow {
  /** What stands in the model beside carry and size of model, with its own interaction. */
  readonly confounder: string;
  readonly term: string;
  readonly estimate: number;
  readonly seByPair: number;
  readonly pByPair: number;
  /** Clustered by model, G / (G - 1), tested on G - 1 df. */
  readonly pByModel: number;
  readonly logLikelihood: number;
}

/** What corpus frequency says of one model once operand size is known. */
export interface BeyondSizeRow {
  readonly model: string;
  readonly parameters: number;
  /** Change in the log odds of a right answer for ten times as many occurrences (of 1 + count), size held. */
  readonly estimate: number;
  readonly se: number;
  readonly chi2: number;
  readonly p: number;
  readonly pText: string;
}

/**
 * The audit of section 3.2: what is left of "from memorisation to algorithm" when the analysis is changed where it can be
 * questioned. Four questions: which order do the keys of the counts have; where is the maximum of the likelihood; how many
 * independent observations are there; and does operand size explain what carries and frequency seem to.
 *
 * For any grids with any counts. Size enters linearly in the log odds, as log10(a b) or log10 max(a, b); what curvature
 * leaves over can still look like a carry or a frequency effect. With one size of model, no error at all, or no
 * carry in the range the parts on Table 6 are empty.
 */
export function auditMemorisation(rows: GridRows, frequency: PairFrequency): MemorisationAudit {
  const keys = keyOrder(frequency);
  const ordered = frequencyTable(rows, frequency, "ordered");
  const symmetric = frequencyTable(rows, frequency, "symmetric");
  const beyondSize = beyondSizeTable(rows, frequency);
  const carry = carryTable(rows);
  const parameters = rows.grids.map((grid) => grid.parameters);
  const trends = [
    trend(
      "rho, ordered lookup",
      parameters,
      ordered.map(({ rho }) => rho),
    ),
    trend(
      "rho, symmetric lookup",
      parameters,
      symmetric.map(({ rho }) => rho),
    ),
    trend(
      "AUC, ordered lookup",
      parameters,
      ordered.map(({ auc }) => auc),
    ),
    trend(
      "AUC, symmetric lookup",
      parameters,
      symmetric.map(({ auc }) => auc),
    ),
    trend(
      "frequency beyond size",
      parameters,
      beyondSize.map(({ estimate }) => estimate),
    ),
  ].flat();
  return {
    keys,
    lookups: [...ordered, ...symmetric],
    trends,
    carry,
    beyondSize,
    ...(canBeFitted(rows) ? fitsOf(rows) : { fits: [], interactionTests: [], errors: [], confounders: [] }),
  };
}

/** Two sizes of model, right and wrong answers, pairs with and without carries: less than that leaves Table 6 undefined. */
function canBeFitted(rows: GridRows): boolean {
  const varies = (values: ArrayLike<number>) =>
    Array.prototype.some.call(values, (value) => value !== values[0]);
  return varies(rows.log10Parameters) && varies(rows.correct) && varies(rows.carry);
}

function trend(figure: string, parameters: readonly number[], figures: readonly number[]): TrendRow[] {
  const found = acrossModels(parameters, figures);
  if (found === undefined || Number.isNaN(found.r)) return [];
  const pExact = found.exact?.p ?? Number.NaN;
  return [{ figure, models: found.n, rho: found.r, pStudent: found.student.p, pExact }];
}

function fitsOf(
  rows: GridRows,
): Pick<MemorisationAudit, "fits" | "interactionTests" | "errors" | "confounders"> {
  const raw = carryModel(rows);
  const named: readonly (readonly [string, CarryModel])[] = [
    ["maximum likelihood, raw", raw],
    ["maximum likelihood, standardised", carryModel(rows, { standardise: 0 })],
    ["ridge 1, standardised, converged", carryModel(rows, { standardise: 0, ridge: 1 })],
  ];
  return {
    fits: named.flatMap(([name, { fit }]) => coefficientRows(name, fit)),
    interactionTests: named.map(([name, model]) => interactionRow(name, model)),
    errors: raw.fit.converged ? errorTable(rows, raw.fit, INTERACTION) : [],
    confounders: [
      ...confounderRows("none", rows, raw),
      ...confounderRows("log10(a b)", rows, withConfounder(rows, "log10(a b)", rows.log10Product)),
      ...confounderRows("log10 max(a, b)", rows, withConfounder(rows, "log10 max(a, b)", rows.log10Larger)),
    ],
  };
}

function interactionRow(fit: string, { fit: result, interactionTest }: CarryModel): InteractionRow {
  const at = result.design.names.indexOf(INTERACTION);
  return {
    fit,
    estimate: result.coefficients[at]?.estimate ?? Number.NaN,
    logLikelihood: result.logLikelihood,
    chi2: interactionTest.statistic,
    df: interactionTest.df,
    p: interactionTest.test.p,
    penalised: interactionTest.penalised,
  };
}

function withConfounder(rows: GridRows, name: string, values: Float64Array): CarryModel {
  return carryModel(rows, { confounder: { name, values } });
}

/** A fit under separation has no standard errors, and no rows here. */
function confounderRows(confounder: string, rows: GridRows, { fit }: CarryModel): ConfounderRow[] {
  if (!fit.converged) return [];
  const byPair = clusterRobust(fit, [rows.pair], { correction: "none" }).coefficients;
  const byModel = clusterRobust(fit, [rows.model], { correction: "groups" }).coefficients;
  return [CARRY, INTERACTION].map((term) => {
    const at = fit.design.names.indexOf(term);
    return {
      confounder,
      term,
      estimate: fit.coefficients[at]?.estimate ?? Number.NaN,
      seByPair: byPair[at]?.se ?? Number.NaN,
      pByPair: byPair[at]?.student.p ?? Number.NaN,
      pByModel: byModel[at]?.student.p ?? Number.NaN,
      logLikelihood: fit.logLikelihood,
    };
  });
}

/**
 * For each model: logistic regression of correctness on log10(1 + count) and log10(a b), and the likelihood-ratio test of
 * the first. Counts under the symmetric lookup if the keys ignore the order, else under the ordered one. NaN for a model
 * that answers everything right, or nothing, and where no finite maximum exists.
 */
export function beyondSizeTable(rows: GridRows, frequency: PairFrequency): BeyondSizeRow[] {
  const lookup = keyOrder(frequency).unordered ? "symmetric" : "ordered";
  const seen = gridFrequency(rows.grids[0] as ModelGrid, frequency, lookup).map((count) =>
    Math.log10(1 + count),
  );
  return rows.grids.map(({ model, parameters }, m) => {
    const correct = ofModel(rows, rows.correct, m);
    const size = ofModel(rows, rows.log10Product, m);
    const none = { model, parameters, estimate: Number.NaN, se: Number.NaN, chi2: Number.NaN, p: Number.NaN };
    if (correct.every((value) => value === correct[0])) return { ...none, pText: "n/a" };
    const full = logistic(design({ "log10(1 + count)": seen, "log10(a b)": size }), correct);
    if (!full.converged) return { ...none, pText: "n/a" };
    const ratio = likelihoodRatio(withoutColumns(full, ["log10(1 + count)"]), full);
    const { estimate, se } = full.coefficients[1] as { estimate: number; se: number };
    const { p } = ratio.test;
    return { model, parameters, estimate, se, chi2: ratio.statistic, p, pText: formatP(ratio.test) };
  });
}
