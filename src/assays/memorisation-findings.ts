import { wilson } from "../stats/proportion.js";
import type { Memorisation } from "./memorisation.js";
import { INTERACTION } from "./memorisation-regression.js";
import { acrossModels } from "./memorisation-tables.js";

/** A claim of section 3.2 and what the audit leaves of it. */
export interface Finding {
  readonly claim: string;
  readonly verdict: "survives" | "weakened" | "does not survive" | "cannot be told";
  /** The figures it rests on. */
  readonly because: string;
}

/**
 * What survives the audit, for these grids and counts: the five claims of section 3.2, each held against figures of the
 * audit by a stated rule at the 5 % level. The rules are ours; the tables are there for other ones.
 */
export function findings(result: Memorisation): Finding[] {
  return [
    frequencyMatters(result),
    dependenceFalls(result),
    carriesHurtLargeModels(result),
    indifferent(result),
    structure(result),
  ];
}

/** Survives if, with size held, frequency counts (positive, p < 0.05 / models) in more than half of the models. */
function frequencyMatters({ audit, table4 }: Memorisation): Finding {
  const claim = "pairs that were seen more often are answered right more often";
  const told = audit.beyondSize.filter(({ p }) => !Number.isNaN(p));
  if (told.length === 0)
    return { claim, verdict: "cannot be told", because: "no model with right and wrong answers" };
  const still = told.filter(({ estimate, p }) => estimate > 0 && p < 0.05 / told.length);
  const verdict =
    still.length > told.length / 2 ? "survives" : still.length > 0 ? "weakened" : "does not survive";
  const rhos = table4.map(({ rho }) => rho.toFixed(2)).join(", ");
  return {
    claim,
    verdict,
    because: `rho ${rhos}; with log10(a b) held, frequency still counts in ${still.length} of ${told.length} models`,
  };
}

/**
 * Survives if two figures fall with the size of the model (exact p < 0.05): the AUC, which accuracy does not squeeze, and
 * the effect of frequency with operand size held. Weakened if one of them does, or rho alone.
 */
function dependenceFalls({ audit }: Memorisation): Finding {
  const claim = "the dependence on frequency falls as models grow";
  const by = (figure: string) => audit.trends.find((row) => row.figure === figure);
  const lookup = audit.keys.unordered ? "symmetric" : "ordered";
  const rho = by(`rho, ${lookup} lookup`);
  const area = by(`AUC, ${lookup} lookup`);
  const beyond = by("frequency beyond size");
  if (!rho || !area) return { claim, verdict: "cannot be told", because: "fewer than three models" };
  const falls = ({ rho: r, pExact, pStudent }: typeof rho) =>
    r < 0 && (Number.isNaN(pExact) ? pStudent : pExact) < 0.05;
  const falling = [area, beyond, rho].map((row) => row !== undefined && falls(row));
  const verdict =
    falling[0] && falling[1] ? "survives" : falling.some(Boolean) ? "weakened" : "does not survive";
  const show = (row: typeof rho) => `${row.rho.toFixed(2)} (exact p ${row.pExact.toPrecision(2)})`;
  return {
    claim,
    verdict,
    because:
      `correlation of log10(parameters) with rho ${show(rho)}, with the AUC ${show(area)}` +
      (beyond ? `, with the effect of frequency beyond size ${show(beyond)}` : ""),
  };
}

/** Survives if the interaction is negative with p < 0.05 clustered by model, with operand size in the model and without. */
function carriesHurtLargeModels({ audit }: Memorisation): Finding {
  const claim = "larger models struggle more with carries (a negative interaction)";
  const rows = audit.confounders.filter(({ term }) => term === INTERACTION);
  if (rows.length === 0)
    return { claim, verdict: "cannot be told", because: "one size of model, no errors, or no finite fit" };
  const kept = rows.filter(({ estimate, pByModel }) => estimate < 0 && pByModel < 0.05);
  const naive = audit.interactionTests[0];
  const verdict =
    kept.length === rows.length ? "survives" : kept.length > 0 ? "weakened" : "does not survive";
  const shown = rows.map(
    ({ confounder, estimate, pByModel }) =>
      `${confounder}: ${estimate.toFixed(2)} (p ${pByModel.toPrecision(2)})`,
  );
  return {
    claim,
    verdict,
    because: `p ${naive?.p.toPrecision(2)} with all rows independent; clustered by model and beside ${shown.join(", ")}`,
  };
}

/** Does not survive if the smallest model's accuracies with and without carries have Wilson intervals apart. */
function indifferent({ audit }: Memorisation): Finding {
  const claim = "small models are indifferent to carries";
  const [smallest] = [...audit.carry].sort((x, y) => x.parameters - y.parameters);
  if (!smallest || smallest.pairsWithout === 0 || smallest.pairsWith === 0)
    return { claim, verdict: "cannot be told", because: "no pairs with, or none without a carry" };
  const { withCarry, withoutCarry, pairsWith, pairsWithout, model } = smallest;
  const interval = (share: number, pairs: number) => wilson(Math.round(share * pairs), pairs);
  const apart = interval(withCarry, pairsWith).high < interval(withoutCarry, pairsWithout).low;
  return {
    claim,
    verdict: apart ? "does not survive" : "survives",
    because: `${model}: ${withoutCarry.toFixed(3)} right without a carry, ${withCarry.toFixed(3)} with one`,
  };
}

/** Survives if the structured share rises with size (exact p < 0.05). */
function structure({ table5 }: Memorisation): Finding {
  const claim = "errors become more structured as models grow";
  const trend = acrossModels(
    table5.map(({ parameters }) => parameters),
    table5.map(({ share }) => share),
  );
  if (!trend || Number.isNaN(trend.r))
    return { claim, verdict: "cannot be told", because: "fewer than three models with errors" };
  const p = trend.exact?.p ?? trend.student.p;
  const [first] = [...table5].sort((x, y) => x.parameters - y.parameters);
  const ones = first ? (first.onesDigitRight / first.errors).toFixed(2) : "n/a";
  return {
    claim,
    verdict: trend.r > 0 && p < 0.05 ? "survives" : "does not survive",
    because:
      `correlation of the structured share with log10(parameters) ${trend.r.toFixed(2)} (p ${p.toPrecision(2)}); ` +
      `already in the smallest model ${first?.share.toFixed(2)} of the errors are structured, ${ones} have the right ones digit`,
  };
}
