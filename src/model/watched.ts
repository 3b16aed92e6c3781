/**
 * What every long call of a model gets without being asked: progress with a time left after two seconds (quiet in CI and in
 * log files but for a line every half minute), and the signal of the cell that runs it.
 */
import type { RunOptions } from "../engine/request.js";
import { progress } from "../figures/progress.js";
import { signalFor } from "./interrupt.js";

/** Runs `work` with the caller's `onProgress`, or a reporter of our own where there is none. */
export async function watched<O extends RunOptions, T>(
  what: string,
  options: O | undefined,
  work: (options: O) => Promise<T>,
): Promise<T> {
  const withSignal = { ...options, signal: signalFor(options?.signal) } as O;
  if (options?.onProgress !== undefined) return work(withSignal);
  const reporter = progress(what);
  try {
    return await work({ ...withSignal, onProgress: reporter.onProgress });
  } finally {
    reporter.end();
  }
}
