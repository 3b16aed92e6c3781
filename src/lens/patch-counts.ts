/**
 * Activation patching between counts: what a prompt of `base` items answers when a layer's activations are those of a prompt of another
 * count (second paper, section 3, Figure 4e-g and Methods).
 *
 * Layers, donors and controls together are one list of requests, so what a cell shares with the recipient up to the first patched
 * position is evaluated once: patching the final token recomputes one token a cell.
 */
import type { Model } from "../model/model.js";
import { type Provenance, provenance } from "../store/provenance.js";
import { editedAnswers, type SweepStats } from "./edited-answers.js";
import { answerOptions, patchCells } from "./patch-cells.js";
import type { PatchCountsOptions, PatchedCount, UnpatchedCount } from "./patch-options.js";

export type { PatchControl, PatchCountsOptions, PatchedCount, UnpatchedCount } from "./patch-options.js";

/** All cells of a patch sweep over counts. */
export interface PatchCounts {
  readonly base: UnpatchedCount;
  /** Those used, and those left out because they fail. */
  readonly donors: readonly UnpatchedCount[];
  readonly failed: readonly UnpatchedCount[];
  readonly positions: string;
  /** For example `residPost`. */
  readonly hook: string;
  readonly layers: readonly number[];
  /** Conditions, then layers, then donors, then positions or heads. */
  readonly cells: readonly PatchedCount[];
  /** Under `self`: cells whose answer is another one, and the largest change of a gap in nats. Must be 0 and rounding. */
  readonly identity: { readonly cells: number; readonly changed: number; readonly largest: number };
  /** Forced and decoded, of the cells alone. */
  readonly stats: SweepStats;
  readonly provenance: Provenance;
}

/**
 * The sweep: `layers x donors` cells for the patch and as many for each control.
 *
 * Donors of other lengths are resampled linearly to the recipient's (`resampleRows`).
 *
 * @throws before any patching: a count below 1, a layer or hook point the model does not have, a set of positions its prompts do not
 *   have, a recipient that fails, no donor that succeeds
 * @example
 * const { cells } = await patchCounts(model, { positions: "items" });
 */
export async function patchCounts(model: Model, options: PatchCountsOptions = {}): Promise<PatchCounts> {
  const { positions = "items", seed = 0 } = options;
  const { labels, cells, base, donors, failed, unpatched, layers, hook } = await patchCells(model, options);
  const { answers, stats } = await editedAnswers(model, cells, answerOptions(options));
  const patched = answers.map((answer, i) => {
    const label = labels[i]!;
    const shift = answer.decoded === null || base.decoded === null ? null : answer.decoded - base.decoded;
    return { ...label, ...answer, shift, gapChange: answer.gap - unpatched.get(label.donor)!.gap };
  });
  const self = patched.filter(({ condition }) => condition === "self");
  return {
    base,
    donors,
    failed,
    positions: typeof positions === "string" ? positions : `positions ${positions.join(", ")}`,
    hook,
    layers,
    cells: patched,
    identity: {
      cells: self.length,
      changed: self.filter(({ text }) => text !== base.text).length,
      largest: self.reduce((most, { gapChange }) => Math.max(most, Math.abs(gapChange)), 0),
    },
    stats,
    provenance: provenance({
      model,
      notes: {
        lens: "patching",
        base: base.count,
        donors: donors.map(({ count }) => count),
        positions: String(positions),
        seed,
      },
    }),
  };
}
