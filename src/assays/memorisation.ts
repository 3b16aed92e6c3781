import type { Correlation } from "../stats/correlation.js";
import { auditMemorisation, type MemorisationAudit } from "./memorisation-audit.js";
import type { Lookup, PairFrequency } from "./memorisation-frequency.js";
import type { CoefficientRow } from "./memorisation-regression.js";
import { type ModelGrid, type StackOptions, stackGrids } from "./memorisation-rows.js";
import {
  type AccuracyRow,
  accuracyTable,
  acrossModels,
  type FrequencyRow,
  type StructureRow,
  structureTable,
} from "./memorisation-tables.js";

/** Choices of the memorisation tables. */
export interface MemorisationOptions extends StackOptions {
  /** How Table 4 looks counts up. Default `ordered`, as the published analysis does; the audit shows both. */
  readonly lookup?: Lookup;
}

/** The first paper's tables 3 to 6 on a list of grids. */
export interface Memorisation {
  readonly table3: readonly AccuracyRow[];
  readonly table4: readonly FrequencyRow[];
  /** Correlation of log10(parameters) with the rhos of Table 4; undefined with fewer than three models. */
  readonly acrossModels: Correlation | undefined;
  readonly table5: readonly StructureRow[];
  /** Maximum likelihood, raw and standardised; empty with one size of model, no error, or no carry. The audit has the further fits. */
  readonly table6: readonly CoefficientRow[];
  readonly audit: MemorisationAudit;
  /** Instances of all models together. */
  readonly rows: number;
}

/**
 * Memorisation or algorithm: section 3.2 of the Zero-Error Horizon paper from grids of answers and counts of how often each
 * pair was seen, its Tables 3 to 6 and the audit of them.
 *
 * Works on published grids and on one's own alike; the grids need the same range, starting at 1.
 *
 * @example
 * const { grids, frequency } = await loadPublished();
 * memorisation(grids, frequency).table4
 */
export function memorisation(
  grids: readonly ModelGrid[],
  frequency: PairFrequency,
  options: MemorisationOptions = {},
): Memorisation {
  const rows = stackGrids(grids, options);
  const audit = auditMemorisation(rows, frequency);
  const { lookup = "ordered" } = options;
  const table4 = audit.lookups.filter((row) => row.lookup === lookup);
  return {
    table3: accuracyTable(grids),
    table4,
    acrossModels: acrossModels(
      table4.map(({ parameters }) => parameters),
      table4.map(({ rho }) => rho),
    ),
    table5: structureTable(grids),
    table6: audit.fits.filter(({ fit }) => fit.startsWith("maximum likelihood")),
    audit,
    rows: rows.rows,
  };
}
