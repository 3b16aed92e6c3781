/**
 * Showing: in a notebook one message with every form a front end may want, elsewhere text.
 */
import { findBrowser, NO_BROWSER } from "./browser.js";
import type { FigureSpec, Row } from "./figure-spec.js";
import { type Shown, shownBundle } from "./html-tokens.js";
import { figureText, inNotebook, liveFigure, type MimeBundle, writeDisplay } from "./notebook-display.js";
import { type PublishOptions, publish, publishTable } from "./registry.js";
import { drawPng } from "./render.js";
import { type TableOptions, tableHtml, tableText } from "./table.js";

/** What is said beside what is shown. */
export interface ShowOptions extends PublishOptions, TableOptions {
  /** Of a table: its name in the report; without one a table is shown but not put into the report. */
  readonly name?: string;
}

/**
 * Shows a figure, a table (rows) or rich HTML in the running cell: plotly's JSON, a PNG and text in one output, so it
 * is alive in JupyterLab and VS Code and a picture everywhere else. Without Chrome or Chromium the PNG is left out,
 * and that is said once. Outside a notebook the text is printed. In a report run (`COUNTLENS_REPORT`) figures, and
 * tables that have a `name`, also go into the report.
 *
 * @example await show(logitLens(rows, { model: model.name }), { headline: "answer readable from layer 4", value: 4 })
 */
export async function show(
  thing: FigureSpec | readonly Row[] | Shown,
  options: ShowOptions = {},
): Promise<void> {
  if (isRows(thing)) {
    emit({ "text/html": tableHtml(thing, options), "text/plain": tableText(thing, options) });
    if (options.name !== undefined) await publishTable(thing, { ...options, name: options.name });
  } else if (isFigure(thing)) {
    emit(await figureBundle(thing));
    await publish(thing, options);
  } else if (isShown(thing)) {
    emit(shownBundle(thing));
  } else {
    throw new Error(`show: got ${describe(thing)}; expected a figure, an array of rows or { html, text }`);
  }
}

const isRows = (thing: unknown): thing is readonly Row[] =>
  Array.isArray(thing) &&
  thing.every((row) => typeof row === "object" && row !== null && !Array.isArray(row));

const isFigure = (thing: unknown): thing is FigureSpec =>
  typeof thing === "object" && thing !== null && "data" in thing && "layout" in thing && "meta" in thing;

const isShown = (thing: unknown): thing is Shown =>
  typeof thing === "object" &&
  thing !== null &&
  typeof (thing as Shown).html === "string" &&
  typeof (thing as Shown).text === "string";

function describe(thing: unknown): string {
  if (thing === null || typeof thing !== "object") return String(thing);
  return Array.isArray(thing)
    ? "an array whose elements are not records"
    : `an object with ${Object.keys(thing).slice(0, 5).join(", ") || "no keys"}`;
}

function emit(bundle: MimeBundle): void {
  if (!writeDisplay(bundle)) console.log(bundle["text/plain"]);
}

let hinted = false;

async function figureBundle(figure: FigureSpec): Promise<MimeBundle> {
  const text = { "text/plain": figureText(figure) };
  if (!inNotebook()) return text;
  const live = { "application/vnd.plotly.v1+json": liveFigure(figure), ...text };
  if (findBrowser() === undefined) {
    if (!hinted) console.warn(`show: figures have no PNG here: ${NO_BROWSER}`);
    hinted = true;
    return live;
  }
  const png = await drawPng(figure, 2, { variant: "light" });
  return { ...live, "image/png": png.toString("base64") };
}
