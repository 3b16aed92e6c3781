/**
 * Runs a notebook without Jupyter and without Python. The cells run in a process of their own, which gives back its
 * memory, may crash alone, and can be ended when a cell takes too long.
 */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "../src/store/project-root.js";
import {
  type CodeCell,
  injectParameters,
  type Notebook,
  type Parameters,
  readNotebook,
} from "./notebook-file.js";
import {
  type CellError,
  type Collector,
  collector,
  type DisplayData,
  type MimeBundle,
  type Output,
} from "./outputs.js";

export interface RunNotebookOptions {
  /** Values for the cell tagged `parameters`. */
  readonly parameters?: Parameters;
  /** Longest time of a cell in seconds; 0 for none. Default 3600. */
  readonly cellTimeout?: number;
  /** Environment variables of the process, added to this one's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder from which cells import and in which they run. Default: the project's root. */
  readonly root?: string;
  /** Ends the run; what has run so far is in the result. */
  readonly signal?: AbortSignal;
  readonly onCell?: (progress: CellProgress) => void;
  readonly onOutput?: (output: { readonly stream: "stdout" | "stderr"; readonly text: string }) => void;
}

export interface CellProgress {
  /** Number of the code cell, from 1, and of all code cells. */
  readonly cell: number;
  readonly cells: number;
  /** Position among all cells of the notebook, text included, from 1. */
  readonly position: number;
  readonly state: "started" | "ended" | "failed";
  readonly seconds: number;
}

export interface NotebookFailure {
  readonly notebook: string;
  /** Number of the code cell, from 1. */
  readonly cell: number;
  /** Position among all cells, from 1. */
  readonly position: number;
  readonly line?: number;
  readonly error: CellError;
}

export interface NotebookRun {
  /** With outputs and execution counts as far as it ran. */
  readonly notebook: Notebook;
  readonly failure?: NotebookFailure;
  readonly seconds: number;
}

/** What the parent sends to the process that runs the cells. */
export interface RunOrder {
  readonly root: string;
  readonly sources: readonly string[];
}

/** What it hears back, in order. */
export type RunEvent =
  | { readonly type: "ready" }
  | { readonly type: "started"; readonly cell: number }
  | { readonly type: "stream"; readonly stream: "stdout" | "stderr"; readonly text: string }
  | { readonly type: "display"; readonly data: DisplayData; readonly update: boolean }
  | { readonly type: "result"; readonly data: MimeBundle }
  | { readonly type: "ended"; readonly error?: CellError }
  | { readonly type: "done" };

/**
 * Runs the code cells of a notebook in order and stops at the first that fails. Rejects only when the notebook cannot
 * be run at all (malformed, unknown parameter, project not built).
 */
export async function runNotebook(path: string, options: RunNotebookOptions = {}): Promise<NotebookRun> {
  const name = basename(path, ".ipynb");
  const notebook = injectParameters(readNotebook(path), options.parameters ?? {}, basename(path));
  const began = performance.now();
  const code = notebook.cells.filter((cell): cell is CodeCell => cell.cell_type === "code");
  const positions = notebook.cells.flatMap((cell, index) => (cell.cell_type === "code" ? [index + 1] : []));
  const collected: Collector[] = [];
  const failure = await runCells(name, code, positions, options, collected);
  let next = 0;
  const cells = notebook.cells.map((cell) => {
    if (cell.cell_type !== "code") return cell;
    const outputs = collected[next++]?.outputs;
    return { ...cell, outputs: outputs ?? [], execution_count: outputs ? next : null };
  });
  const seconds = (performance.now() - began) / 1000;
  const run = { notebook: { ...notebook, cells }, seconds };
  return failure ? { ...run, failure } : run;
}

/** One line: which notebook, cell and line failed, and why. */
export function failureLine(failure: NotebookFailure): string {
  const where = `${failure.notebook}, code cell ${failure.cell} (cell ${failure.position} of the notebook)`;
  const line = failure.line === undefined ? "" : `, line ${failure.line}`;
  return `${where}${line}: ${failure.error.ename}: ${failure.error.evalue}`;
}

