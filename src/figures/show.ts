/**
 * Showing: in a notebook one message with every form a front end may want, elsewhere text.
 */
import type { Row } from "./figure-spec.js";
import { type MimeBundle, writeDisplay } from "./notebook-display.js";
import { type PublishOptions, publish, publishTable } from "./registry.js";
import { isFigure, isRows, richBundle } from "./rich-display.js";
import { type TableOptions, tableHtml, tableText } from "./table.js";

/** What is said beside what is shown. */
export interface ShowOptions extends PublishOptions, TableOptions {
  /** Of a table: its name in the report; without one a table is shown but not put into the report. */
  readonly name?: string;
}

/**
 * Shows a value in the running cell. A figure: plotly's JSON, a PNG and text in one output, so it is alive in
 * JupyterLab and VS Code and a picture everywhere else; without Chrome or Chromium the PNG is left out, and that is
 * said once. A list of rows: a table. Models, prompts, activations, evaluations, generations, results of assays and
 * rich HTML (`htmlTokens`, `htmlRecord`): as they show themselves as a cell's last expression. Outside a notebook the text is printed. In a report run (`COUNTLENS_REPORT`) figures, and
 * tables that have a `name`, also go into the report.
 *
 * @example await show(logitLens(rows, { model: model.name }), { headline: "answer readable from layer 4", value: 4 })
 */
export async function show(thing: object, options: ShowOptions = {}): Promise<void> {
  if (isRows(thing)) {
    emit({ "text/html": tableHtml(thing, options), "text/plain": tableText(thing, options) });
    if (options.name !== undefined)
      await publishTable(thing as readonly Row[], { ...options, name: options.name });
  } else if (isFigure(thing)) {
    emit((await richBundle(thing))!);
    await publish(thing, options);
  } else {
    const bundle = await richBundle(thing);
    if (bundle === undefined) {
      throw new Error(
        `show: got ${describe(thing)}; expected a figure, an array of rows, a model, a prompt, an activation, a result ` +
          "or { html, text }",
      );
    }
    emit(bundle);
  }
}

function describe(thing: unknown): string {
  if (thing === null || typeof thing !== "object") return String(thing);
  return Array.isArray(thing)
    ? "an array whose elements are not records"
    : `an object with ${Object.keys(thing).slice(0, 5).join(", ") || "no keys"}`;
}

function emit(bundle: MimeBundle): void {
  if (!writeDisplay(bundle)) console.log(bundle["text/plain"]);
}
