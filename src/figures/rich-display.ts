/**
 * How a value shows itself, in a cell and through `show`: recognised by its shape, so that rows made in a cell, results
 * read back from a file and the library's own objects all look the same. Nothing here knows the engine.
 */
import { findBrowser, NO_BROWSER } from "./browser.js";
import type { FigureSpec } from "./figure-spec.js";
import { type ActivationFacts, hookLabel, htmlActivation } from "./html-activation.js";
import { htmlPrompt, type PromptFacts } from "./html-prompt.js";
import { htmlRecord } from "./html-record.js";
import { htmlResult, stacked } from "./html-result.js";
import { type Shown, shownBundle } from "./html-tokens.js";
import { figureText, inNotebook, liveFigure, type MimeBundle } from "./notebook-display.js";
import { drawPng } from "./render.js";
import { cellText, isRow, tableHtml, tableText } from "./table.js";

/** Objects say under this key how they are displayed: a function to a MIME bundle, or to the promise of one. */
const displayKey = Symbol.for("Jupyter.display");
/** Activations drawn for one value; of more there is a line. */
const MOST_PICTURES = 12;

/**
 * The MIME bundle of a value, or `undefined` where it has no form but its text: what has `Jupyter.display`, figures,
 * models, prompts, activations, evaluations, generations, results with provenance, and non-empty lists of records.
 */
export async function richBundle(value: unknown): Promise<MimeBundle | undefined> {
  if (typeof value !== "object" || value === null) return undefined;
  // Before its own display, which cannot wait for a picture.
  if (isFigure(value)) return figureBundle(value);
  const display = (value as { [displayKey]?: unknown })[displayKey];
  if (typeof display === "function") return (await display.call(value)) as MimeBundle;
  const shown = shownOf(value);
  return shown && shownBundle(shown);
}

let hinted = false;

/** Plotly's JSON and text; in a notebook a PNG as well, where there is a browser to draw it. */
async function figureBundle(figure: FigureSpec): Promise<MimeBundle> {
  const live = { "application/vnd.plotly.v1+json": liveFigure(figure), "text/plain": figureText(figure) };
  if (!inNotebook()) return live;
  if (findBrowser() === undefined) {
    if (!hinted) console.warn(`show: figures have no PNG here: ${NO_BROWSER}`);
    hinted = true;
    return live;
  }
  const png = await drawPng(figure, 2, { variant: "light" });
  return { ...live, "image/png": png.toString("base64") };
}

/** A figure, by its shape. */
export const isFigure = (value: unknown): value is FigureSpec =>
  typeof value === "object" && value !== null && "data" in value && "layout" in value && "meta" in value;

/** A list of records (which may be empty), by its shape. */
export const isRows = (value: unknown): value is readonly object[] =>
  Array.isArray(value) && value.every(isRow) && !value.some(isActivation);

function shownOf(value: object): Shown | undefined {
  if (isShown(value)) return value;
  if (isModel(value)) {
    return stacked([
      htmlRecord(value.info.name, value.describe()),
      htmlRecord("Hook points", value.hookPoints()),
    ]);
  }
  if (isPrompt(value)) return htmlPrompt(value);
  if (isActivation(value)) return htmlActivation(value);
  if (Array.isArray(value)) return shownList(value);
  if (isEvaluation(value)) return shownEvaluation(value);
  if (isResult(value)) return shownResult(value);
  if (isGenerations(value)) return shownGenerations(value);
  if (hasProvenance(value)) {
    const { assay, task, model } = value as { assay?: unknown; task?: unknown; model?: unknown };
    const title = [assay, task, model].filter((part) => typeof part === "string").join(", ");
    return htmlResult(title || "result", value);
  }
  return undefined;
}

function shownList(values: readonly unknown[]): Shown | undefined {
  if (values.length === 0) return undefined;
  if (values.every(isActivation)) return pictures(values);
  if (values.every(isRow)) return { html: tableHtml(values), text: tableText(values) };
  return undefined;
}

function pictures(activations: readonly ActivationFacts[]): Shown {
  const parts: Shown[] = activations.slice(0, MOST_PICTURES).map(htmlActivation);
  const rest = activations.length - parts.length;
  if (rest > 0) parts.push({ html: `<div>… and ${rest} more</div>`, text: `… and ${rest} more` });
  return stacked(parts);
}

interface ResultFacts {
  readonly captures: readonly ActivationFacts[];
  readonly logits?: {
    readonly positions: ArrayLike<number>;
    readonly k: number;
    readonly topIds: ArrayLike<number>;
    readonly topLogits: ArrayLike<number>;
  };
}