async function runCells(
  notebook: string,
  code: readonly CodeCell[],
  positions: readonly number[],
  options: RunNotebookOptions,
  collected: Collector[],
): Promise<NotebookFailure | undefined> {
  const child = startProcess(options);
  const shown = new Map<string, Output[]>();
  let index = -1;
  let began = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let native = "";
  const timeout = options.cellTimeout ?? 3600;
  const report = (state: CellProgress["state"]): void => {
    const seconds = (performance.now() - began) / 1000;
    options.onCell?.({
      cell: index + 1,
      cells: code.length,
      position: positions[index] ?? 0,
      state,
      seconds,
    });
  };
  const failed = (error: CellError): NotebookFailure => {
    const { ename, evalue, traceback } = error;
    collected[index]?.outputs.push({ output_type: "error", ename, evalue, traceback });
    report("failed");
    const at = Math.max(index, 0);
    const place = { notebook, cell: at + 1, position: positions[at] ?? 0, error };
    return error.line === undefined ? place : { ...place, line: error.line };
  };
  const broken = (ename: string, evalue: string): NotebookFailure =>
    failed({ ename, evalue, traceback: [`${ename}: ${evalue}`] });
  child.stderr?.on("data", (chunk: Buffer) => {
    native = (native + chunk.toString("utf8")).slice(-4000);
  });
  return new Promise((resolve) => {
    // `now`: a cell that never lets go does not hear that it should end.
    const finish = (result: NotebookFailure | undefined, now = false): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", onAbort);
      child.removeAllListeners();
      endProcess(child, now);
      resolve(result);
    };
    const onAbort = (): void => finish(broken("Interrupted", "the run was stopped"), true);
    options.signal?.addEventListener("abort", onAbort, { once: true });
    if (options.signal?.aborted) return onAbort();
    child.on("error", (error) => finish(broken("ProcessError", error.message)));
    child.on("exit", (status, signal) => {
      const last = native.trim().split("\n").slice(-3).join(" | ");
      finish(
        broken("ProcessDied", `the notebook's process ended with ${signal ?? status}${last && `: ${last}`}`),
      );
    });
    child.on("message", (event: RunEvent) => {
      if (event.type === "ready") {
        child.send({
          root: options.root ?? projectRoot(),
          sources: code.map((cell) => cell.source),
        } as RunOrder);
      } else if (event.type === "started") {
        index = event.cell;
        collected[index] = collector(index + 1, shown);
        began = performance.now();
        report("started");
        clearTimeout(timer);
        if (timeout > 0) {
          const over = (): void =>
            finish(
              broken("Timeout", `the cell ran longer than ${timeout} s; allow more with --timeout`),
              true,
            );
          timer = setTimeout(over, timeout * 1000);
        }
      } else if (event.type === "stream") {
        collected[index]?.stream(event.stream, event.text);
        options.onOutput?.(event);
      } else if (event.type === "display") {
        collected[index]?.display(event.data, event.update);
      } else if (event.type === "result") {
        collected[index]?.result(event.data);
      } else if (event.type === "ended") {
        if (event.error) finish(failed(event.error));
        else report("ended");
      } else {
        finish(undefined);
      }
    });
  });
}

function startProcess(options: RunNotebookOptions): ChildProcess {
  const script = join(projectRoot(), "dist", "kernels", "run-child.js");
  if (!existsSync(script))
    throw new Error(`notebook: ${script} is missing; build the project first: npm run build`);
  return fork(fileURLToPath(`file://${script}`), {
    env: { ...process.env, ...options.env },
    execArgv: [],
    serialization: "advanced",
    // The process's own stderr carries what native code says before it dies.
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}

/** Lets the process end in order (engines close, browsers too), and makes sure that it does. */
function endProcess(child: ChildProcess, now: boolean): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (now) {
    child.kill("SIGKILL");
    return;
  }
  if (child.connected) child.disconnect();
  const force = setTimeout(() => child.kill("SIGKILL"), 2000);
  child.once("exit", () => clearTimeout(force));
}
