/**
 * Motifs: the same count with another repeated character or delimiter, beside the tokens each item costs.
 *
 * Paper: section 2, Methods "Dense sweeps and motif perturbations", and Fig. 2e ("Syntax variations cause significant performance
 * shifts even when the input token count remains unchanged").
 */
import { type Correlation, spearman } from "../stats/correlation.js";
import { checkShard, ownsUnit, type Shard } from "../store/shard.js";
import { countingTask } from "../tasks/count-task.js";
import type { CountingOptions } from "../tasks/counting.js";
import { itemTokens, type Tokenizer } from "../tasks/item-tokens.js";
import type { Asked } from "./answerer.js";
import { type Capacity, type CapacityOptions, countingCapacity } from "./counting-capacity.js";

/** Items and delimiters whose combinations are measured. */
export interface MotifOptions extends Omit<CapacityOptions, "task" | "onTier"> {
  readonly items: readonly string[];
  readonly delimiters: readonly string[];
  /** Instruction, placement and the like, the same for all motifs. */
  readonly counting?: Omit<CountingOptions, "item" | "delimiter">;
  /** For tokens per item; without one they are left out. */
  readonly tokenizer?: Tokenizer;
  /** Only every n-th motif: one piece of the grid, whose log is to be merged with the others'. `relative` is then to its own first. */
  readonly shard?: Shard;
  /** After each motif. */
  readonly onMotif?: (row: MotifCapacity, done: number, total: number) => void;
}

/** The capacity for one motif (second paper, Figure 6). */
export interface MotifCapacity {
  readonly item: string;
  readonly delimiter: string;
  /** As plotted: 0 for `<32`. */
  readonly capacity: number;
  readonly label: string;
  /** Against the first motif of the grid; NaN where that one has no capacity. */
  readonly relative: number;
  readonly tokensPerItem?: number;
  /** Share of all trials of the ladder that were exact. */
  readonly exact: number;
  readonly result: Capacity;
}

/**
 * A ladder for every item x delimiter, in the order given, items slowest; the same seed for all, so that every motif is asked
 * the same counts.
 *
 * @example
 * const rows = await motifCapacities(model, { items: ["a", "#"], delimiters: [", ", "\n"] });
 */
export async function motifCapacities(asked: Asked, options: MotifOptions): Promise<MotifCapacity[]> {
  const { items, delimiters, counting, tokenizer, onMotif, shard, ...ladder } = options;
  if (items.length === 0 || delimiters.length === 0)
    throw new Error(
      `motifCapacities: ${items.length} items and ${delimiters.length} delimiters; expected at least one of each`,
    );
  checkShard("motifCapacities", shard, options.log);
  const motifs = items
    .flatMap((item) => delimiters.map((delimiter) => ({ item, delimiter })))
    .filter((_, i) => ownsUnit(shard, i));
  // Said before the first ladder runs, not after an hour.
  for (const motif of motifs) countingTask(motif).prompt(1, 0);
  const tokens = tokenizer && (await itemTokens([tokenizer], { motifs, counts: [16, 64] }));
  const rows: MotifCapacity[] = [];
  for (const [i, motif] of motifs.entries()) {
    const result = await countingCapacity(asked, {
      ...ladder,
      task: countingTask({ ...counting, ...motif }),
    });
    const baseline = rows[0]?.capacity ?? result.plotted;
    const row: MotifCapacity = {
      ...motif,
      capacity: result.plotted,
      label: result.label,
      relative: baseline > 0 ? result.plotted / baseline : Number.NaN,
      ...(tokens && { tokensPerItem: tokens[i]?.tokensPerItem ?? Number.NaN }),
      exact: result.trials.filter(({ exact }) => exact).length / Math.max(1, result.trials.length),
      result,
    };
    rows.push(row);
    onMotif?.(row, i + 1, motifs.length);
  }
  return rows;
}

/**
 * Does capacity follow tokens per item? Spearman over the motifs, at least 4 with both. A motif that costs the same and is
 * counted differently is the paper's point; a strong negative value would mean that tokens explain it.
 */
export function capacityAgainstTokens(
  rows: readonly { readonly capacity: number; readonly tokensPerItem?: number }[],
): Correlation {
  const known = rows.filter((row) => row.tokensPerItem !== undefined && Number.isFinite(row.tokensPerItem));
  if (known.length < 4)
    throw new Error(
      `capacityAgainstTokens: ${known.length} motifs with tokens per item; expected at least 4`,
    );
  return spearman(
    known.map(({ tokensPerItem }) => tokensPerItem as number),
    known.map(({ capacity }) => capacity),
  );
}
