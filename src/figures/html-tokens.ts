/**
 * A prompt token by token: every token a box, coloured by a value or plain, spans marked underneath. Pure HTML with
 * its styles inline, so that it survives in saved notebooks; every text escaped.
 */
import { escapeHtml, visibleToken } from "./escape-html.js";
import { type MimeBundle, richly } from "./notebook-display.js";
import { category, colorAt, DIVERGING, inkOn, SEQUENTIAL, withAlpha } from "./palette.js";

/** Something that shows itself in a notebook: HTML there, text in a terminal. */
export interface Shown {
  readonly html: string;
  readonly text: string;
}

/** One token to be drawn. */
export interface TokenPiece {
  readonly text: string;
  readonly id?: number;
  /** A control token (beginning of text, start of a turn): set apart. */
  readonly special?: boolean;
}

/** Named token positions. */
export interface TokenSpan {
  readonly name: string;
  /** Token positions; each is underlined. */
  readonly positions: readonly number[];
}

/** Spans and values of a token strip in HTML. */
export interface HtmlTokensOptions {
  readonly spans?: readonly TokenSpan[];
  /** One value a token colours it; NaN leaves it plain. Negative values make the scale diverge around 0. */
  readonly values?: readonly number[] | Float32Array;
  /** What the values are, with their unit. */
  readonly valueName?: string;
}

/** Tokens as HTML and as text. No tokens give an empty box; a list of values of another length is an error. */
export function htmlTokens(pieces: readonly TokenPiece[], options: HtmlTokensOptions = {}): Shown {
  const { spans = [], values } = options;
  if (values && values.length !== pieces.length) {
    throw new Error(`htmlTokens: ${values.length} values for ${pieces.length} tokens; expected one a token`);
  }
  const color = values ? colorOf(Array.from(values)) : () => undefined;
  const marks = pieces.map((_, i) => spans.flatMap((span, s) => (span.positions.includes(i) ? [s] : [])));
  const boxes = pieces.map((piece, i) => tokenBox(piece, i, color(i), marks[i]!, options));
  const legend = spans.map(
    (span, s) =>
      `<span style="margin-right:1.2em;border-bottom:3px solid ${category(s)}">${escapeHtml(span.name)} (${span.positions.length})</span>`,
  );
  const what =
    options.valueName === undefined
      ? ""
      : `<span style="opacity:.7">colour: ${escapeHtml(options.valueName)}</span>`;
  const html =
    `<div class="countlens-tokens" style="line-height:2.1;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12.5px;max-width:60rem">` +
    `${boxes.join("")}<div style="margin-top:.6em;font-family:system-ui,sans-serif">${legend.join("")}${what}</div></div>`;
  const text = pieces.map((piece) => visibleToken(piece.text)).join("|");
  return richly({ html, text }, shownBundle);
}

/** The MIME bundle of something shown. */
export function shownBundle(shown: Shown): MimeBundle {
  return { "text/html": shown.html, "text/plain": shown.text };
}

function colorOf(values: readonly number[]): (i: number) => string | undefined {
  const finite = values.filter(Number.isFinite);
  const most = Math.max(...finite.map(Math.abs), 1e-12);
  const low = Math.min(...finite, 0);
  return (i) => {
    const value = values[i]!;
    if (!Number.isFinite(value)) return undefined;
    return low < 0 ? colorAt(DIVERGING, (value / most + 1) / 2) : colorAt(SEQUENTIAL, value / most);
  };
}

function tokenBox(
  piece: TokenPiece,
  i: number,
  color: string | undefined,
  marks: readonly number[],
  options: HtmlTokensOptions,
): string {
  const facts = [
    `token ${i}`,
    piece.id === undefined ? "" : `id ${piece.id}`,
    ...marks.map((s) => options.spans![s]!.name),
  ];
  if (options.values)
    facts.push(`${options.valueName ?? "value"} ${Number(options.values[i]!.toPrecision(4))}`);
  const lines = marks.map((s, k) => `inset 0 -${3 * (k + 1)}px 0 ${category(s)}`).reverse();
  const style = [
    "display:inline-block;white-space:pre;line-height:1.45;margin:0 1px;padding:1px 3px 4px;border-radius:3px",
    color ? `background:${color};color:${inkOn(color)}` : `background:${withAlpha("#808080", 0.12)}`,
    piece.special ? "opacity:.6;font-style:italic" : "",
    lines.length > 0 ? `box-shadow:${lines.reverse().join(",")}` : "",
  ];
  const title = escapeHtml(facts.filter((fact) => fact !== "").join(" · "));
  const breaks = /\n$/.test(piece.text) ? "<br>" : "";
  return `<span title="${title}" style="${style.filter((s) => s !== "").join(";")}">${escapeHtml(visibleToken(piece.text))}</span>${breaks}`;
}