interface EvaluationFacts {
  readonly results: readonly ResultFacts[];
  readonly stats: object;
}

/** Logits as rows, then a picture of each capture. */
function shownResult({ captures, logits }: ResultFacts): Shown {
  const parts: Shown[] = [];
  if (logits !== undefined) {
    const { k, topIds, topLogits } = logits;
    const rows = Array.from(logits.positions, (position, i) => ({
      position,
      "token ids": Array.from(topIds).slice(i * k, (i + 1) * k),
      logits: Array.from(topLogits).slice(i * k, (i + 1) * k),
    }));
    const table = { caption: "largest logits", limit: 20 };
    parts.push({ html: tableHtml(rows, table), text: tableText(rows, table) });
  }
  if (captures.length > 0) parts.push(pictures(captures));
  return stacked(parts);
}

function shownEvaluation({ results, stats }: EvaluationFacts): Shown {
  const rows = results.map(({ captures, logits }, request) => ({
    request,
    captures: captures
      .map(({ hook, positions, width }) => `${hookLabel(hook)} [${positions.length}, ${width}]`)
      .join(", "),
    "logits at": logits === undefined ? "" : cellText(Array.from(logits.positions)),
    "first tokens by logit": logits === undefined ? "" : cellText(Array.from(logits.topIds).slice(0, 8)),
  }));
  const table = { caption: `results (${results.length})`, limit: 20 };
  return stacked([{ html: tableHtml(rows, table), text: tableText(rows, table) }, htmlResult("cost", stats)]);
}

interface GenerationFacts {
  readonly text: string;
  readonly stop: string;
  readonly tokens: ArrayLike<number>;
  readonly margins: ArrayLike<number>;
}

function shownGenerations(batch: {
  readonly generations: readonly GenerationFacts[];
  readonly stats: object;
}): Shown {
  const rows = batch.generations.map(({ text, stop, tokens, margins }, request) => ({
    request,
    text,
    tokens: tokens.length,
    "ended by": stop,
    "smallest margin": margins.length === 0 ? null : Math.min(...Array.from(margins)),
  }));
  const table = { caption: `answers (${rows.length})`, limit: 50 };
  return stacked([
    { html: tableHtml(rows, table), text: tableText(rows, table) },
    htmlResult("cost", batch.stats),
  ]);
}

interface ModelFacts {
  readonly info: { readonly name: string };
  describe(): Readonly<Record<string, string>>;
  hookPoints(): Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** HTML and text, by its shape. */
export const isShown = (value: object): value is Shown =>
  typeof (value as Fields).html === "string" && typeof (value as Fields).text === "string";

const isModel = (value: object): value is ModelFacts => {
  const { info, describe, hookPoints } = value as Fields;
  return isRow(info) && typeof describe === "function" && typeof hookPoints === "function";
};

const isPrompt = (value: object): value is PromptFacts => {
  const { pieces, tokens, spans } = value as Fields;
  return Array.isArray(pieces) && ArrayBuffer.isView(tokens) && isRow(spans);
};

function isActivation(value: unknown): value is ActivationFacts {
  if (typeof value !== "object" || value === null) return false;
  const { hook, positions, width, data } = value as Fields;
  return (
    isRow(hook) && ArrayBuffer.isView(positions) && typeof width === "number" && data instanceof Float32Array
  );
}

const isResult = (value: object): value is ResultFacts => {
  const { captures, logits } = value as Fields;
  return Array.isArray(captures) && captures.every(isActivation) && (captures.length > 0 || isRow(logits));
};

const isEvaluation = (value: object): value is EvaluationFacts => {
  const { results, stats } = value as Fields;
  return Array.isArray(results) && results.every((one) => isRow(one) && "captures" in one) && isRow(stats);
};

const isGenerations = (value: object): value is { generations: GenerationFacts[]; stats: object } => {
  const { generations, stats } = value as Fields;
  return (
    Array.isArray(generations) && generations.every((one) => isRow(one) && "margins" in one) && isRow(stats)
  );
};

/** A result of an assay, or several of them under `results`. */
const hasProvenance = (value: object): boolean => {
  const { provenance, results } = value as Fields;
  if (Array.isArray(results))
    return results.length > 0 && results.every((one) => isRow(one) && hasProvenance(one));
  return isRow(provenance) && "date" in provenance && "package" in provenance;
};
