/**
 * Activation patching between counts: what a prompt of `base` items answers when a layer's activations are those of a prompt of another
 * count (second paper, section 3, Figure 4e-g and Methods).
 *
 * Layers, donors and controls together are one list of requests, so what a cell shares with the recipient up to the first patched
 * position is evaluated once: patching the final token recomputes one token a cell.
 */
import { type HookPoint, hookName, residPost } from "../engine/hooks.js";
import { type Model, requireHook } from "../model/model.js";
import type { Prompt, PromptParts } from "../model/prompt.js";
import { random } from "../stats/random.js";
import { type Provenance, provenance } from "../store/provenance.js";
import { countingPrompt } from "../tasks/counting.js";
import {
  type EditedAnswer,
  type EditedAnswersOptions,
  type EditedCell,
  editedAnswers,
  type SweepStats,
} from "./edited-answers.js";
import { derangement, donorRows, onlyHead, randomShift } from "./patch-rows.js";
import { type PatchPositions, positionRuns } from "./position-sets.js";

export type PatchControl = "self" | "shuffled donor" | "random, equal norm";

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
  const { base = 10, donors = Array.from({ length: 26 }, (_, i) => i + 1), positions = "items" } = options;
  const { hook = residPost, onlySuccessful = true, prompt = (count) => countingPrompt(count) } = options;
  const { controls = ["self", "shuffled donor", "random, equal norm"], seed = 0, each, ...rest } = options;
  const layers = options.layers ?? Array.from({ length: model.info.layers }, (_, layer) => layer);
  checkCounts(base, donors);
  if (layers.length === 0) throw new Error("patchCounts: no layers; expected at least one");
  const widths = layers.map((layer) => requireHook(model, hook(layer), "patchCounts"));
  if (each === "head" && hook(layers[0]!).kind !== "heads")
    throw new Error(`patchCounts: each head of ${hookName(hook(layers[0]!))}; expected hook: heads`);
  const run = pick(rest);

  const counts = [...new Set([base, ...donors])];
  const prompts = await model.prompts(counts.map(prompt));
  const byCount = new Map(counts.map((count, i) => [count, prompts[i]!]));
  const recipient = byCount.get(base)!;
  const to = positionRuns(recipient, positions, `patchCounts: the prompt of ${base}`);
  const runsOf = new Map(
    counts.map((count) => [count, donorRuns(byCount.get(count)!, count, positions, to)] as const),
  );
  const unpatched = await unpatchedAnswers(model, counts, byCount, base, run);
  const own = unpatched.own.get(base)!;
  const { used, failed } = chooseDonors(donors, unpatched.own, own, onlySuccessful);

  // Everything a patch may need of every prompt, in one evaluation.
  const sources = [...new Set([base, ...used.map(({ count }) => count)])];
  const captured = await model.evaluate(
    sources.map((count) => ({
      tokens: byCount.get(count)!.tokens,
      captures: layers.map((layer) => ({ hook: hook(layer), positions: flat(runsOf.get(count)!) })),
    })),
    run,
  );
  const rowsOf = (count: number, l: number): Float32Array =>
    donorRows(
      captured.results[sources.indexOf(count)]!.captures[l]!.data,
      widths[l]!,
      runsOf.get(count)!,
      to,
    );

  const units = unitsOf(flat(to), each, model.info.heads);
  const labels: Pick<PatchedCount, "layer" | "condition" | "donor" | "position" | "head">[] = [];
  const cells: EditedCell[] = [];
  const partner = used.length > 1 ? derangement(used.length, random(seed, "shuffled donor")) : undefined;
  for (const condition of ["patch", ...controls] as const) {
    if (condition === "shuffled donor" && partner === undefined) continue;
    layers.forEach((layer, l) => {
      const mine = rowsOf(base, l);
      const width = widths[l]!;
      (condition === "self" ? [own] : used).forEach(({ count }, d) => {
        const source = condition === "shuffled donor" ? used[partner![d]!]!.count : count;
        const theirs = rowsOf(source, l);
        const rows =
          condition === "random, equal norm"
            ? randomShift(mine, theirs, width, random(seed, condition, layer, count))
            : theirs;
        for (const { places, from, ...unit } of units) {
          const whole =
            unit.head === undefined ? rows : onlyHead(mine, rows, width, unit.head, model.info.heads);
          labels.push({ layer, condition, donor: count, ...unit });
          cells.push({
            tokens: recipient.tokens,
            answer: String(count),
            edits: [
              {
                hook: hook(layer),
                positions: places,
                op: { type: "replace", rows: whole.subarray(from * width, (from + places.length) * width) },
              },
            ],
          });
        }
      });
    });
  }
  const { answers, stats } = await editedAnswers(model, cells, run);
  const patched = answers.map((answer, i) => {
    const label = labels[i]!;
    const shift = answer.decoded === null || own.decoded === null ? null : answer.decoded - own.decoded;
    return { ...label, ...answer, shift, gapChange: answer.gap - unpatched.ofBase.get(label.donor)!.gap };
  });
  const self = patched.filter(({ condition }) => condition === "self");
  return {
    base: own,
    donors: used,
    failed,
    positions: typeof positions === "string" ? positions : `positions ${positions.join(", ")}`,
    hook: hook(layers[0]!).kind,
    layers,
    cells: patched,
    identity: {
      cells: self.length,
      changed: self.filter(({ text }) => text !== own.text).length,
      largest: self.reduce((most, { gapChange }) => Math.max(most, Math.abs(gapChange)), 0),
    },
    stats,
    provenance: provenance({
      model,
      notes: {
        lens: "patching",
        base,
        donors: used.map(({ count }) => count),
        positions: String(positions),
        seed,
      },
    }),
  };
}

