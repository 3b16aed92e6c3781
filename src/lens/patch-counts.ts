/**
 * Activation patching between counts: what a prompt of `base` items answers when a layer's activations are those of a prompt of another
 * count (second paper, section 3, Figure 4e-g and Methods).
 *
 * Layers, donors and controls together are one list of requests, so what a cell shares with the recipient up to the first patched
 * position is evaluated once: patching the final token recomputes one token a cell.
 */
import type { HookPoint } from "../engine/hooks.js";
import type { Model } from "../model/model.js";
import type { PromptParts } from "../model/prompt.js";
import { type Provenance, provenance } from "../store/provenance.js";
import {
  type EditedAnswer,
  type EditedAnswersOptions,
  editedAnswers,
  type SweepStats,
} from "./edited-answers.js";
import { answerOptions, patchCells } from "./patch-cells.js";
import type { PatchPositions } from "./position-sets.js";

/** What is patched in place of the donor's rows, to see how much any patch does. */
export type PatchControl = "self" | "shuffled donor" | "random, equal norm";

/** Recipient, donors, positions and controls of a patch sweep over counts. */
export interface PatchCountsOptions extends EditedAnswersOptions {
  /** The recipient's count. Default 10, as in the paper. */
  readonly base?: number;
  /** The donors' counts. Default 1 to 26, as in the paper. */
  readonly donors?: readonly number[];
  /** Leave out donors whose own answer is wrong, and refuse a recipient whose is. Default true. */
  readonly onlySuccessful?: boolean;
  /** The prompt of a count. Default `countingPrompt(count)`. */
  readonly prompt?: (count: number) => PromptParts;
  /** Default: all layers. */
  readonly layers?: readonly number[];
  /** Where in a block to patch, e.g. `residPost` (default), `attnOut`, `mlpOut`, `heads`. */
  readonly hook?: (layer: number) => HookPoint;
  /** Which tokens are patched, in recipient and donor alike. Default `items`. */
  readonly positions?: PatchPositions;
  /** One cell for each `position` of the set, or for each `head` (only with `hook: heads`), instead of all of them at once. */
  readonly each?: "position" | "head";
  /**
   * Default all three. `self`: the recipient's own rows, which must change nothing. `shuffled donor`: another donor's rows under this
   * donor's name, so that what is left of the effect is chance (left out with a single donor). `random, equal norm`: the
   * recipient's rows moved in a random direction as far as the patch moves them.
   */
  readonly controls?: readonly PatchControl[];
  /** Of the controls. Default 0. */
  readonly seed?: number;
}

/** A prompt's own answer, nothing changed. */
export interface UnpatchedCount extends EditedAnswer {
  readonly count: number;
}

/** What was answered with one donor's rows in one layer. */
export interface PatchedCount extends EditedAnswer {
  readonly layer: number;
  readonly condition: "patch" | PatchControl;
  /** The donor's count (under `self` the recipient's own). */
  readonly donor: number;
  /** Only with `each`: position in the recipient's prompt, or head. */
  readonly position?: number;
  readonly head?: number;
  /** Decoded count less the recipient's unpatched one; null where one of them has no integer. */
  readonly shift: number | null;
  /** Change of the gap of the *donor's* count as an answer, in nats, against the recipient unpatched. `gap` is positive where the donor's
   * count is what is answered. */
  readonly gapChange: number;
}

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
