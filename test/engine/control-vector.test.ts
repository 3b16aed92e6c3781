import { afterEach, describe, expect, it } from "vitest";
import { type Context, createContext } from "../../src/engine/context.js";
import { openLibrary } from "../../src/engine/library.js";
import { loadModel, type NativeModel } from "../../src/engine/native-model.js";
import { createTap, type Tap, type Watch } from "../../src/engine/tap.js";
import { BRANCHING, fixturePath, largestDifference, testBackend } from "./models.js";

/** Below the door, because only there llama.cpp's own control vector can be set on the same context. */
interface Bare {
  readonly model: NativeModel;
  readonly tap: Tap;
  readonly context: Context;
}

let bare: Bare | undefined;
afterEach(() => {
  bare?.context.close();
  bare?.model.close();
  bare?.tap.close();
  bare = undefined;
});

async function openBare(architecture: string): Promise<Bare> {
  const backend = await testBackend();
  const library = openLibrary(backend);
  const model = loadModel(library, fixturePath(architecture), { gpuLayers: backend.gpu === false ? 0 : -1 });
  const tap = createTap(library);
  const context = createContext(model, {
    cells: 256,
    batch: 32,
    outputs: 32,
    threads: 1,
    flashAttention: false,
    kvType: "f32",
    opOffload: false,
    onNode: tap.callback,
  });
  return { model, tap, context };
}

function logitsUnder({ tap, context, model }: Bare, watches: readonly Watch[]): Float32Array {
  context.clear();
  context.begin();
  for (let i = 0; i < 8; i++) context.add(10 + 3 * i, i, 0, 1, [], true);
  tap.watch(watches);
  expect(context.decode()).toBe(true);
  tap.check();
  return context.logits().slice(0, 8 * model.vocabulary);
}

describe.each(BRANCHING)("%s", (architecture) => {
  it("adding a vector to a layer's output equals llama.cpp's own control vector, bit for bit", async () => {
    bare = await openBare(architecture);
    const { model, context } = bare;
    const { layers, width } = model;
    const layer = layers - 2;
    const vector = Float32Array.from({ length: width }, (_, i) => Math.cos(3 * i));
    // One vector for each layer from 1 on.
    const table = new Float32Array(width * layers);
    table.set(vector, width * (layer - 1));
    const setVector = (data: Float32Array | null) =>
      model.library.llama.llama_set_adapter_cvec(
        context.pointer,
        data,
        data === null ? 0 : data.length,
        width,
        1,
        layers,
      );

    const plain = logitsUnder(bare, []);
    expect(setVector(table)).toBe(0);
    const own = logitsUnder(bare, []);
    expect(setVector(null)).toBe(0);
    const added = logitsUnder(bare, [
      {
        tensors: [{ name: `l_out-${layer}` }],
        onTensor(tensor) {
          const rows = new Float32Array(tensor.elements);
          tensor.read(rows, 0, rows.length);
          for (let i = 0; i < rows.length; i++) rows[i] = rows[i]! + vector[i % width]!;
          tensor.write(rows, 0, rows.length);
        },
      },
    ]);
    expect(largestDifference(own, plain)).toBeGreaterThan(1e-3);
    expect(largestDifference(added, own)).toBe(0);
  });
});
