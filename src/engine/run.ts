/** One run through the model: its progress, its cancelling, and room for the event loop. */
import { aborted } from "./core.js";
import type { RunOptions } from "./request.js";

export interface Run {
  /** Tokens evaluated so far. */
  readonly done: number;
  readonly decodes: number;
  /** To be awaited after each decode. Throws when the run has been cancelled. */
  step(tokens: number): Promise<void>;
}

/** @param total tokens to evaluate, as far as known: what progress is counted in */
export function createRun(options: RunOptions, total: number, what = "evaluating"): Run {
  const { signal, onProgress } = options;
  let done = 0;
  let decodes = 0;
  let lastYield = performance.now();
  const check = () => {
    if (signal?.aborted === true) throw aborted(signal);
  };
  check();
  return {
    get done() {
      return done;
    },
    get decodes() {
      return decodes;
    },
    async step(tokens) {
      done += tokens;
      decodes++;
      // A macrotask, because only that lets interrupts and messages in; not after every decode, since a tiny model's
      // takes a millisecond.
      if (performance.now() - lastYield > 10) {
        onProgress?.({ what, done, total: Math.max(total, done), unit: "tokens" });
        await new Promise((resolve) => setImmediate(resolve));
        lastYield = performance.now();
      }
      check();
    },
  };
}
