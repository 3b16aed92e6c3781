/** What `zeroErrorHorizon` is asked: of whom, how far, and how it is verified. */
import type { Endpoint } from "../endpoints/endpoint.js";
import type { Progress } from "../engine/request.js";
import type { Model } from "../model/model.js";
import type { Shard } from "../store/shard.js";
import type { Template } from "../tasks/template.js";
import type { LogOptions } from "./answer-log.js";
import type { VerificationMode } from "./verification/modes.js";

/** What an assay asks: a model, or a server. */
export type Subject = Model | Endpoint;

/** Options of `zeroErrorHorizon`. */
export interface HorizonOptions extends LogOptions {
  /** Name of one of the task's templates, or one's own. Default: the task's first. */
  readonly template?: string | Template;
  /** Largest size to try. Default 99. */
  readonly upTo?: number;
  /** Go on past the first error, over all sizes to `upTo`. Default false. */
  readonly wholeGrid?: boolean;
  /** How a model is verified; all give the same result. Default `trie`. Servers are asked and read. */
  readonly mode?: VerificationMode;
  /** Which wrong answers are decoded in full. Default `errors` (all) over the whole grid, else `limiters`. */
  readonly texts?: "limiters" | "errors";
  /** Most tokens decoded for an answer. Default 64; of a server its own `maxTokens` counts. */
  readonly maxTokens?: number;
  /** Most instances verified: a size that would exceed it is not begun, and the result says so. Default 100,000. */
  readonly mostInstances?: number;
  /** Margins below this (logits) are settled by decoding alone. Default: measured on this model, see `marginFloor`. */
  readonly noiseFloor?: number;
  /** Times a server is asked each prompt; right only if every answer is. Default 1. */
  readonly repeats?: number;
  /**
   * One piece of the run, for several processes or machines that share nothing: every n-th block of instances. It gives no
   * horizon; what comes of it is its log. Merge the logs of all pieces, and run once more with the merged one.
   */
  readonly shard?: Shard;
  /** Ends the run. Default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
  /** Called now and then. */
  readonly onProgress?: (progress: Progress) => void;
}
