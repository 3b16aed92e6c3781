/** Notebook files: read, checked against what nbformat 4.5 asks, given parameters, written. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import type { Output } from "./outputs.js";

export interface CodeCell {
  readonly cell_type: "code";
  readonly id: string;
  readonly metadata: { readonly tags?: readonly string[] } & Readonly<Record<string, unknown>>;
  readonly source: string;
  readonly outputs: readonly Output[];
  readonly execution_count: number | null;
}

export interface TextCell {
  readonly cell_type: "markdown" | "raw";
  readonly id: string;
  readonly metadata: { readonly tags?: readonly string[] } & Readonly<Record<string, unknown>>;
  readonly source: string;
}

export type Cell = CodeCell | TextCell;

export interface Notebook {
  readonly cells: readonly Cell[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly nbformat: 4;
  readonly nbformat_minor: number;
}

export type Parameters = Readonly<Record<string, unknown>>;

const largestFile = 64 * 1024 * 1024;

/**
 * The file of a notebook by path, by file name, or by the beginning of its name in the folder: `07`, `07-patching`.
 * Throws when none or several fit.
 */
export function findNotebook(name: string, folder: string): string {
  if (name.endsWith(".ipynb")) {
    const path = [resolve(name), join(folder, name)].find((p) => existsSync(p));
    if (path) return path;
  }
  const all = notebookFiles(folder);
  const fitting = isAbsolute(name) ? [] : all.filter((path) => basename(path).startsWith(name));
  if (name !== "" && fitting.length === 1) return fitting[0]!;
  const names = (fitting.length > 1 ? fitting : all).map((path) => basename(path, ".ipynb")).join(", ");
  const what = fitting.length > 1 ? "several notebooks begin so" : "no such notebook";
  throw new Error(`notebook: ${JSON.stringify(name)}; ${what}; in ${folder}: ${names || "none"}`);
}

/** The notebooks of a folder in the order of their names. */
export function notebookFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ipynb") && !file.startsWith("."))
    .sort()
    .map((file) => join(folder, file));
}

/** Reads and checks a notebook; throws one line that says what is wrong where. */
export function readNotebook(path: string): Notebook {
  if (!existsSync(path)) throw new Error(`notebook: ${path} does not exist; expected an .ipynb file`);
  const size = statSync(path).size;
  if (size > largestFile) {
    throw new Error(`notebook: ${path} has ${size} bytes; at most ${largestFile}; clear its outputs`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const why = (error as Error).message.replace(/\s+/g, " ");
    throw new Error(`notebook: ${path} is not JSON (${why}); expected nbformat 4.5`);
  }
  return parseNotebook(parsed, basename(path));
}

/** Checks a parsed notebook and joins its lines of source. `name` stands in errors. */
export function parseNotebook(parsed: unknown, name: string): Notebook {
  const fail = (what: string): never => {
    throw new Error(`notebook: ${name}: ${what}`);
  };
  if (!isRecord(parsed)) return fail("not a JSON object; expected nbformat 4.5");
  if (parsed.nbformat !== 4) return fail(`nbformat ${JSON.stringify(parsed.nbformat)}; expected 4`);
  if (!isCount(parsed.nbformat_minor)) return fail("nbformat_minor is missing; expected a whole number, 5");
  if (!isRecord(parsed.metadata)) return fail("metadata is missing; expected an object");
  if (!Array.isArray(parsed.cells)) return fail("cells is missing; expected an array");
  const ids = new Set<string>();
  const cells = parsed.cells.map((cell: unknown, index) => {
    const read = parseCell(cell, `cell ${index + 1}`, parsed.nbformat_minor as number, index, fail);
    if (ids.has(read.id)) fail(`cell ${index + 1}: id ${read.id} stands twice; ids must be unique`);
    ids.add(read.id);
    return read;
  });
  return { cells, metadata: parsed.metadata, nbformat: 4, nbformat_minor: parsed.nbformat_minor };
}

type Fail = (what: string) => never;

function parseCell(cell: unknown, where: string, minor: number, index: number, fail: Fail): Cell {
  if (!isRecord(cell)) return fail(`${where} is not an object`);
  const type = cell.cell_type;
  if (type !== "code" && type !== "markdown" && type !== "raw") {
    return fail(`${where}: cell_type ${JSON.stringify(type)}; expected code, markdown or raw`);
  }
  // Ids came with 4.5; an older file gets them here, as it would in JupyterLab.
  const id = cell.id ?? (minor < 5 ? `cell-${index + 1}` : undefined);
  if (typeof id !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(id)) {
    return fail(`${where}: id ${JSON.stringify(cell.id)}; expected 1 to 64 of letters, digits, - and _`);
  }
  const source = Array.isArray(cell.source) ? cell.source : [cell.source];
  if (!source.every((line) => typeof line === "string")) {
    return fail(`${where}: source must be a string or an array of strings`);
  }
  const metadata = cell.metadata ?? {};
  if (!isRecord(metadata)) return fail(`${where}: metadata must be an object`);
  const tags = metadata.tags;
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === "string"))) {
    return fail(`${where}: metadata.tags must be an array of strings`);
  }
  const text = source.join("");
  if (type !== "code") return { cell_type: type, id, metadata, source: text };
  if (!Array.isArray(cell.outputs ?? [])) return fail(`${where}: outputs must be an array`);
  const count = cell.execution_count ?? null;
  if (count !== null && !isCount(count))
    return fail(`${where}: execution_count must be a whole number or null`);
  const outputs = (cell.outputs ?? []) as Output[];
  if (!outputs.every((output) => isRecord(output) && typeof output.output_type === "string"))
    return fail(`${where}: every output must be an object with an output_type`);
  return { cell_type: "code", id, metadata, source: text, outputs, execution_count: count };
}

