/**
 * Runs cells of TypeScript one after another in this process: compiled by tslab's converter, run with the
 * bookkeeping that tslab's own executor lacks (lines of errors, full display bundles, interrupts that reach what a
 * cell started). The Jupyter kernel and the notebook runner both stand on it.
 */
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { inspect } from "node:util";
import { Script } from "node:vm";
import { richBundle } from "../src/figures/rich-display.js";
import { type CompiledCell, describeDiagnostics, describeError, scriptName } from "./cell-error.js";
import {
  abandonScope,
  abortScopes,
  type CellScope,
  cellTimerModules,
  cellTimers,
  Interrupted,
  installInterruptOwner,
  isAbort,
  openScope,
  outputSink,
  runInScope,
} from "./cell-scope.js";
import { hasForAwait } from "./for-await.js";
import type { CellError, Sink } from "./outputs.js";
import { expandShorthand } from "./shorthand.js";
import { type Converted, createConverter, setDisplay, takeMaps } from "./tslab.js";

export interface Session {
  /** Runs a cell to its end. Cells run one at a time: a second call before the first has ended is refused. */
  execute(source: string, sink: Sink): Promise<CellError | undefined>;
  /** Number of the latest execution. */
  readonly executions: number;
  /** Ends the running cell, and whatever earlier cells have left running. */
  interrupt(): void;
  /** Forgets every variable and type, as a restart would, and much faster. What cells left running goes on. */
  reset(): void;
  inspect(source: string, position: number): unknown;
  complete(source: string, position: number): { start: number; end: number; candidates: string[] };
  close(): void;
}

export interface SessionOptions {
  /** The folder from which cells import; the process moves there. */
  readonly root: string;
  /** A SIGINT stops a cell's synchronous loops. For a kernel; in a terminal SIGINT ends the process. Default false. */
  readonly stopLoopsOnSigint?: boolean;
}

/** How long an interrupted cell has to end by itself (its `finally` blocks, the engine's answer to the abort). */
const graceMs = 500;
/** Executions whose lines can still be found in stack traces. */
const keptCells = 1000;
const runtimeKey = Symbol.for("countlens.cell");

export function createSession(options: SessionOptions): Session {
  process.chdir(options.root);
  installInterruptOwner();
  const converter = createConverter();
  const variables: Record<string, unknown> = {};
  const runtime = {
    exports: rewritableExports(variables),
    require: cellRequire(options.root),
    timers: cellTimers,
  };
  Object.defineProperty(globalThis, runtimeKey, { value: runtime, configurable: true });
  const terminal = terminalSink();
  const restoreOutput = redirectOutput(terminal);
  const cells = new Map<number, CompiledCell>();
  let declarations = "";
  let executions = 0;
  let running: { readonly scope: CellScope; fail(error: unknown): void } | undefined;

  const onStray = (reason: unknown): void => {
    // What was stopped on purpose says so once, in the cell that was stopped.
    if (isAbort(reason)) return;
    if (running) running.fail(reason);
    else outputSink(terminal)?.stream("stderr", `Outside a running cell: ${inspect(reason)}\n`);
  };
  process.on("unhandledRejection", onStray);
  process.on("uncaughtException", onStray);

  async function execute(source: string, sink: Sink): Promise<CellError | undefined> {
    if (running) throw new Error("execute: another cell is running; wait for it to end");
    const execution = ++executions;
    const scope = openScope(execution, sink);
    let fail: (error: unknown) => void = () => undefined;
    const failure = new Promise<never>((_, reject) => {
      fail = reject;
    });
    failure.catch(() => undefined);
    running = { scope, fail };
    try {
      const expanded = expandShorthand(source);
      const converted = converter.convert(declarations, expanded.source);
      if (converted.diagnostics.length > 0) {
        abandonScope(scope, new Interrupted());
        return describeDiagnostics(converted.diagnostics, execution, { ...expanded, source });
      }
      const output = converted.output ?? "";
      const scriptLines = output.split("\n").length;
      cells.set(execution, { ...expanded, source, maps: takeMaps(output), scriptLines });
      cells.delete(execution - keptCells);
      const waits = (converted.hasToplevelAwait ?? false) || hasForAwait(expanded.source);
      await runCell({ ...converted, hasToplevelAwait: waits }, scope, failure);
      // A rejection that nobody handles is reported after the promises have had their turn.
      await Promise.race([new Promise(setImmediate), failure]);
      declarations = converted.declOutput ?? "";
      await Promise.race([showLast(converted, variables, sink), failure]);
      scope.state = "ended";
      return undefined;
    } catch (thrown) {
      abandonScope(scope, new Interrupted());
      return describeError(thrown, execution, cells);
    } finally {
      running = undefined;
    }
  }

  async function runCell(converted: Converted, scope: CellScope, failure: Promise<never>): Promise<void> {
    if (!converted.output) return;
    runtime.require.update(converted.sideOutputs ?? []);
    const [before, after] = wrapping(converted.hasToplevelAwait ?? false);
    const script = new Script(`${before}${converted.output}${after}`, {
      filename: scriptName(scope.generation),
      columnOffset: -before.length,
    });
    const work = runInScope(scope, () =>
      script.runInThisContext({ breakOnSigint: options.stopLoopsOnSigint ?? false }),
    );
    if (converted.hasToplevelAwait) await settleOrStop(work as Promise<unknown>, failure, scope);
  }

  return {
    execute,
    get executions() {
      return executions;
    },
    interrupt() {
      const stopped = running;
      abortScopes(new Interrupted());
      stopped?.fail(new Interrupted());
    },
    reset() {
      if (running) throw new Error("reset: a cell is running; wait for it to end");
      declarations = "";
      for (const name of Object.keys(variables)) delete variables[name];
    },
    inspect: (source, position) => converter.inspect(declarations, source, position),
    complete: (source, position) => converter.complete(declarations, source, position),
    close() {
      process.off("unhandledRejection", onStray);
      process.off("uncaughtException", onStray);
      restoreOutput();
      converter.close();
    },
  };
}

