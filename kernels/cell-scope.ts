/**
 * Which cell the running code belongs to.
 *
 * Every cell runs in a scope of its own that follows its awaits. So an interrupt reaches what a cell started and
 * nothing else: an abandoned cell's evaluations get an aborted signal, its timers no longer fire (a loop that awaits
 * one is dead), and what it still prints is dropped instead of landing in a later cell.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import timersPromises from "node:timers/promises";
import { promisify } from "node:util";
import { type InterruptOwner, interruptKey } from "../src/model/interrupt.js";
import type { Sink } from "./outputs.js";

export interface CellScope {
  /** Number of the execution, from 1. */
  readonly generation: number;
  readonly controller: AbortController;
  readonly sink: Sink;
  /** `abandoned`: stopped or failed, and nothing it left behind may go on. */
  state: "running" | "ended" | "abandoned";
}

/** Why a cell was stopped: the reason of its signal. */
export class Interrupted extends Error {
  override readonly name = "AbortError";
  constructor() {
    super("interrupted");
  }
}

const storage = new AsyncLocalStorage<CellScope>();
/** The cell that runs, or ran last. */
let latest: CellScope | undefined;
/** Cells whose signal may still matter: one that ended well can have left evaluations running. */
const alive = new Set<CellScope>();

/** Makes the scope of a new cell. */
export function openScope(generation: number, sink: Sink): CellScope {
  latest = { generation, controller: new AbortController(), sink, state: "running" };
  alive.add(latest);
  return latest;
}

export function runInScope<T>(scope: CellScope, run: () => T): T {
  return storage.run(scope, run);
}

/**
 * Where output of the calling code goes; undefined where it is to be dropped. A cell that ended well gives way to the
 * latest: callbacks of what it opened (an engine, a browser) report on the cell that uses it now. Before the first cell
 * there is only `otherwise`.
 */
export function outputSink(otherwise: Sink): Sink | undefined {
  const own = storage.getStore();
  if (own?.state === "abandoned") return undefined;
  return (own?.state === "running" ? own : latest)?.sink ?? otherwise;
}

/** Aborts what every cell so far has started. */
export function abortScopes(reason: Error): void {
  for (const scope of alive) scope.controller.abort(reason);
  for (const scope of alive) if (scope.state !== "running") alive.delete(scope);
}

/** Ends what a cell left behind. */
export function abandonScope(scope: CellScope, reason: Error): void {
  scope.state = "abandoned";
  alive.delete(scope);
  scope.controller.abort(reason);
}

/** True for the error of work that was stopped on purpose. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Makes this process answer `defaultSignal()` with the signal of the cell that asks. */
export function installInterruptOwner(): void {
  const none = new AbortController().signal;
  const owner: InterruptOwner = {
    get signal() {
      return (storage.getStore() ?? latest)?.controller.signal ?? none;
    },
    get generation() {
      return (storage.getStore() ?? latest)?.generation ?? 0;
    },
  };
  Object.defineProperty(globalThis, interruptKey, { value: owner, configurable: true });
}

type AnyFunction = (...parameters: unknown[]) => unknown;

/**
 * The timers that cells see in place of the global ones. Only cells: libraries keep the real ones, since what a cell
 * opened (a browser, an engine) may serve later cells even where that one was interrupted.
 */
export const cellTimers = {
  setTimeout: guardTimer(setTimeout as never, timersPromises.setTimeout as never),
  setInterval: guardTimer(setInterval as never),
  setImmediate: guardTimer(setImmediate as never, timersPromises.setImmediate as never),
};

/** `node:timers/promises` and `node:timers` as cells see them. */
export const cellTimerModules: Readonly<Record<string, object>> = {
  timers: { ...cellTimers, clearTimeout, clearInterval, clearImmediate, promises: timersPromises },
  "timers/promises": {
    ...timersPromises,
    setTimeout: guardPromise(timersPromises.setTimeout as never),
    setImmediate: guardPromise(timersPromises.setImmediate as never),
  },
};

function guardTimer(original: AnyFunction, promised?: AnyFunction): AnyFunction {
  const guarded = (callback: unknown, ...rest: unknown[]): unknown => {
    const scope = storage.getStore();
    if (!scope || typeof callback !== "function") return original(callback, ...rest);
    const run = callback as AnyFunction;
    return original(
      (...values: unknown[]) => {
        if (scope.state !== "abandoned") run(...values);
      },
      ...rest,
    );
  };
  return promised ? Object.assign(guarded, { [promisify.custom]: guardPromise(promised) }) : guarded;
}

function guardPromise(original: AnyFunction): AnyFunction {
  return async (...parameters) => {
    const scope = storage.getStore();
    const value = await original(...parameters);
    // Never settles: whoever awaits it in an abandoned cell is forgotten with it.
    if (scope?.state === "abandoned") await new Promise(() => undefined);
    return value;
  };
}
