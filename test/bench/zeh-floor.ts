/**
 * The floor: plain decodes with as many new tokens, output rows and occupied cells as the trie's chunks have, one after the
 * other, with nothing else around them. No schedule can be faster on this engine with these chunks.
 */

import type { Prepared } from "../../src/assays/verification/prepare.js";
import { chooseBackend } from "../../src/engine/backend.js";
import { createContext } from "../../src/engine/context.js";
import { maxOutputsFor } from "../../src/engine/core.js";
import { growForest } from "../../src/engine/forest.js";
import { openLibrary } from "../../src/engine/library.js";
import { loadModel } from "../../src/engine/native-model.js";
import { cellsNeeded, schedule } from "../../src/engine/schedule.js";
import type { Model } from "../../src/model/model.js";
import { type Taken, take } from "./taken.js";

export interface Floor {
  readonly runs: readonly Taken[];
  readonly decodes: number;
  readonly tokens: number;
}

/** Sequence ids of the new tokens and of what only occupies cells. */
const [NEW, FILLER] = [0, 1];

export async function plainDecodes(
  model: Model,
  prepared: readonly Prepared[],
  repeats: number,
): Promise<Floor> {
  const sequences = prepared.map(({ prompt, answer }) => Int32Array.of(...prompt, ...answer));
  const forest = growForest(sequences);
  const isOutput = new Uint8Array(forest.size);
  sequences.forEach((sequence, i) => {
    let node = forest.end[i]!;
    for (let k = sequence.length; k >= prepared[i]!.prompt.length; k--) {
      isOutput[node] = 1;
      node = forest.parent[node]!;
    }
  });
  const { settings, path, vocabulary } = model.info;
  const outputs = maxOutputsFor(vocabulary, settings.chunkTokens);
  const chunks = schedule(forest, { tokens: settings.chunkTokens, outputs }, (node) => isOutput[node] === 1);
  const shapes = chunks.map(({ start, end }) => {
    let rows = 0;
    for (let node = start; node < end; node++) rows += isOutput[node]!;
    return { tokens: end - start, rows, filled: forest.depth[start]! };
  });
  // The order of the chunks does not matter, and in this one the filler only has to be cut.
  shapes.sort((a, b) => b.filled - a.filled);

  const library = openLibrary(await chooseBackend("auto"));
  const native = loadModel(library, path, { gpuLayers: settings.gpuLayers });
  const context = createContext(native, {
    cells: 256 * 2 ** Math.max(0, Math.ceil(Math.log2(cellsNeeded(forest, chunks) / 256))),
    batch: Math.max(settings.chunkTokens, 16),
    outputs,
    threads: settings.threads,
    flashAttention: settings.flashAttention,
    kvType: settings.kvType,
    opOffload: settings.opOffload,
  });
  const runs: Taken[] = [];
  for (let run = 0; run < repeats; run++) {
    context.clear();
    fill(context, sequences[0]!, shapes[0]!.filled);
    const { value: _, ...time } = await take(async () => {
      for (const { tokens, rows, filled } of shapes) {
        context.dropSequence(FILLER, filled);
        context.begin();
        for (let i = 0; i < tokens; i++) {
          context.add(sequences[0]![i % sequences[0]!.length]!, filled + i, NEW, 1, [], i >= tokens - rows);
        }
        context.decode();
        if (context.outputs > 0) context.logits();
        context.dropSequence(NEW, 0);
      }
    });
    runs.push(time);
  }
  context.close();
  native.close();
  const tokens = shapes.reduce((sum, shape) => sum + shape.tokens, 0);
  return { runs, decodes: shapes.length, tokens };
}

function fill(context: ReturnType<typeof createContext>, tokens: Int32Array, length: number): void {
  if (length === 0) return;
  context.begin();
  for (let i = 0; i < length; i++) context.add(tokens[i]!, i, FILLER, 1, [], i === length - 1);
  context.decode();
}