/** Tag of the cell with the defaults, and of the cell that is put after it: papermill's convention. */
export const parametersTag = "parameters";
export const injectedTag = "injected-parameters";

/** Names that the parameters cell declares with `let`, and those it fixes with `const`. */
export function parameterNames(notebook: Notebook): { let: string[]; const: string[] } {
  const source = notebook.cells.find((cell) => hasTag(cell, parametersTag))?.source ?? "";
  const names = { let: [] as string[], const: [] as string[] };
  for (const [, kind, name] of source.matchAll(/^(let|const)\s+([A-Za-z_$][\w$]*)/gm)) {
    names[kind as "let" | "const"].push(name!);
  }
  return names;
}

/**
 * The notebook with a new cell, tagged `injected-parameters`, after the one tagged `parameters`, that assigns the given
 * values. A cell injected by an earlier run is replaced. Names that the parameters cell does not declare with `let`
 * are refused; types are checked by the compiler when the cell runs.
 */
export function injectParameters(notebook: Notebook, values: Parameters, name: string): Notebook {
  const cells = notebook.cells.filter((cell) => !hasTag(cell, injectedTag));
  if (Object.keys(values).length === 0) return { ...notebook, cells };
  const at = cells.findIndex((cell) => cell.cell_type === "code" && hasTag(cell, parametersTag));
  if (at < 0) {
    throw new Error(`notebook: ${name}: no code cell tagged ${parametersTag}; tag the cell that holds them`);
  }
  const declared = parameterNames(notebook);
  const lines = Object.entries(values).map(([key, value]) => {
    if (declared.const.includes(key)) {
      throw new Error(`notebook: ${name}: parameter ${key} is a const; declare it with let`);
    }
    if (!declared.let.includes(key)) {
      throw new Error(
        `notebook: ${name}: no parameter ${key}; its parameters are ${declared.let.join(", ") || "none"}`,
      );
    }
    return `${key} = ${literal(value, key, name)};`;
  });
  const injected: CodeCell = {
    cell_type: "code",
    id: injectedTag,
    metadata: { tags: [injectedTag] },
    source: `// Parameters\n${lines.join("\n")}`,
    outputs: [],
    execution_count: null,
  };
  return { ...notebook, cells: [...cells.slice(0, at + 1), injected, ...cells.slice(at + 1)] };
}

/** A notebook as JupyterLab writes it: one space of indentation, source in lines. */
export function notebookText(notebook: Notebook): string {
  const cells = notebook.cells.map((cell) => ({ ...cell, source: lines(cell.source) }));
  return `${JSON.stringify({ ...notebook, cells }, null, 1)}\n`;
}

/** The notebook as it stands in git: no outputs, no counts, no injected cell. */
export function strippedNotebook(notebook: Notebook): Notebook {
  const cells = notebook.cells
    .filter((cell) => !hasTag(cell, injectedTag))
    .map((cell) => (cell.cell_type === "code" ? { ...cell, outputs: [], execution_count: null } : cell));
  return { ...notebook, cells };
}

function hasTag(cell: Cell, tag: string): boolean {
  return cell.metadata.tags?.includes(tag) ?? false;
}

function literal(value: unknown, key: string, name: string): string {
  const text = JSON.stringify(value);
  if (text === undefined)
    throw new Error(`notebook: ${name}: parameter ${key} is not JSON; expected a JSON value`);
  return text;
}

function lines(source: string): string[] {
  return source.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}
