/** The engine in this process: for comparison, for debugging, and inside the child process of the isolated one. */
import type { Backend } from "./backend.js";
import { createCore } from "./core.js";
import { findHooks } from "./dry-run.js";
import type { Engine, EngineInfo } from "./engine.js";
import { evaluate } from "./evaluate.js";
import { generate } from "./generate.js";
import { checkGguf } from "./gguf.js";
import { openLibrary, type Pointer } from "./library.js";
import { hasRowsOfOneBlock, loadModel, type NativeModel } from "./native-model.js";
import { createQueue } from "./queue.js";
import { createTap } from "./tap.js";
import { probeThreads } from "./threads.js";

export interface EngineOptions {
  /** The GGUF file. Its header must have been checked (`checkGguf`). */
  readonly path: string;
  readonly backend: Backend;
  /** `hasRowsOfOneBlock` of its header. Default: the header is read again. */
  readonly rowsOfOneBlock?: boolean;
  /** Layers on the GPU; -1 all. Default: all with a GPU build, none without. */
  readonly gpuLayers?: number;
  /** Longest sequence in tokens. Default: as trained, at most 8,192. */
  readonly context?: number;
  /** Default: measured at opening. */
  readonly threads?: number;
  /** Most new tokens in one decode. Default: 128 below 20 million parameters, else 256. */
  readonly chunkTokens?: number;
  /** Default false: it moves logits with the shape of the batch. */
  readonly flashAttention?: boolean;
  /** Default f32. */
  readonly kvType?: "f32" | "f16";
  /** Let llama.cpp move host layers to the GPU for large batches. Default false: it moves logits too. */
  readonly opOffload?: boolean;
}

const DEFAULT_CONTEXT = 8192;
const SMALL_MODEL = 20e6;
/** From this many parameters on a decode takes long enough to be worth asking inside it whether to stop. */
const ASK_INSIDE_DECODE = 200e6;

export interface InlineEngine extends Engine {
  readonly isOpen: boolean;
}

/**
 * Opens a model in this process.
 *
 * @param onAbort native callback that llama.cpp asks between the steps of a decode whether to stop
 */
export function openInline(options: EngineOptions, onAbort?: Pointer, keepLog = false): InlineEngine {
  const library = openLibrary(options.backend);
  if (keepLog) library.keepLog();
  const gpuLayers = options.gpuLayers ?? (options.backend.gpu === false ? 0 : -1);
  const rowsOfOneBlock = options.rowsOfOneBlock ?? hasRowsOfOneBlock(checkGguf(options.path).tensors);
  const model = loadModel(library, options.path, { gpuLayers, rowsOfOneBlock });
  const info = describe(model, options, gpuLayers);
  const tap = createTap(library);
  const bare = createCore(model, info, tap, model.parameters < ASK_INSIDE_DECODE ? undefined : onAbort);
  const core = { ...bare, info: { ...info, hookPoints: findHooks(bare) } };
  const exclusively = createQueue();
  let open = true;
  const still = () => {
    if (!open) throw new Error("engine: closed; open the model again");
  };
  return {
    info: core.info,
    get isOpen() {
      return open;
    },
    async evaluate(requests, run) {
      return await exclusively(async () => {
        still();
        return await evaluate(core, requests, run);
      });
    },
    async generate(requests, run) {
      return await exclusively(async () => {
        still();
        return await generate(core, requests, run);
      });
    },
    async tokenize(texts, special) {
      still();
      return texts.map((text) => model.tokenize(text, special));
    },
    async pieces(tokens) {
      still();
      const decoder = new TextDecoder();
      return Array.from(tokens, (token) => decoder.decode(model.piece(token)));
    },
    async pieceBytes(tokens) {
      still();
      return Int32Array.from(tokens, (token) => model.piece(token).length);
    },
    async detokenize(tokens, special = false) {
      still();
      return model.detokenize(Int32Array.from(tokens), special);
    },
    async close() {
      await exclusively(async () => {
        if (open) core.close();
        open = false;
      });
    },
  };
}

function describe(model: NativeModel, options: EngineOptions, gpuLayers: number): EngineInfo {
  const architecture = model.meta("general.architecture");
  const trainedContext = model.trainedContext;
  const context = options.context ?? Math.min(trainedContext, DEFAULT_CONTEXT);
  const small = model.parameters < SMALL_MODEL;
  return {
    path: options.path,
    architecture,
    name:
      model.meta("general.name") ||
      options.path
        .split(/[\\/]/)
        .at(-1)!
        .replace(/\.gguf$/, ""),
    layers: model.layers,
    width: model.width,
    heads: model.heads,
    vocabulary: model.vocabulary,
    parameters: model.parameters,
    bytes: model.bytes,
    quantisation: model.quantisation,
    trainedContext,
    context,
    slidingWindow: model.slidingWindow,
    branches: model.branches,
    bos: model.bos,
    eos: model.eos,
    eot: model.eot,
    addBos: model.addBos,
    endTokens: model.endTokens,
    chatTemplate: model.chatTemplate,
    hookPoints: [],
    kvBytesPerToken: 2 * model.layers * keyValueWidth(model, architecture) * 4,
    settings: {
      gpuLayers,
      flashAttention: options.flashAttention ?? false,
      kvType: options.kvType ?? "f32",
      opOffload: options.opOffload ?? false,
      threads: options.threads ?? probeThreads(model),
      chunkTokens: options.chunkTokens ?? (small ? 128 : 256),
    },
    llamaVersion: model.library.version,
    backend: model.library.devices.join(", "),
  };
}

function keyValueWidth(model: NativeModel, architecture: string): number {
  const number = (key: string) => Number(model.meta(`${architecture}.attention.${key}`));
  const heads = number("head_count_kv") || model.heads;
  return heads * (number("key_length") || model.width / model.heads);
}
