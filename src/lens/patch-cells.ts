/**
 * What a sweep of patches is made of: every cell's prompt, the rows put into it and the answer whose gap is wanted, with everything that can be
 * refused before a patch is made.
 */
import { hookName, residPost } from "../engine/hooks.js";
import { type Model, requireHook } from "../model/model.js";
import type { Prompt } from "../model/prompt.js";
import { random } from "../stats/random.js";
import { countingPrompt } from "../tasks/counting.js";
import {
  type EditedAnswer,
  type EditedAnswersOptions,
  type EditedCell,
  editedAnswers,
} from "./edited-answers.js";
import type { PatchCountsOptions, PatchedCount, UnpatchedCount } from "./patch-options.js";
import { derangement, donorRows, onlyHead, randomShift } from "./patch-rows.js";
import { type PatchPositions, positionRuns } from "./position-sets.js";

export type PatchLabel = Pick<PatchedCount, "layer" | "condition" | "donor" | "position" | "head">;

export interface PatchCells {
  /** One label a cell: conditions, then layers, then donors, then positions or heads. */
  readonly labels: readonly PatchLabel[];
  readonly cells: readonly EditedCell[];
  readonly base: UnpatchedCount;
  readonly donors: readonly UnpatchedCount[];
  readonly failed: readonly UnpatchedCount[];
  /** The recipient unpatched, with each count as the answer whose gap is wanted. */
  readonly unpatched: ReadonlyMap<number, EditedAnswer>;
  readonly layers: readonly number[];
  readonly hook: string;
}

/** Asks every prompt for its own answer, captures what the patches need of each, and lays the cells out. Errors are those of `patchCounts`. */
export async function patchCells(model: Model, options: PatchCountsOptions = {}): Promise<PatchCells> {
  const { base = 10, donors = Array.from({ length: 26 }, (_, i) => i + 1), positions = "items" } = options;
  const { hook = residPost, onlySuccessful = true, prompt = (count) => countingPrompt(count) } = options;
  const { controls = ["self", "shuffled donor", "random, equal norm"], seed = 0, each, ...rest } = options;
  const layers = options.layers ?? Array.from({ length: model.info.layers }, (_, layer) => layer);
  checkCounts(base, donors);
  if (layers.length === 0) throw new Error("patchCounts: no layers; expected at least one");
  const widths = layers.map((layer) => requireHook(model, hook(layer), "patchCounts"));
  if (each === "head" && hook(layers[0]!).kind !== "heads")
    throw new Error(`patchCounts: each head of ${hookName(hook(layers[0]!))}; expected hook: heads`);
  const run = answerOptions(rest);

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
  const labels: PatchLabel[] = [];
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
  return {
    labels,
    cells,
    base: own,
    donors: used,
    failed,
    unpatched: unpatched.ofBase,
    layers,
    hook: hook(layers[0]!).kind,
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

/** The options that are handed on to `editedAnswers`. */
export function answerOptions({
  signal,
  onProgress,
  mode,
  maxTokens,
}: EditedAnswersOptions): EditedAnswersOptions {
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
