/**
 * A result as it shows itself, whatever assay it came from: its single values as a record, its lists of rows as short
 * tables, its provenance folded away. Every text is escaped: answers of models stand in results.
 */
import { htmlRecord, type RecordValue } from "./html-record.js";
import { type Shown, shownBundle } from "./html-tokens.js";
import { richly } from "./notebook-display.js";
import { cellText, isRow, tableHtml, tableText } from "./table.js";

/** Options of `htmlResult`. */
export interface HtmlResultOptions {
  /** Most rows of each table. Default 8. */
  readonly limit?: number;
}

/**
 * Any record with lists in it. Functions and what is `undefined` are left out; typed arrays are their type and length.
 *
 * @example await show(figures.htmlResult("capacity", await assays.countingCapacity(model)));
 */
export function htmlResult(title: string, result: object, options: HtmlResultOptions = {}): Shown {
  const limit = options.limit ?? 8;
  const lines: Record<string, RecordValue> = {};
  const tables: { name: string; rows: readonly object[] }[] = [];
  for (const [key, value] of Object.entries(result)) {
    if (key === "provenance" || typeof value === "function") continue;
    if (Array.isArray(value) && value.length > 0 && value.every(isRow))
      tables.push({ name: key, rows: value });
    else if (Array.isArray(value) && value.length === 0) lines[key] = "none";
    else lines[key] = typeof value === "number" ? value : value == null ? value : cellText(value);
  }
  const record = htmlRecord(title, lines);
  const captioned = tables.map(({ name, rows }) => ({
    rows,
    options: { caption: caption(name, rows), limit },
  }));
  const { provenance } = result as { provenance?: unknown };
  const folded =
    typeof provenance !== "object" || provenance === null
      ? ""
      : `<details><summary>provenance</summary>${htmlRecord("", flat(provenance)).html}</details>`;
  const html =
    `<div class="countlens-result">${record.html}` +
    `${captioned.map((table) => tableHtml(table.rows, table.options)).join("")}${folded}</div>`;
  const text = [record.text, ...captioned.map((table) => tableText(table.rows, table.options))].join("\n");
  return richly({ html, text }, shownBundle);
}

/** Several shown things as one, below each other. */
export function stacked(parts: readonly Shown[]): Shown {
  const html = `<div>${parts.map((part) => part.html).join('<div style="height:.8em"></div>')}</div>`;
  return richly({ html, text: parts.map((part) => part.text).join("\n") }, shownBundle);
}

function caption(name: string, rows: readonly object[]): string {
  return `${name} (${rows.length})`;
}

/** Nested records as one level: `engine threads`. */
function flat(record: object, before = ""): Record<string, RecordValue> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([key, value]): [string, RecordValue][] =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.entries(flat(value, `${before}${key} `))
        : [[`${before}${key}`, typeof value === "number" ? value : value == null ? value : cellText(value)]],
    ),
  );
}
