/**
 * Rows as a table: HTML for a cell or a page, CSV for a file, text for a terminal, a DataFrame for further work.
 */
import { escapeHtml, shorten } from "./escape-html.js";
import type { ProvenanceRecord, Row } from "./figure-spec.js";

/** Columns, headings and length of a table. */
export interface TableOptions {
  /** Columns in order. Default: every key of the rows, in the order they first appear. */
  readonly columns?: readonly string[];
  /** Headings by column, e.g. with a unit. Default: the column's name. */
  readonly headings?: Readonly<Record<string, string>>;
  readonly caption?: string;
  /** Most rows in HTML and text; the rest is counted in a last line. Default 200. CSV is always whole. */
  readonly limit?: number;
}

const PADDING = "padding:2px 10px";

/** Columns of rows, in the order they first appear. */
export function columnsOf(rows: readonly object[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** Rows as an HTML table; every cell and heading is escaped. Numbers are right-aligned, at most 6 significant digits. */
export function tableHtml(rows: readonly object[], options: TableOptions = {}): string {
  const columns = options.columns ?? columnsOf(rows);
  const limit = options.limit ?? 200;
  const cell = (value: unknown): string =>
    typeof value === "number"
      ? `<td style="${PADDING};text-align:right;font-variant-numeric:tabular-nums">${escapeHtml(formatCell(value))}</td>`
      : `<td style="${PADDING};text-align:left">${escapeHtml(formatCell(value))}</td>`;
  const head = columns.map(
    (c) =>
      `<th scope="col" style="${PADDING};text-align:${alignment(rows, c)}">${escapeHtml(options.headings?.[c] ?? c)}</th>`,
  );
  const body = rows.slice(0, limit).map((row) => `<tr>${columns.map((c) => cell(at(row, c))).join("")}</tr>`);
  const rest = rows.length - body.length;
  if (rest > 0)
    body.push(`<tr><td colspan="${Math.max(1, columns.length)}">… and ${rest} more rows</td></tr>`);
  const caption =
    options.caption === undefined
      ? ""
      : `<caption style="text-align:left;font-weight:600;padding:4px 0">${escapeHtml(options.caption)}</caption>`;
  return `<table class="countlens-table">${caption}<thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table>`;
}

/** Rows as aligned text. */
export function tableText(rows: readonly object[], options: TableOptions = {}): string {
  const columns = options.columns ?? columnsOf(rows);
  const limit = options.limit ?? 200;
  const lines = rows
    .slice(0, limit)
    .map((row) => columns.map((c) => formatCell(at(row, c)).replace(/\s/g, " ")));
  const all = [columns.map((c) => options.headings?.[c] ?? c), ...lines];
  const widths = columns.map((_, i) => Math.max(...all.map((line) => line[i]!.length)));
  const text = all.map((line) =>
    line
      .map((word, i) =>
        alignment(rows, columns[i]!) === "right" ? word.padStart(widths[i]!) : word.padEnd(widths[i]!),
      )
      .join("  ")
      .trimEnd(),
  );
  if (rows.length > limit) text.push(`… and ${rows.length - limit} more rows`);
  return [...(options.caption === undefined ? [] : [options.caption]), ...text].join("\n");
}

/**
 * Rows as CSV (RFC 4180, line feeds). Provenance stands before the heading in comment lines, `# key: value`.
 * Missing values and NaN are empty cells, infinities `inf` and `-inf`.
 */
export function tableCsv(
  rows: readonly Row[],
  provenance?: ProvenanceRecord,
  options: Pick<TableOptions, "columns"> = {},
): string {
  const columns = options.columns ?? columnsOf(rows);
  const comments = Object.entries(provenance ?? {}).map(
    ([key, value]) => `# ${oneLine(key)}: ${oneLine(plain(value))}`,
  );
  const lines = [columns, ...rows.map((row) => columns.map((c) => row[c]))].map((line) =>
    line.map(csvCell).join(","),
  );
  return `${[...comments, ...lines].join("\n")}\n`;
}

/** Rows as a danfojs DataFrame (loaded at the first call, about 2 s). Typed arrays are not taken by danfojs: rows are. */
export async function toDataFrame(rows: readonly Row[]): Promise<unknown> {
  if (rows.length === 0)
    throw new Error("toDataFrame: no rows; a DataFrame needs at least one to know its columns");
  const { DataFrame } = (await import("danfojs-node")) as unknown as {
    DataFrame: new (rows: unknown) => unknown;
  };
  const columns = columnsOf(rows);
  return new DataFrame(rows.map((row) => Object.fromEntries(columns.map((c) => [c, row[c] ?? Number.NaN]))));
}

/** A plain record: what can be a row of a table. */
export function isRow(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of a notebook's cells come from the same realm; those of JSON and of other processes as well.
  return prototype === Object.prototype || prototype === null;
}

const LONGEST = 160;

/**
 * A value as it stands in a cell: numbers to 6 significant digits, typed arrays as type and length, lists joined by
 * commas, records as `key value` pairs; lists and records are cut at 160 characters, texts are not.
 */
export function cellText(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${(value as Uint8Array).length})`;
  if (typeof value === "function") return "function";
  if (typeof value !== "object" || value === null) return formatCell(value);
  if (value instanceof Map || value instanceof Set) return `${value.constructor.name}(${value.size})`;
  if (Array.isArray(value)) return shorten(value.slice(0, LONGEST).map(cellText).join(", "), LONGEST);
  const pairs = Object.entries(value).map(([key, inner]) => `${key} ${cellText(inner)}`);
  return shorten(pairs.join("; "), LONGEST);
}

const at = (row: object, column: string): unknown => (row as Readonly<Record<string, unknown>>)[column];

function alignment(rows: readonly object[], column: string): "left" | "right" {
  const first = rows.map((row) => at(row, column)).find((value) => value !== null && value !== undefined);
  return typeof first === "number" ? "right" : "left";
}

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "object" || typeof value === "function") return cellText(value);
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return String(value);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined || (typeof value === "number" && Number.isNaN(value))) return "";
  if (value === Number.POSITIVE_INFINITY) return "inf";
  if (value === Number.NEGATIVE_INFINITY) return "-inf";
  const text = String(value);
  return /[",\n\r]/.test(text) || /^[\s#]|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function plain(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
