/** Opening a model: a name, a path or `hf:owner/repo:quant`, checked before anything native sees it. */
import { join } from "node:path";
import { chooseBackend, type Gpu } from "../engine/backend.js";
import { checkGguf } from "../engine/gguf.js";
import { fittingGpuLayers } from "../engine/gpu-layers.js";
import { type EngineOptions, openInline } from "../engine/inline.js";
import { openIsolated } from "../engine/isolated.js";
import { checkMemory } from "../engine/memory.js";
import { hasRowsOfOneBlock } from "../engine/native-model.js";
import type { RunOptions } from "../engine/request.js";
import { cacheFolder } from "../store/cache.js";
import { type ResolvedModel, resolveModel } from "../store/resolve-model.js";
import { chatRenderer } from "./chat-template.js";
import { signalFor } from "./interrupt.js";
import { type Model, makeModel } from "./model.js";
import { watched } from "./watched.js";

/** How a model is opened. Everything that can move a logit is recorded with every result. */
export interface OpenOptions {
  /** Which llama.cpp build: `auto` (default) is what node-llama-cpp chooses on this machine; false is the CPU. */
  readonly gpu?: Gpu;
  /** Layers on the GPU: `auto` (default) is as many as fit, -1 all, 0 none. */
  readonly gpuLayers?: number | "auto";
  /** Longest sequence in tokens. Default: as trained, at most 8,192. The KV cache grows only as far as needed. */
  readonly context?: number;
  /** Default: measured when the model is opened, because two threads can be ten times slower than one on busy cores.
   * The environment variable COUNTLENS_THREADS is the default where it is set. */
  readonly threads?: number;
  /** Most new tokens in one decode. Default: 128 for models below 20 million parameters, else 256. */
  readonly chunkTokens?: number;
  /** Default false: with it logits depend on the shape of the batch (docs/decisions/0002-flash-attention.md). */
  readonly flashAttention?: boolean;
  /** Type of the KV cache. Default `f32`. */
  readonly kvType?: "f32" | "f16";
  /** Let llama.cpp move layers of the host to the GPU for large batches. Default false, for the same reason. */
  readonly opOffload?: boolean;
  /** In a process of its own (default), where an abort in llama.cpp is an error here; false: in this one. */
  readonly isolated?: boolean;
  /** Jinja source in place of the model's own chat template; "" for plain text. */
  readonly template?: string;
  readonly signal?: AbortSignal;
  /** How far a download has come. */
  readonly onProgress?: NonNullable<RunOptions["onProgress"]>;
}

/** The model that ships with the project and is opened without a name. */
export const DEFAULT_MODEL = "tally-400k";

/**
 * Opens a model.
 *
 * @param spec a path to a GGUF; a name from `npm run models -- list`; or `hf:owner/repo:quant`. Default `tally-400k`.
 * @throws one line that says what is wrong with the file, the name or the machine, before any native call
 * @example
 * const model = await open("smollm2-135m-instruct");
 * const prompt = await model.prompt("What is 2+2?");
 */
export async function open(spec: string = DEFAULT_MODEL, options: OpenOptions = {}): Promise<Model> {
  checkOptions(options);
  const signal = signalFor(options.signal);
  const withProgress: RunOptions = { signal, ...(options.onProgress && { onProgress: options.onProgress }) };
  const resolved = await watched<RunOptions, ResolvedModel>(`fetching ${spec}`, withProgress, (run) =>
    resolveModel(spec, run),
  );
  const header = checkGguf(resolved.path);
  const backend = await chooseBackend(options.gpu ?? "auto", join(cacheFolder(), "backend.json"));
  const gpuLayers =
    options.gpuLayers === undefined || options.gpuLayers === "auto"
      ? await fittingGpuLayers(resolved.path, backend)
      : options.gpuLayers;
  checkMemory(header, gpuLayers);
  const threads = options.threads ?? threadsFromEnvironment();
  const engineOptions: EngineOptions = {
    path: resolved.path,
    rowsOfOneBlock: hasRowsOfOneBlock(header.tensors),
    backend,
    gpuLayers,
    ...(threads === undefined ? {} : { threads }),
    ...pick(options, ["context", "chunkTokens", "flashAttention", "kvType", "opOffload"]),
  };
  const engine = options.isolated === false ? openInline(engineOptions) : await openIsolated(engineOptions);
  try {
    const { bos, eos, chatTemplate } = engine.info;
    const [bosText, eosText] = await Promise.all(
      [bos, eos].map(async (token) => (token < 0 ? "" : (await engine.pieces([token]))[0]!)),
    );
    const template = options.template ?? chatTemplate;
    const render = chatRenderer(template, bosText!, eosText!);
    return makeModel(engine, render, resolved.sha256, resolved.verified, template);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function checkOptions({ context, threads, chunkTokens, gpuLayers }: OpenOptions): void {
  const whole = (name: string, value: number | "auto" | undefined, least: number, most: number) => {
    if (value === undefined || value === "auto") return;
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new Error(`open: ${name} is ${value}; expected a whole number from ${least} to ${most}`);
    }
  };
  whole("context", context, 1, 16_777_216);
  whole("threads", threads, 1, 512);
  whole("chunkTokens", chunkTokens, 1, 8192);
  whole("gpuLayers", gpuLayers, -1, 10_000);
}

function threadsFromEnvironment(): number | undefined {
  const text = process.env.COUNTLENS_THREADS;
  if (text === undefined || text === "") return undefined;
  const threads = Number(text);
  if (Number.isInteger(threads) && threads >= 1 && threads <= 512) return threads;
  throw new Error(
    `open: COUNTLENS_THREADS is ${JSON.stringify(text)}; expected a whole number from 1 to 512`,
  );
}

function pick<T, K extends keyof T>(from: T, keys: readonly K[]): Partial<Pick<T, K>> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked;
}
