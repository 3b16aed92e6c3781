/**
 * The door: all that the rest of the house knows of the engine.
 *
 * Two things stand behind it: the engine in this process (`inline`), and the same engine in a child process of its
 * own (`isolated`, the default), where an abort inside llama.cpp is an error here instead of the end of the kernel.
 */
import type { HookPoint } from "./hooks.js";
import type {
  EvaluateOptions,
  Evaluation,
  GenerateOptions,
  GenerationBatch,
  GenerationRequest,
  Request,
} from "./request.js";

/** Facts of the file, of the build that runs it, and of the hook points found in it. */
export interface EngineInfo {
  readonly path: string;
  /** As in the GGUF header, for example `llama`, `qwen2`, `gemma3`. */
  readonly architecture: string;
  readonly name: string;
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  readonly vocabulary: number;
  readonly parameters: number;
  readonly bytes: number;
  /** For example `Q4_K - Medium`, `all F32`. */
  readonly quantisation: string;
  /** Context length it was trained with, in tokens. */
  readonly trainedContext: number;
  /** Longest sequence this engine takes, in tokens. */
  readonly context: number;
  /** Sliding window in tokens, 0 where there is none. */
  readonly slidingWindow: number;
  /** Recurrent or hybrid: prefixes cannot be shared token by token. */
  readonly branches: boolean;
  readonly bos: number;
  readonly eos: number;
  readonly eot: number;
  readonly addBos: boolean;
  /** Every token that ends a generation. */
  readonly endTokens: readonly number[];
  /** Jinja source, "" where the file has none. */
  readonly chatTemplate: string;
  /** Hook points found by a dry run, with the width of a row (0 where it depends on the length). */
  readonly hookPoints: readonly { readonly hook: HookPoint; readonly width: number }[];
  /** Bytes of KV cache for one token of one sequence, about. */
  readonly kvBytesPerToken: number;
  readonly settings: EngineSettings;
  /** For example `0.4.0` and `CPU`. */
  readonly llamaVersion: string;
  readonly backend: string;
}

/** Everything that can move a logit; recorded with every result. */
export interface EngineSettings {
  readonly gpuLayers: number;
  readonly flashAttention: boolean;
  readonly kvType: "f32" | "f16";
  readonly opOffload: boolean;
  readonly threads: number;
  /** Most new tokens evaluated in one decode. */
  readonly chunkTokens: number;
}

/** The engine behind a model: tokens in, numbers out. A notebook holds a `Model` instead. */
export interface Engine {
  readonly info: EngineInfo;
  /** Logits and activations of many token sequences; what they share is computed once. */
  evaluate(requests: readonly Request[], options?: EvaluateOptions): Promise<Evaluation>;
  /** Answers to many prompts at once. */
  generate(requests: readonly GenerationRequest[], options?: GenerateOptions): Promise<GenerationBatch>;
  /** Token ids of each text. `special`: read control tokens written in the text (`<|im_start|>`) as such. No BOS is added. */
  tokenize(texts: readonly string[], special: boolean): Promise<Int32Array[]>;
  /** The text of each token on its own (bytes that are not whole characters come as U+FFFD). */
  pieces(tokens: Int32Array | readonly number[]): Promise<string[]>;
  /** Length of each token's text in bytes. */
  pieceBytes(tokens: Int32Array | readonly number[]): Promise<Int32Array>;
  /** The text of the whole sequence; control tokens are written out only when asked for. */
  detokenize(tokens: Int32Array | readonly number[], special?: boolean): Promise<string>;
  /** Ends the engine and its process. */
  close(): Promise<void>;
}