function checkCounts(base: number, donors: readonly number[]): void {
  if (donors.length === 0) throw new Error("patchCounts: no donors; expected at least one count");
  for (const [name, count] of [
    ["base", base],
    ...donors.map((donor) => ["donor", donor] as const),
  ] as const) {
    if (!Number.isSafeInteger(count) || count < 1)
      throw new Error(`patchCounts: ${name} of ${count} items; expected a whole number from 1`);
  }
}

function pick({ signal, onProgress, mode, maxTokens }: EditedAnswersOptions): EditedAnswersOptions {
  return {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(mode && { mode }),
    ...(maxTokens && { maxTokens }),
  };
}

/** The runs of a donor's prompt, one for each of the recipient's. */
function donorRuns(
  prompt: Prompt,
  count: number,
  positions: PatchPositions,
  to: readonly Int32Array[],
): Int32Array[] {
  const runs = positionRuns(prompt, positions, `patchCounts: the prompt of ${count}`);
  if (runs.length !== to.length) {
    throw new Error(
      `patchCounts: the prompt of ${count} falls into ${runs.length} runs of tokens, the recipient's into ${to.length}; ` +
        "expected prompts that differ in their lists alone",
    );
  }
  return runs;
}

const flat = (runs: readonly Int32Array[]): number[] => runs.flatMap((run) => [...run]);

/** Each count's own answer, and the recipient's gap for each count as an answer. */
async function unpatchedAnswers(
  model: Model,
  counts: readonly number[],
  prompts: ReadonlyMap<number, Prompt>,
  base: number,
  run: EditedAnswersOptions,
) {
  const cell = (prompt: number, answer: number): EditedCell => ({
    tokens: prompts.get(prompt)!.tokens,
    edits: [],
    answer: String(answer),
  });
  const { answers } = await editedAnswers(
    model,
    [...counts.map((count) => cell(count, count)), ...counts.map((count) => cell(base, count))],
    run,
  );
  return {
    own: new Map(counts.map((count, i) => [count, { count, ...answers[i]! } as UnpatchedCount])),
    ofBase: new Map(counts.map((count, i) => [count, answers[counts.length + i]!])),
  };
}

function chooseDonors(
  donors: readonly number[],
  own: ReadonlyMap<number, UnpatchedCount>,
  base: UnpatchedCount,
  onlySuccessful: boolean,
): { used: UnpatchedCount[]; failed: UnpatchedCount[] } {
  const all = [...new Set(donors)].map((count) => own.get(count)!);
  if (!onlySuccessful) return { used: all, failed: [] };
  const right = ({ count, decoded }: UnpatchedCount) => decoded === count;
  const used = all.filter(right);
  const hint = "choose counts that the model gets right, or set onlySuccessful: false";
  if (used.length === 0) {
    const said = all.slice(0, 3).map(({ count, text }) => `${count}: ${JSON.stringify(text)}`);
    throw new Error(
      `patchCounts: no donor succeeds (${said.join(", ")}${all.length > 3 ? ", ..." : ""}); ${hint}`,
    );
  }
  if (!right(base))
    throw new Error(
      `patchCounts: the recipient of ${base.count} items answers ${JSON.stringify(base.text)}; ${hint}`,
    );
  return { used, failed: all.filter((one) => !right(one)) };
}

interface Unit {
  /** Positions in the recipient, and which of the set's rows they start with. */
  readonly places: readonly number[];
  readonly from: number;
  readonly position?: number;
  readonly head?: number;
}

function unitsOf(places: readonly number[], each: "position" | "head" | undefined, heads: number): Unit[] {
  if (each === "position") return places.map((position, from) => ({ places: [position], from, position }));
  if (each === "head") return Array.from({ length: heads }, (_, head) => ({ places, from: 0, head }));
  return [{ places, from: 0 }];
}
