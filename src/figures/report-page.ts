/**
 * The report: everything a run has shown, on one HTML page that opens without a network. Figures are inlined as SVG
 * whose inks follow the page's light or dark scheme; where no browser was there to draw them, plotly.js is put into
 * the page once and draws them there.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { escapeHtml } from "./escape-html.js";
import type { FigureSpec } from "./figure-spec.js";
import { liveFigure } from "./notebook-display.js";
import { duration } from "./progress.js";
import { type ReportEntry, readRegistry } from "./registry.js";
import { plotlyPath } from "./render.js";
import { REPORT_STYLE } from "./report-style.js";
import { INKS } from "./theme.js";

/** An entry with the contents of its files. */
export interface ReportItem extends ReportEntry {
  /** Text of the figure's exported SVG. */
  readonly svg?: string;
  /** The figure itself, drawn live where there is no SVG. */
  readonly spec?: FigureSpec;
  /** HTML of a table, made by `tableHtml`. */
  readonly table?: string;
}

/** A notebook's part of a report. */
export interface ReportNotebook {
  /** Name without its ending, as in the entries. */
  readonly notebook: string;
  /** Heading. Default: the name. */
  readonly title?: string;
  readonly seconds?: number;
  /** What went wrong, if it did. */
  readonly error?: string;
}

/** What a report page says beside its figures. */
export interface ReportOptions {
  /** Default `countlens report`. */
  readonly title?: string;
  /** One paragraph under the title. */
  readonly introduction?: string;
  /** Order and headings of the notebooks, and those that made no figure. Default: as they come in the entries. */
  readonly notebooks?: readonly ReportNotebook[];
  /** Link of a notebook; `{notebook}` stands for its name. Default `../notebooks/{notebook}.ipynb`. */
  readonly notebookLink?: string;
  /** Of the whole run (versions, machine, commit, date): stands at the end. */
  readonly provenance?: Readonly<Record<string, unknown>>;
  /** plotly.js, where an item has no SVG. Read from the package by `writeReport`. */
  readonly plotly?: string;
}

/** Reads a report folder's registry and files and writes its `index.html`; returns the path. */
export async function writeReport(folder: string, options: ReportOptions = {}): Promise<string> {
  const entries = await readRegistry(folder);
  const items = await Promise.all(entries.map((entry) => withFiles(folder, entry)));
  const live = items.some((item) => item.spec !== undefined && item.svg === undefined);
  const plotly = live ? { plotly: await readFile(plotlyPath(), "utf8") } : {};
  const path = join(folder, "index.html");
  await writeFile(path, reportPage(items, { ...plotly, ...options }));
  return path;
}

async function withFiles(folder: string, entry: ReportEntry): Promise<ReportItem> {
  const text = async (ending: string): Promise<string | undefined> => {
    const file = entry.files.find((name) => name.endsWith(ending));
    return file === undefined ? undefined : readFile(join(folder, file), "utf8");
  };
  const [svg, table] = [await text(".svg"), await text(".html")];
  const spec = svg === undefined ? await text(".json") : undefined;
  return {
    ...entry,
    ...(svg === undefined ? {} : { svg }),
    ...(table === undefined ? {} : { table }),
    ...(spec === undefined ? {} : { spec: JSON.parse(spec) as FigureSpec }),
  };
}

/** The page. A pure function: the same items and options give the same HTML. */
export function reportPage(items: readonly ReportItem[], options: ReportOptions = {}): string {
  const notebooks = notebooksOf(items, options.notebooks ?? []);
  const title = options.title ?? "countlens report";
  const link = (name: string): string =>
    escapeHtml((options.notebookLink ?? "../notebooks/{notebook}.ipynb").replace("{notebook}", name));
  const sections = notebooks.map((notebook) => section(notebook, items, link(notebook.notebook)));
  const live = items.filter((item) => item.svg === undefined && item.spec !== undefined);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)}</h1>
${options.introduction === undefined ? "" : `<p class="lead">${escapeHtml(options.introduction)}</p>`}
</header>
<nav aria-label="Contents">${contents(notebooks, items)}</nav>
<main>
${items.length === 0 ? "<p>No figure was shown in this run.</p>" : ""}
${sections.join("\n")}
</main>
<footer>
<h2 id="provenance">Provenance</h2>
${provenance(options.provenance)}
</footer>
${live.length > 0 ? liveScript(live, options.plotly) : ""}</body>
</html>
`;
}

function notebooksOf(items: readonly ReportItem[], named: readonly ReportNotebook[]): ReportNotebook[] {
  const known = new Set(named.map((n) => n.notebook));
  const others = [...new Set(items.map((item) => item.notebook))].filter((name) => !known.has(name));
  return [...named, ...others.map((notebook) => ({ notebook }))];
}

function contents(notebooks: readonly ReportNotebook[], items: readonly ReportItem[]): string {
  const rows = notebooks.map((notebook) => {
    const lines = items
      .filter((item) => item.notebook === notebook.notebook)
      .map(
        (item) =>
          `<li><a href="#${anchor(item)}">${escapeHtml(item.figure)}</a><span>${escapeHtml(item.headline ?? "")}</span></li>`,
      );
    const error = notebook.error === undefined ? "" : `<li class="error">failed</li>`;
    return `<li><a class="notebook" href="#${anchorOf(notebook.notebook)}">${escapeHtml(notebook.title ?? notebook.notebook)}</a><ul>${lines.join("")}${error}</ul></li>`;
  });
  return `<ol>${rows.join("")}</ol>`;
}

function section(notebook: ReportNotebook, items: readonly ReportItem[], link: string): string {
  const own = items.filter((item) => item.notebook === notebook.notebook);
  const seconds = notebook.seconds ?? own.reduce((sum, item) => sum + item.seconds, 0);
  const error = notebook.error === undefined ? "" : `<pre class="error">${escapeHtml(notebook.error)}</pre>`;
  return `<section id="${anchorOf(notebook.notebook)}">
