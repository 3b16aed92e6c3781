/** Models the engine's tests run on: tiny random ones of every architecture, and the two real ones of the catalogue. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Backend, chooseBackend, type Gpu } from "../../src/engine/backend.js";
import { checkGguf } from "../../src/engine/gguf.js";
import type { HookPoint } from "../../src/engine/hooks.js";
import { type EngineOptions, type InlineEngine, openInline } from "../../src/engine/inline.js";
import type { LogitsRead } from "../../src/engine/request.js";
import { random } from "../../src/stats/random.js";
import { resolveModel } from "../../src/store/resolve-model.js";

/** Architectures of the fixtures whose prefixes can be shared. */
export const BRANCHING = ["llama", "qwen2", "qwen3", "qwen3moe", "gemma2", "gemma3", "phi3", "gpt2", "olmo2"];
/** Recurrent and hybrid ones: plain sequences. */
export const PLAIN = ["mamba", "qwen35moe"];
export const REAL = ["smollm2-135m-instruct", "gemma-3-270m"];

export function fixturePath(architecture: string): string {
  return join(import.meta.dirname, "..", "fixtures", "architectures", `${architecture}.gguf`);
}

/**
 * ggml computes GELU through a table of half-precision values, so a difference in the last bit of its input can become
 * one of 5e-4 of its output: in these architectures rounding is that much larger, whatever the weights' type.
 */
export const GELU = ["gemma2", "gemma3", "gpt2"];

/** A copy of a fixture in which what the MLPs add is 100 times smaller, and with it GELU's rounding. */
export function withQuietMlp(architecture: string): string {
  const { path, tensors } = checkGguf(fixturePath(architecture));
  const bytes = readFileSync(path);
  // Where the branch is normalised before it is added, only the norm's weights set its size.
  const norms = tensors.filter(({ name }) => name.endsWith("post_ffw_norm.weight"));
  const last = norms.length > 0 ? norms : tensors.filter(({ name }) => /ffn_down\.(weight|bias)$/.test(name));
  for (const { offset, elements } of last) {
    for (let i = 0; i < elements; i++)
      bytes.writeFloatLE(bytes.readFloatLE(offset + 4 * i) / 100, offset + 4 * i);
  }
  const copy = join(mkdtempSync(join(tmpdir(), "countlens-test-")), `${architecture}.gguf`);
  writeFileSync(copy, bytes);
  return copy;
}

type Options = Partial<Omit<EngineOptions, "path" | "backend">>;

/** In this process and on one thread: results do not depend on the number, and time on busy cores does. */
export async function openFixture(architecture: string, options: Options = {}): Promise<InlineEngine> {
  return openPath(fixturePath(architecture), options);
}

export async function openReal(name: string, options: Options = {}): Promise<InlineEngine> {
  return openPath((await resolveModel(name)).path, options);
}

export async function openPath(path: string, options: Options = {}): Promise<InlineEngine> {
  const backend = await testBackend();
  return openInline({ path, backend, gpuLayers: backend.gpu === false ? 0 : -1, threads: 1, ...options });
}

/** The CPU, unless `npm run test:gpu` says otherwise. */
export function testBackend(): Promise<Backend> {
  return chooseBackend((process.env.COUNTLENS_TEST_GPU as Gpu | undefined) ?? false);
}

/** Random ordinary token ids, BOS first where the model wants one. */
export function randomTokens(engine: InlineEngine, count: number, seed: number): number[] {
  const draw = random(seed, "tokens");
  const { vocabulary, addBos, bos } = engine.info;
  const tokens = Array.from({ length: count }, () => draw.integer(3, Math.min(vocabulary, 200) - 1));
  if (addBos) tokens[0] = bos;
  return tokens;
}

/** All logits after the last token. */
export async function lastLogits(
  engine: InlineEngine,
  request: Omit<Parameters<InlineEngine["evaluate"]>[0][number], "logits">,
): Promise<Float32Array> {
  const { results } = await engine.evaluate([{ ...request, logits: { positions: [-1], full: true } }]);
  return results[0]!.logits!.full!;
}

export function largestDifference(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i]! - b[i]!);
    if (!(difference <= most)) most = difference;
  }
  return most;
}

export function largestAbsolute(values: Float32Array): number {
  return largestDifference(values, new Float32Array(values.length));
}

/** Hook points that hold rows of activations: all but the attention weights. */
export function rowHooks(engine: InlineEngine): HookPoint[] {
  return engine.info.hookPoints.map(({ hook }) => hook).filter(({ kind }) => kind !== "attnPattern");
}

export function argmax(read: LogitsRead): number {
  return read.topIds[0]!;
}
