/**
 * A prompt as a strip of tokens, each coloured by one value: a margin, an attention weight, an effect.
 */
import { colorBar, rectanglesTrace } from "./cells.js";
import { escapeLabel, shorten, visibleToken } from "./escape-html.js";
import {
  columnPixels,
  type FigureOptions,
  type FigureSpec,
  figure,
  requireRows,
  type Trace,
} from "./figure-spec.js";
import { colorAt, DIVERGING, inkOn, SEQUENTIAL } from "./palette.js";
import { MONO } from "./theme.js";

/** One token and its value. */
export interface TokenValueRow {
  readonly token: string;
  /** null: the token has none, and stays grey. */
  readonly value: number | null;
}

export interface TokenStripOptions extends FigureOptions {
  /** What the value is, with its unit. Default `value`. */
  readonly valueName?: string;
  /** Ends of the colour scale. Default: 0 (or the symmetric opposite, with negative values) to the largest. */
  readonly domain?: readonly [number, number];
}

const CHARACTER = 5.5;
const LINE = 20;

/**
 * Tokens in reading order, wrapped at the figure's width, one box each; the scale diverges around 0 where values are
 * negative. No rows, or no value at all, is an error. Wide scripts are given two columns a character.
 */
export function tokenStrip(rows: readonly TokenValueRow[], options: TokenStripOptions = {}): FigureSpec {
  requireRows("token-strip", rows);
  const values = rows.map((row) => row.value).filter((v): v is number => v !== null && Number.isFinite(v));
  if (values.length === 0) throw new Error("token-strip: no row has a finite value; expected at least one");
  const width = options.width ?? "double";
  const most = Math.max(...values.map(Math.abs)) || 1;
  const diverges = (options.domain?.[0] ?? Math.min(...values)) < 0;
  const domain = options.domain ?? (diverges ? ([-most, most] as const) : ([0, most] as const));
  const scale = diverges ? DIVERGING : SEQUENTIAL;
  const valueName = options.valueName ?? "value";

  const room = columnPixels(width) - 66;
  const boxes: { x0: number; x1: number; y: number; color: string; text: string; hover: string }[] = [];
  let [x, line] = [0, 0];
  rows.forEach((row, i) => {
    const text = shorten(visibleToken(row.token), 24);
    const box = columns(text) * CHARACTER + 6;
    if (x > 0 && x + box > room) [x, line] = [0, line + 1];
    const t = row.value === null ? Number.NaN : (row.value - domain[0]) / (domain[1] - domain[0]);
    const color = row.value === null ? "#e4e4e4" : colorAt(scale, Math.round(t * 40) / 40);
    const said = row.value === null ? "none" : Number(row.value.toPrecision(4));
    boxes.push({
      x0: x,
      x1: x + box - 2,
      y: -line,
      color,
      text: escapeLabel(text),
      hover: `token ${i} ${escapeLabel(visibleToken(row.token))}<br>${escapeLabel(valueName)}: ${said}`,
    });
    x += box;
    if (row.token.endsWith("\n")) [x, line] = [0, line + 1];
  });
  const lines = 1 - Math.min(...boxes.map((box) => box.y));
  const colors = [...new Set(boxes.map((box) => box.color))];
  const fills = colors.map((color) =>
    rectanglesTrace(
      boxes.filter((box) => box.color === color).map((b) => [b.x0, b.x1, b.y - 0.38, b.y + 0.38] as const),
      color,
    ),
  );
  const words: Trace = {
    type: "scatter",
    mode: "text",
    x: boxes.map((box) => (box.x0 + box.x1) / 2),
    y: boxes.map((box) => box.y),
    text: boxes.map((box) => box.text),
    textfont: { family: MONO, size: 9, color: boxes.map((box) => inkOn(box.color)) },
    customdata: boxes.map((box) => box.hover),
    hovertemplate: "%{customdata}<extra></extra>",
    showlegend: false,
  };
  const hidden = { visible: false, fixedrange: true };
  return figure(
    {
      kind: "token-strip",
      caption: `Tokens of the prompt in reading order, coloured by ${valueName} (n = ${values.length} tokens with a value).`,
      width,
      height: Math.max(70, lines * LINE + 16),
      narrowest: columnPixels(width) * 0.97,
      data: [...fills, words, colorBar({ scale, domain }, escapeLabel(valueName), { nticks: 4 })],
      layout: {
        margin: { l: 4, r: 8, t: 8, b: 8 },
        xaxis: { ...hidden, range: [0, room] },
        yaxis: { ...hidden, range: [-lines + 0.5, 0.5] },
      },
      rows: rows.map((row, position) => ({ position, token: row.token, [valueName]: row.value })),
    },
    options,
  );
}

/** Columns of monospaced text: characters of wide scripts take two. */
function columns(text: string): number {
  return Array.from(text).reduce(
    (sum, c) =>
      sum +
      (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
        c,
      )
        ? 2
        : 1),
    0,
  );
}
