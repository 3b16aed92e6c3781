/**
 * The signal that an interrupted cell aborts.
 *
 * The project's kernel puts an owner under `Symbol.for("countlens.interrupt")`. It makes one signal for every cell
 * and knows which cell the asking code belongs to, so that a loop of an abandoned cell keeps getting that cell's
 * aborted signal, and computes nothing more, while the next cell runs with a fresh one.
 */

/** What a kernel puts in the process for `defaultSignal` to read. Both values are those of the cell that asks. */
export interface InterruptOwner {
  readonly signal: AbortSignal;
  /** Number of the cell's execution, from 1; 0 before the first. */
  readonly generation: number;
}

/** The key in `globalThis`: registered, so that two copies of this module agree on it. */
export const interruptKey: unique symbol = Symbol.for("countlens.interrupt") as never;

const never = new AbortController().signal;

/**
 * The signal that ends what a cell started when the cell is interrupted or fails; outside the project's kernel one
 * that never aborts. Ask when an evaluation starts, never once for several cells.
 *
 * ```ts
 * const signal = options.signal ?? defaultSignal();
 * ```
 */
export function defaultSignal(): AbortSignal {
  return owner()?.signal ?? never;
}

/** Number of the cell's execution that asks: 0 outside the project's kernel. */
export function currentGeneration(): number {
  return owner()?.generation ?? 0;
}

function owner(): InterruptOwner | undefined {
  return (globalThis as { [interruptKey]?: InterruptOwner })[interruptKey];
}

/** A signal that aborts with the cell or with `signal`, whichever comes first. */
export function signalFor(signal: AbortSignal | undefined): AbortSignal {
  if (signal === undefined) return defaultSignal();
  // Node has it since 20.3; the type libraries in use do not know it yet.
  const { any } = AbortSignal as unknown as { any(signals: readonly AbortSignal[]): AbortSignal };
  return any.call(AbortSignal, [defaultSignal(), signal]);
}
