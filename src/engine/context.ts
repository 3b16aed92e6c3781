/**
 * One llama.cpp context: a KV cache, and a batch to fill and decode.
 *
 * The batch lives in one arena of native memory whose addresses are taken once; a view is filled for every decode. All
 * of a batch is decoded at once (n_ubatch = n_batch), so that rows of a tensor come in the order of the batch.
 */
import koffi from "koffi";
import { GGML_TYPE_F16 } from "./layouts.js";
import type { Pointer } from "./library.js";
import type { NativeModel } from "./native-model.js";
import { MAX_SEQUENCES } from "./schedule.js";

export interface ContextOptions {
  /** KV cells. */
  readonly cells: number;
  /** Most tokens in a batch. */
  readonly batch: number;
  /** Most tokens with an output in a batch. */
  readonly outputs: number;
  readonly threads: number;
  readonly flashAttention: boolean;
  readonly kvType: "f32" | "f16";
  readonly opOffload: boolean;
  /** Native evaluation callback. */
  readonly onNode?: Pointer;
  /** Native abort callback: asked between the steps of a decode on CPU. */
  readonly onAbort?: Pointer;
}

export interface Context {
  readonly pointer: Pointer;
  readonly options: ContextOptions;
  /** How many sequence ids may be used. */
  readonly sequences: number;
  /** Empties the batch. */
  begin(): void;
  /** Adds a token that belongs to `count` sequence ids from `first` on, and to `extra` ids as well. Returns its index in the batch. */
  add(
    token: number,
    position: number,
    first: number,
    count: number,
    extra: readonly number[],
    output: boolean,
  ): number;
  /** `[index in the batch]` row of its output, -1 without one. */
  readonly outputRow: Int32Array;
  readonly size: number;
  readonly outputs: number;
  /** Evaluates the batch. False when it was aborted. */
  decode(): boolean;
  /** `[output, vocabulary]` logits of the last decode. Valid until the next. */
  logits(): Float32Array;
  clear(): void;
  copySequence(from: number, to: number, end: number): void;
  /** Drops positions [start, end of sequence) of a sequence; all of it from 0. */
  dropSequence(id: number, start: number): void;
  close(): void;
}

export function createContext(model: NativeModel, options: ContextOptions): Context {
  const { llama } = model.library;
  const sequences = model.branches ? MAX_SEQUENCES : 1;
  const { batch } = options;
  const parameters = llama.llama_context_default_params();
  Object.assign(parameters, {
    n_ctx: options.cells,
    n_batch: batch,
    n_ubatch: batch,
    // With a unified cache every id up to 255 is allowed whatever this says; what it would cost is an output buffer of at
    // least that many rows of logits, and an abort when it is larger than the batch.
    n_seq_max: 1,
    n_outputs_max: options.outputs,
    n_outputs_max_per_seq: 0,
    n_threads: options.threads,
    n_threads_batch: options.threads,
    flash_attn_type: options.flashAttention ? 1 : 0,
    cb_eval: options.onNode ?? null,
    abort_callback: options.onAbort ?? null,
    op_offload: options.opOffload,
    swa_full: true,
    kv_unified: true,
    no_perf: true,
  });
  const type = options.kvType === "f32" ? 0 : GGML_TYPE_F16;
  parameters.type_k = type;
  parameters.type_v = type;
  const pointer: Pointer | null = llama.llama_init_from_model(model.pointer, parameters);
  if (pointer === null) {
    throw new Error(
      `engine: llama.cpp could not make a context of ${options.cells} cells; ` +
        'there may be too little memory: use a shorter context or kvType: "f16"',
    );
  }
  const memory: Pointer = llama.llama_get_memory(pointer);
  const arena = allocate(batch);
  const outputRow = new Int32Array(batch);
  let size = 0;
  let outputs = 0;
  let idsUsed = 0;
  let logitsView: { address: Pointer; view: Float32Array } | undefined;

  return {
    pointer,
    options,
    sequences,
    outputRow,
    get size() {
      return size;
    },
    get outputs() {
      return outputs;
    },
    begin() {
      size = 0;
      outputs = 0;
      idsUsed = 0;
    },
    add(token, position, first, count, extra, output) {
      const i = size++;
      arena.token[i] = token;
      arena.position[i] = position;
      arena.idCount[i] = count + extra.length;
      arena.idAddress[i] = arena.idBase + BigInt(idsUsed * 4);
      for (let k = 0; k < count; k++) arena.ids[idsUsed++] = first + k;
      for (const id of extra) arena.ids[idsUsed++] = id;
      arena.output[i] = output ? 1 : 0;
      outputRow[i] = output ? outputs++ : -1;
      return i;
    },
    decode() {
      const code: number = llama.llama_decode(pointer, { ...arena.batch, n_tokens: size });
      if (code === 2) return false;
      if (code === 1) {
        throw new Error(
          `engine: no room for ${size} tokens in a KV cache of ${options.cells} cells; this is a bug, please report it`,
        );
      }
      if (code !== 0) throw new Error(`engine: llama.cpp could not evaluate ${size} tokens (code ${code})`);
      llama.llama_synchronize(pointer);
      return true;
    },
    logits() {
      const address: Pointer = llama.llama_get_logits(pointer);
      const length = outputs * model.vocabulary;
      // A view costs 0.1 ms, so it is kept while the buffer stays where it is.
      if (logitsView === undefined || logitsView.address !== address || logitsView.view.length < length) {
        logitsView = { address, view: new Float32Array(koffi.view(address, length * 4)) };
      }
      return logitsView.view.subarray(0, length);
    },
    clear() {
      llama.llama_memory_clear(memory, false);
    },
    copySequence(from, to, end) {
      llama.llama_memory_seq_cp(memory, from, to, 0, end);
    },
    dropSequence(id, start) {
      llama.llama_memory_seq_rm(memory, id, start, -1);
    },
    close() {
      llama.llama_free(pointer);
      arena.free();
    },
  };
}

/** Native memory for a batch of `count` tokens, each of which may belong to every sequence. */
function allocate(count: number) {
  const blocks: Pointer[] = [];
  const block = (bytes: number): { address: Pointer; buffer: ArrayBuffer } => {
    const address: Pointer = koffi.address(koffi.alloc("uint8_t", bytes));
    blocks.push(address);
    return { address, buffer: koffi.view(address, bytes) };
  };
  const token = block(count * 4);
  const position = block(count * 4);
  const idCount = block(count * 4);
  const idAddress = block(count * 8);
  const ids = block(count * (MAX_SEQUENCES + 2) * 4);
  const output = block(count);
  return {
    token: new Int32Array(token.buffer),
    position: new Int32Array(position.buffer),
    idCount: new Int32Array(idCount.buffer),
    idAddress: new BigUint64Array(idAddress.buffer),
    ids: new Int32Array(ids.buffer),
    output: new Int8Array(output.buffer),
    idBase: ids.address,
    batch: {
      n_tokens: 0,
      token: token.address,
      embd: null,
      pos: position.address,
      n_seq_id: idCount.address,
      seq_id: idAddress.address,
      logits: output.address,
    },
    free(): void {
      for (const address of blocks) koffi.free(address);
    },
  };
}
