import { clusterRobust } from "../stats/cluster-robust.js";
import { design, product } from "../stats/design.js";
import { formatP } from "../stats/format-p.js";
import { type LikelihoodRatio, likelihoodRatio } from "../stats/likelihood-ratio.js";
import { type LogisticFit, logistic, withoutColumns } from "../stats/logistic.js";
import type { GridRows } from "./memorisation-rows.js";

/** Names of the terms, as they stand in tables. */
export const CARRY = "carry";
/** Column of a model's size in the carry regression. */
export const SIZE = "log10 parameters";
/** Column of the product of carry and size in the carry regression. */
export const INTERACTION = "carry x log10 parameters";

/** Scaling, ridge and confounder of the carry regression. */
export interface CarryModelOptions {
  /** Standardise every column, the product after it was formed: 0 divides by n in the variance. Default: raw. */
  readonly standardise?: 0 | 1;
  /** See `logistic`. Default 0. */
  readonly ridge?: number;
  /** Further columns, and their products with log10(parameters): a confounder and how it changes with model size. */
  readonly confounder?: { readonly name: string; readonly values: Float64Array };
}

/** Logistic regression of right answers on carry, size and their product (first paper, Table 6). */
export interface CarryModel {
  readonly fit: LogisticFit;
  /** Test of the interaction: the fit against the one without it. */
  readonly interactionTest: LikelihoodRatio;
}

/**
 * Table 6 of the paper: logistic regression of correctness on carry, log10(parameters) and their product, over all rows of
 * all models, with the likelihood-ratio test of the product. Needs at least two model sizes, and pairs with and without
 * carries; the errors it states take all rows as independent, see `interactionErrors`.
 */
export function carryModel(rows: GridRows, options: CarryModelOptions = {}): CarryModel {
  const { confounder, ridge = 0, standardise } = options;
  if (new Set(rows.grids.map(({ parameters }) => parameters)).size < 2)
    throw new Error(
      "carryModel: all grids have one number of parameters; expected at least two sizes of model",
    );
  const { carry, log10Parameters } = rows;
  const further = confounder
    ? {
        [confounder.name]: confounder.values,
        [`${confounder.name} x ${SIZE}`]: product(confounder.values, log10Parameters),
      }
    : {};
  const scale = standardise === undefined ? {} : { standardise };
  const full = design(
    { [CARRY]: carry, [SIZE]: log10Parameters, [INTERACTION]: product(carry, log10Parameters), ...further },
    scale,
  );
  const fit = logistic(full, rows.correct, { ridge });
  return { fit, interactionTest: likelihoodRatio(withoutColumns(fit, [INTERACTION]), fit) };
}

/** A row of Table 6, or of any table of coefficients. */
export interface CoefficientRow {
  readonly fit: string;
  readonly term: string;
  readonly estimate: number;
  /** Model-based. */
  readonly se: number;
  readonly z: number;
  readonly p: number;
  readonly pText: string;
}

/** The coefficients of a fit as flat rows. */
export function coefficientRows(name: string, fit: LogisticFit): CoefficientRow[] {
  return fit.coefficients.map(({ name: term, estimate, se, z, test }) => ({
    fit: name,
    term,
    estimate,
    se,
    z,
    p: test.p,
    pText: formatP(test, 4),
  }));
}

/** A row of the table of errors: one coefficient, one way to estimate its standard error. */
export interface ErrorRow {
  readonly term: string;
  readonly errors: string;
  /** Number of groups the rows fall into; for independent rows their number. */
  readonly groups: number;
  readonly estimate: number;
  readonly se: number;
  readonly t: number;
  /** Degrees of freedom of the test: infinite for the normal distribution. */
  readonly df: number;
  readonly p: number;
}

/**
 * One coefficient under every assumption on which rows are independent: all of them, pairs (the same pair meets every
 * model), models (a handful: tested on G - 1 degrees of freedom, with and without G / (G - 1)), and both at once.
 */
export function errorTable(rows: GridRows, fit: LogisticFit, term: string): ErrorRow[] {
  const at = fit.design.names.indexOf(term);
  const row = fit.coefficients[at];
  if (row === undefined)
    throw new Error(`errorTable: no term "${term}"; expected one of ${fit.design.names.join(", ")}`);
  const { estimate, se, z, test } = row;
  const independent: ErrorRow = {
    term,
    errors: "model-based",
    groups: fit.rows,
    estimate,
    se,
    t: z,
    df: Number.POSITIVE_INFINITY,
    p: test.p,
  };
  const robust = (
    errors: string,
    groupings: Parameters<typeof clusterRobust>[1],
    correction: "none" | "groups",
  ): ErrorRow => {
    const result = clusterRobust(fit, groupings, { correction });
    const own = result.coefficients[at] as (typeof result.coefficients)[number];
    const groups = Math.min(...result.groups);
    return { term, errors, groups, estimate, se: own.se, t: own.z, df: result.df, p: own.student.p };
  };
  if (rows.grids.length < 2) return [independent, robust("clustered by pair", [rows.pair], "none")];
  return [
    independent,
    robust("clustered by pair", [rows.pair], "none"),
    robust("clustered by model", [rows.model], "none"),
    robust("clustered by model, G/(G-1)", [rows.model], "groups"),
    robust("clustered by pair and model, G/(G-1)", [rows.pair, rows.model], "groups"),
  ];
}
