/** What the evaluation and the generation work with: a loaded model, its tap, and one context that grows as needed. */
import { type Context, createContext } from "./context.js";
import type { EngineInfo } from "./engine.js";
import type { Pointer } from "./library.js";
import type { NativeModel } from "./native-model.js";
import type { Tap, Watch } from "./tap.js";

export interface Core {
  readonly model: NativeModel;
  readonly info: EngineInfo;
  readonly tap: Tap;
  /** Most outputs in one decode. */
  readonly maxOutputs: number;
  /**
   * An empty context of at least that many KV cells, and of outputs in one decode (default: the most). Cells cost time, not only memory,
   * so there are no more than needed; an output takes a row of logits.
   */
  context(cells: number, outputs?: number): Context;
  close(): void;
}

/** Room for the dry run, whatever the chunks. */
const LEAST_BATCH = 16;
/** Logits of one decode are kept below this many bytes. */
const LOGITS_BYTES = 64e6;

export function maxOutputsFor(vocabulary: number, chunkTokens: number): number {
  return Math.max(LEAST_BATCH, Math.min(chunkTokens, Math.floor(LOGITS_BYTES / (4 * vocabulary))));
}

export function createCore(model: NativeModel, info: EngineInfo, tap: Tap, onAbort?: Pointer): Core {
  let context: Context | undefined;
  const maxOutputs = maxOutputsFor(model.vocabulary, info.settings.chunkTokens);
  return {
    model,
    info,
    tap,
    maxOutputs,
    context(cells, outputs = maxOutputs) {
      const had = context?.options ?? { cells: 0, outputs: 0 };
      if (context === undefined || had.cells < cells || had.cells > 16 * cells || had.outputs < outputs) {
        context?.close();
        context = undefined;
        context = createContext(model, {
          // llama.cpp rounds up to 256 anyway; doubling keeps the number of new contexts small.
          cells: doubled(256, cells),
          batch: Math.max(info.settings.chunkTokens, LEAST_BATCH),
          outputs: Math.min(maxOutputs, doubled(LEAST_BATCH, Math.max(outputs, had.outputs))),
          threads: info.settings.threads,
          flashAttention: info.settings.flashAttention,
          kvType: info.settings.kvType,
          opOffload: info.settings.opOffload,
          onNode: tap.callback,
          ...(onAbort === undefined ? {} : { onAbort }),
        });
      } else {
        context.clear();
      }
      return context;
    },
    close() {
      context?.close();
      context = undefined;
      model.close();
      tap.close();
    },
  };
}

/** The smallest of `least`, twice that, and so on that is enough. */
function doubled(least: number, enough: number): number {
  return least * 2 ** Math.max(0, Math.ceil(Math.log2(enough / least)));
}

/** Decodes the filled batch under the given watches. */
export function decode(core: Core, context: Context, watches: readonly Watch[]): void {
  core.tap.watch(watches);
  const finished = context.decode();
  core.tap.check();
  if (!finished) throw aborted();
}

export function aborted(signal?: AbortSignal): Error {
  if (signal?.reason instanceof Error) return signal.reason;
  return new DOMException("interrupted", "AbortError");
}
