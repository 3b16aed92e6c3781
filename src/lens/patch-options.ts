/** What a patch sweep over counts is asked, and what one of its cells says. */
import type { HookPoint } from "../engine/hooks.js";
import type { PromptParts } from "../model/prompt.js";
import type { EditedAnswer, EditedAnswersOptions } from "./edited-answers.js";
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
