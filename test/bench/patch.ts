/**
 * What one forest is worth for patching: donors of 1 to 26 items x all layers, final token and items, against the same cells with every
 * prompt recomputed alone, in turn. The decoded counts must be the same.
 *
 * Sweeps alone take minutes, so they are timed on a seeded sample of the cells (`--sample`, default 26), and the shared sweep on all of
 * them; `--sample 0` recomputes every cell. Both sweeps give every cell its teacher-forced gap and its decoded count.
 *
 * `npm run bench -- patch [--model NAME] [--repeats N] [--sample CELLS] [--threads N]`
 */
import { parseArgs } from "node:util";
import { type EditedCell, editedAnswers } from "../../src/lens/edited-answers.js";
import { type PatchCells, type PatchLabel, patchCells } from "../../src/lens/patch-cells.js";
import type { PatchPositions } from "../../src/lens/position-sets.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { random } from "../../src/stats/random.js";
import { countingPrompt } from "../../src/tasks/counting.js";
import { type Emit, median } from "./line.js";
import { type Taken, take } from "./taken.js";

export const name = "patch";

const DONORS = 26;
const SEED = 1;

export async function run(emit: Emit, args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args,
    options: { model: text, repeats: text, sample: text, threads: text },
  });
  const repeats = Number(values.repeats ?? 3);
  const sample = Number(values.sample ?? 26);
  const model = await open(values.model ?? "smollm2-135m-instruct", {
    isolated: false,
    ...(values.threads === undefined ? {} : { threads: Number(values.threads) }),
  });
  for (const [metric, positions] of [
    ["final", "final token"],
    ["sequence", "items"],
  ] as const) {
    const { cells, labels, layers } = await cellsOf(model, positions);
    const rounds: { shared: Sweep; alone: Sweep }[] = [];
    for (let round = 0; round < repeats; round++) {
      const shared = await sweep(model, cells, "forest");
      // Other cells in every round.
      const all = cells.map((_, i) => i);
      const some = sample === 0 ? all : random(SEED, metric, round).sample(all, sample);
      const alone = await sweep(
        model,
        some.map((i) => cells[i]!),
        "alone",
      );
      const wrong = some.filter((i, k) => shared.decoded[i] !== alone.decoded[k]);
      if (wrong.length > 0) throw new Error(different(metric, wrong, some.length, labels));
      rounds.push({ shared, alone });
    }
    const over = (value: (one: Sweep) => number) =>
      median(rounds.map(({ shared, alone }) => value(shared) / value(alone)));
    const tokens = ({ tokens: total, n }: Sweep) => total / n;
    const ratio = 1 / over(tokens);
    const speedup = over(({ n, ms }) => n / ms);
    const context = {
      model: model.info.name,
      donors: DONORS,
      layers: layers.length,
      cells: cells.length,
      alone: sample === 0 ? "all cells" : `${sample} cells drawn in each round, seed ${SEED}`,
      tokensACell: tokens(rounds[0]!.shared),
      tokensACellAlone: tokens(rounds[0]!.alone),
      sameCounts: rounds.reduce((sum, { alone }) => sum + alone.n, 0),
      cpuSpeedup: over(({ n, cpuMs }) => n / cpuMs),
      threads: model.info.settings.threads,
    };
    const line = { bench: name, n: repeats, context };
    const rate = (one: "shared" | "alone") =>
      median(rounds.map((round) => (1000 * round[one].n) / round[one].ms));
    emit({ ...line, metric: `${metric}_cells_per_second`, value: rate("shared"), unit: "cells/s" });
    emit({ ...line, metric: `${metric}_alone_cells_per_second`, value: rate("alone"), unit: "cells/s" });
    const named = metric === "final" ? "final_token_ratio" : "token_ratio";
    emit({ ...line, metric: named, value: ratio, unit: "ratio" });
    const target = metric === "final" ? 10 : 0.9 * ratio;
    const judged = { ...context, target, met: speedup >= target };
    emit({ ...line, metric: `${metric}_speedup`, value: speedup, unit: "ratio", context: judged });
  }
  await model.close();
}

interface Sweep extends Taken {
  readonly n: number;
  readonly tokens: number;
  readonly decoded: readonly (number | null)[];
}

async function sweep(model: Model, cells: readonly EditedCell[], mode: "forest" | "alone"): Promise<Sweep> {
  const { value, ms, cpuMs } = await take(() =>
    editedAnswers(model, cells, { mode, maxTokens: 4, onProgress: () => {} }),
  );
  return {
    n: cells.length,
    tokens: value.stats.tokensEvaluated,
    decoded: value.answers.map(({ decoded }) => decoded),
    ms,
    cpuMs,
  };
}

/** The prompt leaves room for nothing but the number, so that answers are counts on models that would rather talk. */
function cellsOf(model: Model, positions: PatchPositions): Promise<PatchCells> {
  return patchCells(model, {
    donors: Array.from({ length: DONORS }, (_, i) => i + 1),
    onlySuccessful: false,
    prompt: (count) => ({ ...countingPrompt(count), assistant: "The total is " }),
    positions,
    controls: [],
    maxTokens: 4,
    onProgress: () => {},
  });
}

function different(
  what: string,
  wrong: readonly number[],
  of: number,
  labels: readonly PatchLabel[],
): string {
  const said = wrong.slice(0, 3).map((i) => `layer ${labels[i]!.layer}, donor ${labels[i]!.donor}`);
  return `bench patch: ${wrong.length} of ${of} decoded counts (${what}) differ between one forest and alone: ${said.join("; ")}`;
}
