/**
 * A description as a two-column table: of a model, a prompt, an activation, a result. Escaped, styles inline.
 */
import { escapeHtml } from "./escape-html.js";
import { type Shown, shownBundle } from "./html-tokens.js";
import { richly } from "./notebook-display.js";

/** What can stand in a line of a record. */
export type RecordValue = string | number | boolean | null | undefined | readonly (string | number)[];

/** Options of `htmlRecord`. */
export interface HtmlRecordOptions {
  /** One line under the title. */
  readonly subtitle?: string;
}

/**
 * Title and key/value lines as HTML and text. Lists are joined by commas; `undefined` and `null` lines are left out.
 *
 * @example htmlRecord("tally-400k", { layers: 6, width: 96, quantisation: "F16" })
 */
export function htmlRecord(
  title: string,
  record: Readonly<Record<string, RecordValue>>,
  options: HtmlRecordOptions = {},
): Shown {
  const lines = Object.entries(record)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => [key, format(value)] as const);
  const rows = lines.map(
    ([key, value]) =>
      `<tr><th scope="row" style="text-align:left;font-weight:400;opacity:.7;padding:1px 16px 1px 0;vertical-align:top">${escapeHtml(key)}</th>` +
      `<td style="text-align:left;padding:1px 0;overflow-wrap:anywhere">${escapeHtml(value)}</td></tr>`,
  );
  const subtitle =
    options.subtitle === undefined ? "" : `<div style="opacity:.7">${escapeHtml(options.subtitle)}</div>`;
  const html =
    `<div class="countlens-record" style="max-width:60rem"><div style="font-weight:600">${escapeHtml(title)}</div>${subtitle}` +
    `<table style="border-collapse:collapse;margin-top:4px">${rows.join("")}</table></div>`;
  const longest = Math.max(0, ...lines.map(([key]) => key.length));
  const text = [
    title,
    ...(options.subtitle === undefined ? [] : [options.subtitle]),
    ...lines.map(([k, v]) => `  ${k.padEnd(longest)}  ${v}`),
  ].join("\n");
  return richly({ html, text }, shownBundle);
}

function format(value: RecordValue): string {
  if (typeof value === "number")
    return Number.isInteger(value) ? value.toLocaleString("en-US") : String(Number(value.toPrecision(6)));
  if (Array.isArray(value)) return value.join(", ");
  return String(value);
}
