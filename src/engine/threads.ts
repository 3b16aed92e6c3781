/**
 * How many threads. ggml's threads wait for each other by spinning: on cores that something else uses too, two can be
 * ten times slower than one. So it is measured at opening, not assumed.
 */
import { availableParallelism } from "node:os";
import { createContext } from "./context.js";
import type { NativeModel } from "./native-model.js";

/** Below this many parameters one thread is fastest: the work of a node is smaller than waking another thread. */
const ONE_THREAD_PARAMETERS = 20e6;

export function probeThreads(model: NativeModel, limit: number = availableParallelism()): number {
  if (model.parameters < ONE_THREAD_PARAMETERS || limit === 1) return 1;
  const candidates = [...new Set([1, Math.ceil(limit / 2), limit])];
  let best = { threads: 1, ms: Number.POSITIVE_INFINITY };
  for (const threads of candidates) {
    const context = createContext(model, {
      cells: 256,
      batch: 16,
      outputs: 1,
      threads,
      flashAttention: false,
      kvType: "f32",
      opOffload: false,
    });
    try {
      let ms = Number.POSITIVE_INFINITY;
      // The first decode allocates; of the other two the faster one is less disturbed.
      for (let round = 0; round < 3; round++) {
        context.clear();
        context.begin();
        for (let i = 0; i < 4; i++) context.add(Math.max(0, model.bos), i, 0, 1, [], i === 3);
        const started = performance.now();
        context.decode();
        if (round > 0) ms = Math.min(ms, performance.now() - started);
        if (ms > 2 * best.ms) break;
      }
      if (ms < 0.9 * best.ms) best = { threads, ms };
    } finally {
      context.close();
    }
  }
  return best.threads;
}
