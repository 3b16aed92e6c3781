/**
 * What can be asked of a model: plain data that goes through the one door, `evaluate(requests)`.
 *
 * A request is a token sequence, the positions whose logits are wanted, the hook points to capture at which
 * positions, and the edits to make. Positions count tokens from 0; negative ones count from the end (-1 is the last).
 */
import type { HookPoint } from "./hooks.js";

/** Positions in the request's tokens (negative: from the end), or all of them. */
export type Positions = readonly number[] | "all";

/** One token sequence and what is wanted of it: logits at positions, captures, edits. */
export interface Request {
  /** Token ids, BOS included where the model wants one. At least one. */
  readonly tokens: Int32Array | readonly number[];
  /** Which next-token distributions to read, and what of them. Without it no logits are computed. */
  readonly logits?: LogitsWanted;
  /** Activations to read. */
  readonly captures?: readonly Capture[];
  /** Activations to change. Applied in the given order; tokens from the first edited position on are not shared. */
  readonly edits?: readonly Edit[];
}

/** Which next-token distributions to read, and how much of each. */
export interface LogitsWanted {
  readonly positions: Positions;
  /** How many of the largest logits to keep at each position. Default 2 (enough for the argmax and its margin). */
  readonly top?: number;
  /** Token ids whose logits are wanted at each position, whatever their rank. Either one list for all positions
   * or one list a position (same order as `positions`). */
  readonly tokens?: readonly number[] | readonly (readonly number[])[];
  /** Also compute log(sum(exp(logits))), so that logits can be turned into log-probabilities. Default false. */
  readonly logSumExp?: boolean;
  /** Also return every logit, `[position, vocabulary]`: 4 bytes x vocabulary x positions. Default false. */
  readonly full?: boolean;
}

/** A hook point to read at positions; all layers of a prompt are one capture a layer. */
export interface Capture {
  readonly hook: HookPoint;
  readonly positions: Positions;
}

/**
 * An edit of the rows at `positions` of one hook point. Rows are `[position, width]`; a vector of length `width`
 * is used for every position.
 */
export interface Edit {
  readonly hook: HookPoint;
  readonly positions: Positions;
  readonly op: EditOp;
  /** While generating: also apply the edit to every token that is generated (vectors only, not one row a position).
   * Default false: only the prompt's positions are touched, and what is generated sees them through the KV cache. */
  readonly generated?: boolean;
}

/**
 * What an edit does to its rows: plain data, so that it can cross to the engine's process, but for `custom`.
 */
export type EditOp =
  /** Put these rows in place of what is there. */
  | { readonly type: "replace"; readonly rows: Float32Array }
  /** Add these rows (or one vector to each). */
  | { readonly type: "add"; readonly rows: Float32Array }
  /** Multiply by a number. 0 is ablation. */
  | { readonly type: "scale"; readonly factor: number }
  /** Remove the component along `direction` (of any length but zero), measured from `center` (default the origin). */
  | { readonly type: "projectOut"; readonly direction: Float32Array; readonly center?: Float32Array }
  /** Move along `direction` until the projection (row - center) . direction/|direction| is `value`; the orthogonal part
   * stays as it is. One value, or one a position. */
  | {
      readonly type: "moveTo";
      readonly direction: Float32Array;
      readonly value: number | Float32Array;
      readonly center?: Float32Array;
    }
  /** Only at `attnPattern`: the positions of the edit no longer attend to the positions `keys`. The weights that are left
   * are scaled so that they sum to 1 again, unless `renormalize` is false. `heads`: only these (default all). */
  | {
      readonly type: "knockout";
      readonly keys: readonly number[];
      readonly heads?: readonly number[];
      readonly renormalize?: boolean;
    }
  /** Any function of the rows, changed in place. In the isolated engine each call is a round trip to this process
   * (about 0.2 ms and a copy of the rows). `positions` are those of the rows given. */
  | {
      readonly type: "custom";
      /** Changes `rows`, `[position, width]`, in place. */
      readonly apply: (rows: Float32Array, positions: Int32Array) => void;
    };

/** What came of one request. */
export interface Result {
  /** Present when logits were asked for. */
  readonly logits?: LogitsRead;
  /** One per requested capture, in the same order. */
  readonly captures: readonly Activation[];
}