<h2>${escapeHtml(notebook.title ?? notebook.notebook)}</h2>
<p class="facts"><a href="${link}">notebook</a> · ${duration(seconds * 1000)}</p>
${error}${own.map(article).join("\n")}
</section>`;
}

function article(item: ReportItem): string {
  const id = anchor(item);
  const picture =
    item.svg !== undefined
      ? inlineSvg(item.svg)
      : item.table !== undefined
        ? `<div class="scroll">${item.table}</div>`
        : item.spec !== undefined
          ? `<div class="live" id="${id}-plot"></div>`
          : "";
  const files = item.files
    .filter((file) => !file.endsWith(".html"))
    .map(
      (file) =>
        `<a href="${escapeHtml(encodeURI(file))}">${escapeHtml(file.slice(file.lastIndexOf(".") + 1).toUpperCase())}</a>`,
    );
  const record = item.provenance as Readonly<Record<string, unknown>> | undefined;
  const model = record?.model;
  const facts = [
    ...(model === undefined ? [] : [`on ${escapeHtml(modelName(model))}`]),
    `in ${duration(item.seconds * 1000)}`,
    ...files,
  ];
  return `<article id="${id}">
${item.headline === undefined ? "" : `<h3>${escapeHtml(item.headline)}</h3>`}
<figure>${picture}<figcaption>${escapeHtml(item.caption)}</figcaption></figure>
<p class="facts">${facts.join(" · ")}</p>
${record === undefined ? "" : `<details><summary>provenance</summary>${provenance(record)}</details>`}
</article>`;
}

/** Inks of the print theme become the page's, so that a figure reads in light and dark; its white ground goes. */
function inlineSvg(svg: string): string {
  const rgb = (hex: string): string =>
    `rgb(${[1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16)).join(", ")})`;
  const { ink, muted, grid } = INKS.print;
  const inked = svg
    .replace(/<metadata>[\s\S]*?<\/metadata>/, "")
    .replace(/(<rect x="0" y="0"[^>]*?)fill: rgb\(255, 255, 255\)/, "$1fill: none")
    .replaceAll(rgb(ink), "var(--ink)")
    .replaceAll(rgb(muted), "var(--muted)")
    .replaceAll(rgb(grid), "var(--grid)");
  const narrow = /^<svg[^>]*\swidth="([\d.]+)mm"/.exec(inked);
  const kind = Number(narrow?.[1]) < 120 ? "single" : "double";
  return inked.replace(/^<svg/, `<svg role="img" data-width="${kind}"`);
}

function provenance(record: Readonly<Record<string, unknown>> | undefined): string {
  const rows = Object.entries(record ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (rows.length === 0) return "<p>None was given.</p>";
  return `<dl>${rows.map(([key, value]) => `<div><dt>${escapeHtml(key)}</dt><dd>${escapeHtml(plain(value))}</dd></div>`).join("")}</dl>`;
}

function liveScript(items: readonly ReportItem[], plotly: string | undefined): string {
  if (plotly === undefined) {
    throw new Error(
      "reportPage: some figures have no SVG, and plotly.js was not given; pass it as `plotly` or use writeReport",
    );
  }
  const figures = items.map((item) => ({ id: `${anchor(item)}-plot`, ...liveFigure(item.spec!) }));
  // Inside a script element only `</script` and `<!--` matter; a JSON string may write any `<` as an escape.
  const json = JSON.stringify(figures).replace(/</g, "\\u003c");
  return `<script>${plotly.replace(/<\/script/gi, "<\\/script")}</script>
<script>for (const f of ${json}) Plotly.newPlot(f.id, f.data, f.layout, f.config);</script>
`;
}

/** `tally-400k, F32`; a model may also be given by its name alone. */
function modelName(model: unknown): string {
  const { name, quantisation } = (typeof model === "object" && model !== null ? model : {}) as {
    name?: unknown;
    quantisation?: unknown;
  };
  if (typeof name !== "string") return plain(model);
  return typeof quantisation === "string" ? `${name}, ${quantisation}` : name;
}

/** Records as `key value, key value`, one level deep; what is deeper as JSON. */
function plain(value: unknown, depth = 0): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value) || depth > 0) return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${plain(inner, depth + 1)}`)
    .join(", ");
}

function anchor(item: ReportItem): string {
  return anchorOf(`${item.notebook}-${item.figure}`);
}

function anchorOf(name: string): string {
  return `n-${name.replace(/[^A-Za-z0-9_-]/g, "-")}`;
}
