/** Errors of cells, with the line of the cell as its author sees it. */
import { SourceMap } from "node:module";
import { stripVTControlCharacters } from "node:util";
import { Interrupted, isAbort } from "./cell-scope.js";
import type { CellError } from "./outputs.js";
import type { Expanded } from "./shorthand.js";
import type { CellMaps, Diagnostic } from "./tslab.js";

/** A cell that ran: what is needed to find its lines again. */
export interface CompiledCell extends Expanded {
  readonly maps: CellMaps | undefined;
  /** Lines of what runs: further down stands the call that the session puts after a cell. */
  readonly scriptLines: number;
}

/** Name of an execution's script, as it stands in stack traces. */
export const scriptName = (execution: number): string => `cell[${execution}]`;

const framePattern = /cell\[(\d+)\]:(\d+):(\d+)/g;
/** Lines that the converter puts before a cell's first. */
const prefixLines = 1;
const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
const bold = (text: string): string => `\u001b[1m${text}\u001b[22m`;

/**
 * What a thrown value says in the notebook: name, message, the failing line of the cell with its neighbours, and the
 * stack with every cell's lines as written. `cells` are the executions so far by number.
 */
export function describeError(
  thrown: unknown,
  execution: number,
  cells: ReadonlyMap<number, CompiledCell>,
): CellError {
  if (thrown instanceof Interrupted || isInterruption(thrown)) {
    const evalue = "the cell was interrupted; what it started was stopped";
    return { ename: "Interrupted", evalue, traceback: [`${red(bold("Interrupted"))}: ${evalue}`] };
  }
  const error = asError(thrown);
  const ename = error.name || "Error";
  const evalue = String(error.message);
  const stack = mapStack(error.stack ?? "", cells);
  const line = firstLine(stack, execution);
  const traceback = [`${red(bold(ename))}: ${evalue}`];
  if (line !== undefined) traceback.push(excerpt(cells.get(execution)?.source ?? "", line, execution));
  const frames = framesOf(stack);
  if (frames.length > 0) traceback.push(frames.join("\n"));
  for (let cause = error.cause, depth = 0; cause !== undefined && depth < 5; depth++) {
    const inner = asError(cause);
    traceback.push(`caused by ${inner.name}: ${inner.message}`);
    cause = inner.cause;
  }
  return line === undefined ? { ename, evalue, traceback } : { ename, evalue, traceback, line };
}

/** What the compiler refused, all of it, with the first place excerpted. */
export function describeDiagnostics(
  diagnostics: readonly Diagnostic[],
  execution: number,
  cell: Expanded,
): CellError {
  const places = diagnostics.map((d) => {
    const line = d.start.line + 1;
    const column = d.start.character + 1;
    const where = d.fileName
      ? `${d.fileName}, line ${line}:${column}`
      : `line ${line}:${cell.column(line, column)}`;
    return `${where}: ${d.messageText}`;
  });
  const evalue = places.join("\n");
  const first = diagnostics.find((d) => d.fileName === undefined);
  const ename = "TypeScriptError";
  const traceback = [`${red(bold(ename))}: ${evalue}`];
  if (!first) return { ename, evalue, traceback };
  const line = first.start.line + 1;
  return { ename, evalue, traceback: [...traceback, excerpt(cell.source, line, execution)], line };
}

/** The traceback without colours, as one text. */
export function plainTraceback(error: CellError): string {
  return stripVTControlCharacters(error.traceback.join("\n"));
}

function isInterruption(thrown: unknown): boolean {
  return (
    (thrown as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_INTERRUPTED" || isAbort(thrown)
  );
}

/** Errors of other realms and thrown values that are no errors become something with a name and a message. */
function asError(thrown: unknown): { name: string; message: string; stack?: string; cause?: unknown } {
  if (typeof thrown === "object" && thrown !== null && "message" in thrown) return thrown as Error;
  return { name: "Thrown", message: typeof thrown === "string" ? thrown : inspectBriefly(thrown) };
}

function inspectBriefly(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** The stack with places in cells as their author counts them, and without the session's own frames. */
function mapStack(stack: string, cells: ReadonlyMap<number, CompiledCell>): string {
  const lines: string[] = [];
  for (const frame of stack.split("\n")) {
    let own = false;
    const mapped = frame.replace(framePattern, (whole, number: string, line: string, column: string) => {
      const cell = cells.get(Number(number));
      own ||= cell !== undefined && Number(line) > cell.scriptLines;
      const place = originalPlace(cell, Number(line), Number(column));
      return place ? `cell[${number}]:${place.line}:${place.column}` : whole;
    });
    if (!own) lines.push(mapped);
  }
  return lines.join("\n");
}

/** From a place in what ran to the place in the cell, both counted from 1. */
function originalPlace(
  cell: CompiledCell | undefined,
  line: number,
  column: number,
): { line: number; column: number } | undefined {
  if (!cell?.maps) return undefined;
  const inModule = lookUp(cell.maps.script, line - 1, column - 1);
  const inCell = inModule && lookUp(cell.maps.module, inModule.line, inModule.column);
  if (!inCell) return undefined;
  const written = inCell.line - prefixLines + 1;
  return { line: written, column: cell.column(written, inCell.column + 1) };
}

function lookUp(map: string, line: number, column: number): { line: number; column: number } | undefined {
  const entry = new SourceMap(JSON.parse(map)).findEntry(line, column);
  if (!("originalLine" in entry)) return undefined;
  return { line: entry.originalLine, column: entry.originalColumn };
}

function firstLine(stack: string, execution: number): number | undefined {
  for (const [, cell, line] of stack.matchAll(framePattern))
    if (Number(cell) === execution) return Number(line);
  return undefined;
}

/** The frames of a stack as far down as cells reach: below them is only the kernel. */
function framesOf(stack: string): string[] {
  const lines = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const last = lines.map((line) => line.includes("cell[")).lastIndexOf(true);
  return lines
    .slice(0, last + 1)
    .filter((line) => !/node:(vm|internal)/.test(line))
    .map((line) => line.replace("file://", ""));
}

function excerpt(source: string, line: number, execution: number): string {
  const lines = source.split("\n");
  const from = Math.max(1, line - 2);
  const to = Math.min(lines.length, line + 2);
  const width = String(to).length;
  const shown = [`  cell [${execution}], line ${line}`];
  for (let n = from; n <= to; n++) {
    shown.push(`${n === line ? red(">") : " "} ${String(n).padStart(width)} | ${lines[n - 1] ?? ""}`);
  }
  return shown.join("\n");
}