/** Logits as flat arrays over the positions asked for. */
export interface LogitsRead {
  /** Positions, all non-negative, in the order asked. */
  readonly positions: Int32Array;
  /** `[position, k]` token ids by falling logit; ties go to the smaller id. */
  readonly topIds: Int32Array;
  /** `[position, k]` */
  readonly topLogits: Float32Array;
  readonly k: number;
  /** `[position, token]` logits of the tokens asked for. */
  readonly tokenLogits?: Float32Array;
  /** `[position]` */
  readonly logSumExp?: Float32Array;
  /** `[position, vocabulary]` */
  readonly full?: Float32Array;
}

/** A captured tensor: `data` is `[position, width]`, row-major. */
export interface Activation {
  readonly hook: HookPoint;
  readonly positions: Int32Array;
  readonly width: number;
  readonly data: Float32Array;
}

/** What it cost. */
export interface EvaluationStats {
  readonly requests: number;
  /** Sum of the requests' lengths: what evaluating each alone would have evaluated. */
  readonly tokensAsked: number;
  /** Tokens that went through the model. */
  readonly tokensEvaluated: number;
  readonly decodes: number;
  readonly ms: number;
  /** Why nothing was shared, where the model cannot branch. */
  readonly unshared?: string;
}

/** Answers to a list of requests, and what they cost. */
export interface Evaluation {
  /** In the order of the requests. */
  readonly results: readonly Result[];
  readonly stats: EvaluationStats;
}

/** How far a long call has come. */
export interface Progress {
  /** What is being done, in a few words. */
  readonly what: string;
  readonly done: number;
  readonly total: number;
  readonly unit: string;
}

/**
 * How requests are brought to the model. Logits agree up to rounding; on quantised weights that rounding is
 * measurable (`noiseFloor`).
 *
 * - `forest` (default): shared prefixes are evaluated once.
 * - `batch`: in the same batches, but nothing is shared.
 * - `alone`: each request by itself, from an empty cache: the canonical evaluation.
 */
export type Mode = "forest" | "batch" | "alone";

/** Options of every call that goes to the engine. */
export interface RunOptions {
  readonly mode?: Mode;
  /** Ends the run with an error. Default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
  /** Called now and then. Default: a line of progress after two seconds. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Options of an evaluation. */
export interface EvaluateOptions extends RunOptions {
  /** Most bytes of activations held in memory. */
  readonly captureLimit?: number;
  /** Where the large arrays of the answer come from, as zeros. Default: new ones. An `Arena`'s are overwritten after its reset. */
  readonly allocate?: (length: number) => Float32Array;
}

/** A prompt to be continued, with the edits under which it is read. */
export interface GenerationRequest {
  readonly tokens: Int32Array | readonly number[];
  readonly edits?: readonly Edit[];
}

/** How answers are decoded: greedily unless a temperature is given. */
export interface GenerateOptions extends RunOptions {
  /** Most tokens generated for each request. Default 256. */
  readonly maxTokens?: number;
  /** 0 is greedy (default). */
  readonly temperature?: number;
  /** Keep the k most probable tokens. Default 0: all. */
  readonly topK?: number;
  /** Keep the smallest set of tokens whose probability reaches this. Default 1: all. */
  readonly topP?: number;
  /** Seed of the draws; request i draws from its own stream. Default 0. */
  readonly seed?: number;
  /** Token ids that end an answer, besides the model's own end-of-generation tokens. */
  readonly stopTokens?: readonly number[];
  /** Strings that end an answer; the answer's text is cut before them. */
  readonly stopStrings?: readonly string[];
}

/**
 * Why an answer ended: `end` the model's own end, `stopToken` and `stopString` as asked, `length` the limit of
 * tokens, `context` no room.
 */
export type StopReason = "end" | "stopToken" | "stopString" | "length" | "context";

/** One answer, with the margin of each of its tokens. */
export interface Generation {
  /** Generated token ids, without the token that ended the answer. */
  readonly tokens: Int32Array;
  readonly text: string;
  readonly stop: StopReason;
  /** The token that ended it, where one did. */
  readonly endToken?: number;
  /** Logit of each chosen token less the largest other logit (the end token last, where there is one): negative only when sampling. */
  readonly margins: Float32Array;
}

/** Answers in the order of the requests, and what they cost. */
export interface GenerationBatch {
  readonly generations: readonly Generation[];
  readonly stats: EvaluationStats;
}
