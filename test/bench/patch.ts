/**
 * What one forest is worth for patching: donors of 1 to 26 items x all layers, final token and items, against the same cells with every
 * prompt recomputed alone, in turn. The decoded counts must be the same.
 *
 * Sweeps alone take minutes, so they are timed on a seeded sample of the cells (`--sample`, whole layers), and the shared sweep on all of
 * them; `--sample 0` recomputes every cell.
 *
 * `npm run bench -- patch [--model NAME] [--repeats N] [--sample LAYERS] [--threads N]`
 */
import { parseArgs } from "node:util";
import { residPost } from "../../src/engine/hooks.js";
import { type PatchCounts, patchCounts } from "../../src/lens/patch-counts.js";
import type { PatchPositions } from "../../src/lens/position-sets.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { random } from "../../src/stats/random.js";
import { countingPrompt } from "../../src/tasks/counting.js";
import { type Emit, median } from "./line.js";

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
  const sample = Number(values.sample ?? 2);
  const model = await open(values.model ?? "smollm2-135m-instruct", {
    isolated: false,
    ...(values.threads === undefined ? {} : { threads: Number(values.threads) }),
  });
  const layers = Array.from({ length: model.info.layers }, (_, layer) => layer);
  for (const [metric, positions] of [["final", "final token"] as const, ["sequence", "items"] as const]) {
    const rounds: { shared: PatchCounts; alone: PatchCounts }[] = [];
    for (let round = 0; round < repeats; round++) {
      const shared = await sweep(model, positions, layers, "forest");
      // Other layers in every round, so that the sample is not one kind of cell.
      const some = sample === 0 ? layers : random(SEED, metric, round).sample(layers, sample);
      const alone = await sweep(model, positions, some, "alone");
      assertSame(shared, alone, metric);
      rounds.push({ shared, alone });
    }
    const rate = ({ cells, stats }: PatchCounts) => cells.length / (stats.ms / 1000);
    const tokens = ({ cells, stats }: PatchCounts) => stats.tokensEvaluated / cells.length;
    const ratio = median(rounds.map(({ shared, alone }) => tokens(alone) / tokens(shared)));
    const speedup = median(rounds.map(({ shared, alone }) => rate(shared) / rate(alone)));
    const { settings, name: model_ } = model.info;
    const context = {
      model: model_,
      donors: DONORS,
      layers: layers.length,
      cells: rounds[0]!.shared.cells.length,
      aloneCells: rounds[0]!.alone.cells.length,
      aloneSampled: sample === 0 ? "all cells" : `${sample} layers drawn in each round, seed ${SEED}`,
      tokensACell: tokens(rounds[0]!.shared),
      tokensACellAlone: tokens(rounds[0]!.alone),
      sameCounts: true,
      threads: settings.threads,
    };
    const line = { bench: name, n: repeats, context };
    const shared = median(rounds.map((one) => rate(one.shared)));
    emit({ ...line, metric: `${metric}_cells_per_second`, value: shared, unit: "cells/s" });
    const alone = median(rounds.map((one) => rate(one.alone)));
    emit({ ...line, metric: `${metric}_alone_cells_per_second`, value: alone, unit: "cells/s" });
    emit({
      ...line,
      metric: metric === "final" ? "final_token_ratio" : "token_ratio",
      value: ratio,
      unit: "ratio",
    });
    const target = metric === "final" ? 10 : 0.9 * ratio;
    emit({
      ...line,
      metric: `${metric}_speedup`,
      value: speedup,
      unit: "ratio",
      context: { ...context, target, met: speedup >= target },
    });
  }
  await model.close();
}

/** The prompt leaves room for nothing but the number, so that answers are counts on models that would rather talk. */
function sweep(
  model: Model,
  positions: PatchPositions,
  layers: readonly number[],
  mode: "forest" | "alone",
): Promise<PatchCounts> {
  return patchCounts(model, {
    donors: Array.from({ length: DONORS }, (_, i) => i + 1),
    onlySuccessful: false,
    prompt: (count) => ({ ...countingPrompt(count), assistant: "The total is " }),
    positions,
    layers,
    hook: residPost,
    controls: [],
    maxTokens: 4,
    mode,
    onProgress: () => {},
  });
}

function assertSame(shared: PatchCounts, alone: PatchCounts, what: string): void {
  const of = new Map(shared.cells.map((cell) => [`${cell.layer} ${cell.donor}`, cell.decoded]));
  const wrong = alone.cells.filter(({ layer, donor, decoded }) => of.get(`${layer} ${donor}`) !== decoded);
  if (wrong.length > 0) {
    const said = wrong.slice(0, 3).map(({ layer, donor }) => `layer ${layer}, donor ${donor}`);
    throw new Error(
      `bench patch: ${wrong.length} of ${alone.cells.length} decoded counts (${what}) differ between one forest and alone: ${said.join("; ")}`,
    );
  }
}