/** Waits for the cell, or for its failure; a failed cell gets a little time to put things in order. */
async function settleOrStop(
  work: Promise<unknown>,
  failure: Promise<never>,
  scope: CellScope,
): Promise<void> {
  try {
    await Promise.race([work, failure]);
  } catch (error) {
    scope.controller.abort(new Interrupted());
    await Promise.race([work.catch(() => undefined), new Promise((done) => setTimeout(done, graceMs))]);
    throw error;
  }
}

/** The code around a cell: its variables, its `require`, and timers that die with it. All on the cell's first line. */
function wrapping(isAsync: boolean): [before: string, after: string] {
  const names = "exports, require, setTimeout, setInterval, setImmediate";
  const runtime = `globalThis[Symbol.for("countlens.cell")]`;
  const timers = `...["setTimeout", "setInterval", "setImmediate"].map((n) => ${runtime}.timers[n])`;
  return [
    `(function(${names}) { return (${isAsync ? "async " : ""}function() { `,
    `\n})(); })(${runtime}.exports, ${runtime}.require.call, ${timers})`,
  ];
}

/** The last expression's value as the cell's result. */
async function showLast(converted: Converted, variables: Record<string, unknown>, sink: Sink): Promise<void> {
  const name = converted.lastExpressionVar;
  if (name === undefined) return;
  const value = variables[name];
  delete variables[name];
  if (value === undefined || value === null) return;
  const bundle = await richBundle(value);
  if (bundle !== undefined) {
    sink.result(bundle);
    return;
  }
  // An object that shows itself while it is inspected leaves no text.
  const text = typeof value === "string" ? value : inspect(value);
  if (text !== "") sink.result({ "text/plain": text });
}

/** Compiled modules define their names as getters; here they become plain values, so that a rerun may change them. */
function rewritableExports(variables: Record<string, unknown>): object {
  return new Proxy(variables, {
    defineProperty(target, name, descriptor) {
      if (name !== "__esModule")
        target[name as string] = descriptor.get ? descriptor.get() : descriptor.value;
      return true;
    },
  });
}

interface CellRequire {
  call(id: string): unknown;
  update(files: NonNullable<Converted["sideOutputs"]>): void;
}

/** `require` of cells: source files of the project come compiled from the converter, the rest as ever. */
function cellRequire(root: string): CellRequire {
  const sources = new Map<string, string>();
  const loaded = new Map<string, { exports: object }>();
  const requireFrom = (folder: string) => {
    const native = createRequire(join(folder, "cell.cjs"));
    return (id: string): unknown => {
      const timers = cellTimerModules[id.replace(/^node:/, "")];
      if (timers) return timers;
      const path = join(folder, extname(id) === "" ? `${id}.js` : id);
      return id.startsWith(".") && sources.has(path) ? load(path) : native(id);
    };
  };
  const load = (path: string): object => {
    const known = loaded.get(path);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(path, module);
    const code = `(function(exports, require, module) { ${sources.get(path)}\n})`;
    const run = new Script(code, { filename: path }).runInThisContext() as (...parameters: unknown[]) => void;
    run(module.exports, requireFrom(dirname(path)), module);
    return module.exports;
  };
  return {
    call: requireFrom(root),
    update(files) {
      for (const file of files) {
        sources.set(file.path, file.data);
        loaded.delete(file.path);
      }
    },
  };
}

/** The process's own streams, for what is said before any cell. */
function terminalSink(): Sink {
  const write = {
    stdout: process.stdout.write.bind(process.stdout),
    stderr: process.stderr.write.bind(process.stderr),
  };
  return {
    stream: (name, text) => void write[name](text),
    display: (data) => void write.stdout(`${String(data.data["text/plain"] ?? "")}\n`),
    result: (data) => void write.stdout(`${String(data["text/plain"] ?? "")}\n`),
  };
}

/** Sends what the process prints, and what tslab's display shows, to the cell that it comes from. */
function redirectOutput(terminal: Sink): () => void {
  const original = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ["stdout", "stderr"] as const) {
    const decoder = new TextDecoder();
    process[name].write = ((data: string | Uint8Array, ...rest: unknown[]): boolean => {
      const text = typeof data === "string" ? data : decoder.decode(data, { stream: true });
      outputSink(terminal)?.stream(name, text);
      const done = rest.at(-1);
      if (typeof done === "function") process.nextTick(done);
      return true;
    }) as typeof process.stdout.write;
  }
  setDisplay((data, update) => outputSink(terminal)?.display(data, update ?? false));
  return () => {
    process.stdout.write = original.stdout;
    process.stderr.write = original.stderr;
  };
}
