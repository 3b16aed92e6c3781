import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { embed, residPost } from "../../src/engine/hooks.js";
import type { InlineEngine } from "../../src/engine/inline.js";
import { largestAbsolute, largestDifference, openFixture, openReal } from "./models.js";

/** Figures of an independent implementation, made by test/fixtures/reference/make_reference.py. */
interface Reference {
  readonly tokens: readonly number[];
  readonly positions: readonly number[];
  readonly embed: string;
  readonly residPost: readonly string[];
}

function referenceOf(...path: string[]): Reference {
  return JSON.parse(readFileSync(join(import.meta.dirname, "..", "fixtures", "reference", ...path), "utf8"));
}

function floats(base64: string): Float32Array {
  return new Float32Array(Uint8Array.from(Buffer.from(base64, "base64")).buffer);
}

/** max |a - b| / max |b| for each layer, the embeddings first. */
async function relativeErrors(engine: InlineEngine, reference: Reference): Promise<number[]> {
  const { tokens, positions } = reference;
  const hooks = [embed(), ...reference.residPost.map((_, layer) => residPost(layer))];
  const captures = hooks.map((hook) => ({ hook, positions }));
  const { results } = await engine.evaluate([{ tokens, captures }]);
  return [reference.embed, ...reference.residPost].map((rows, i) => {
    const expected = floats(rows);
    return largestDifference(results[0]!.captures[i]!.data, expected) / largestAbsolute(expected);
  });
}

describe("activations agree with transformers at every layer (F32 weights)", () => {
  it.each(["llama", "qwen2", "qwen3", "qwen3moe", "gemma2", "gemma3", "phi3", "gpt2", "olmo2"])(
    "%s",
    async (name) => {
      const engine = await openFixture(name);
      for (const error of await relativeErrors(engine, referenceOf("tiny", `${name}.json`))) {
        expect(error).toBeLessThan(1e-3);
      }
      await engine.close();
    },
  );
});

describe("activations of quantised models stay near those of their dequantised weights", () => {
  // llama.cpp rounds activations to 8 bits when it multiplies quantised weights, which transformers does not.
  it.each([
    ["smollm2-135m-instruct", "smollm2-135m-instruct-q4_1.json", 0.1],
    ["gemma-3-270m", "gemma3-270m-q4_k_m.json", 0.1],
  ])("%s (%s): below %d of the largest value", { timeout: 600_000 }, async (name, file, most) => {
    const engine = await openReal(name);
    const errors = await relativeErrors(engine, referenceOf(file));
    console.log(
      `${name}: relative error by layer: ${errors.map((error) => error.toExponential(1)).join(" ")}`,
    );
    for (const error of errors) expect(error).toBeLessThan(most);
    await engine.close();
  });
});
