/** A GGUF loaded by llama.cpp: its weights, its numbers and its vocabulary. */
import { existsSync } from "node:fs";
import type { EngineInfo } from "./engine.js";
import { forgetMapping } from "./forget-mapping.js";
import type { GgufTensor } from "./gguf-sections.js";
import type { Library, Pointer } from "./library.js";

/** What llama.cpp itself knows of a loaded file, under the names of `EngineInfo`. */
type Facts = Pick<
  EngineInfo,
  | "layers"
  | "width"
  | "heads"
  | "vocabulary"
  | "parameters"
  | "bytes"
  | "trainedContext"
  | "slidingWindow"
  | "branches"
  | "bos"
  | "eos"
  | "eot"
  | "addBos"
  | "endTokens"
  | "chatTemplate"
  | "quantisation"
>;

export interface NativeModel extends Facts {
  readonly library: Library;
  readonly pointer: Pointer;
  /** A metadata value as text, "" where the file has none. */
  meta(key: string): string;
  tokenize(text: string, special: boolean): Int32Array;
  /** The bytes of one token, control tokens written out. */
  piece(token: number): Uint8Array;
  detokenize(tokens: Int32Array, special: boolean): string;
  close(): void;
}

export interface LoadOptions {
  /** Layers on the GPU; -1 is all of them. */
  readonly gpuLayers: number;
  /** See `hasRowsOfOneBlock`. Default false. */
  readonly rowsOfOneBlock?: boolean;
}

/**
 * Are there quantised matrices whose rows are a single block? On CPUs with AMX, llama.cpp's product of such a matrix with 32
 * tokens adds to memory that was never written: wrong numbers, sometimes NaN (release 0.4.0, `tinygemm_kernel_amx` with one
 * block). Only very narrow models have them.
 */
export function hasRowsOfOneBlock(tensors: readonly GgufTensor[]): boolean {
  return tensors.some(({ type, dims }) => /^(Q4_0|Q4_1|Q8_0)$/.test(type) && dims[0] === 32);
}

/** Loads the weights. The header must have been checked before (`checkGguf`): llama.cpp aborts on some bad files. */
export function loadModel(library: Library, path: string, options: LoadOptions): NativeModel {
  if (!existsSync(path)) throw new Error(`open: no file ${path}; was it moved since the model was opened?`);
  const { llama } = library;
  const parameters = llama.llama_model_default_params();
  parameters.n_gpu_layers = options.gpuLayers;
  if (options.rowsOfOneBlock) parameters.use_extra_bufts = false;
  const pointer: Pointer | null = llama.llama_model_load_from_file(path, parameters);
  if (pointer === null) {
    throw new Error(
      `open: llama.cpp could not load ${path}; its own message is above or in the engine's log`,
    );
  }
  forgetMapping(path);
  if (llama.llama_model_has_encoder(pointer)) {
    llama.llama_model_free(pointer);
    throw new Error(`open: ${path} is an encoder model; countlens opens decoders`);
  }
  const vocab: Pointer = llama.llama_model_get_vocab(pointer);
  const vocabulary: number = llama.llama_vocab_n_tokens(vocab);
  const endTokens: number[] = [];
  for (let id = 0; id < vocabulary; id++) if (llama.llama_vocab_is_eog(vocab, id)) endTokens.push(id);

  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let textBuffer = new Uint8Array(4096);
  let closed = false;

  return {
    library,
    pointer,
    vocabulary,
    endTokens,
    layers: llama.llama_model_n_layer(pointer),
    width: llama.llama_model_n_embd(pointer),
    heads: llama.llama_model_n_head(pointer),
    parameters: Number(llama.llama_model_n_params(pointer)),
    bytes: Number(llama.llama_model_size(pointer)),
    trainedContext: llama.llama_model_n_ctx_train(pointer),
    slidingWindow: llama.llama_model_n_swa(pointer),
    branches: !llama.llama_model_is_recurrent(pointer) && !llama.llama_model_is_hybrid(pointer),
    bos: llama.llama_vocab_bos(vocab),
    eos: llama.llama_vocab_eos(vocab),
    eot: llama.llama_vocab_eot(vocab),
    addBos: llama.llama_vocab_get_add_bos(vocab),
    chatTemplate: llama.llama_model_chat_template(pointer, null) ?? "",
    quantisation: llama.llama_ftype_name(llama.llama_model_ftype(pointer)) ?? "unknown",
    meta(key) {
      const buffer = new Uint8Array(1024);
      const length: number = llama.llama_model_meta_val_str(pointer, key, buffer, buffer.length);
      return length < 0 ? "" : decoder.decode(buffer.subarray(0, Math.min(length, buffer.length - 1)));
    },
    tokenize(text, special) {
      const bytes = encoder.encode(text);
      // No vocabulary makes more tokens than bytes, plus the space that some put in front.
      const tokens = new Int32Array(bytes.length + 2);
      const count: number = llama.llama_tokenize(
        vocab,
        bytes,
        bytes.length,
        tokens,
        tokens.length,
        false,
        special,
      );
      if (count < 0) throw new Error(`tokenize: ${-count} tokens do not fit ${tokens.length}`);
      return tokens.slice(0, count);
    },
    piece(token) {
      const buffer = new Uint8Array(256);
      let length: number = llama.llama_token_to_piece(vocab, token, buffer, buffer.length, 0, true);
      if (length >= 0) return buffer.slice(0, length);
      const larger = new Uint8Array(-length);
      length = llama.llama_token_to_piece(vocab, token, larger, larger.length, 0, true);
      return larger.slice(0, length);
    },
    detokenize(tokens, special) {
      if (tokens.length === 0) return "";
      for (;;) {
        const length: number = llama.llama_detokenize(
          vocab,
          tokens,
          tokens.length,
          textBuffer,
          textBuffer.length,
          false,
          special,
        );
        if (length >= 0) return decoder.decode(textBuffer.subarray(0, length));
        textBuffer = new Uint8Array(-length);
      }
    },
    close() {
      if (closed) return;
      closed = true;
      llama.llama_model_free(pointer);
    },
  };
}
