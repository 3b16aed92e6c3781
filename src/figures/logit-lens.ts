/**
 * Logit lens: what each layer would answer at each token, were its residual stream read out directly.
 */
import { cellTraces, colorBar } from "./cells.js";
import { escapeLabel, shorten, visibleToken } from "./escape-html.js";
import { columnPixels, type FigureOptions, type FigureSpec, figure, requireRows } from "./figure-spec.js";
import { SEQUENTIAL } from "./palette.js";
import { MONO } from "./theme.js";

/** One cell of the lens. */
export interface LogitLensRow {
  readonly layer: number;
  /** Position of the token in the prompt. */
  readonly position: number;
  /** The prompt's token at this position. */
  readonly token: string;
  /** What the layer would answer: its most probable next token. */
  readonly top: string;
  /** The number behind the cell's colour: of `top`, or of a target token (`options.value`). */
  readonly value: number;
}

export interface LogitLensOptions extends FigureOptions {
  /** What `value` is: decides the colour bar. Ranks count from 1 and are drawn on a logarithmic scale. Default `probability`. */
  readonly value?: "probability" | "logit" | "rank";
  /** The token that `value` belongs to. Default: each cell's own top token. */
  readonly target?: string;
  /** Model's name, for the caption. */
  readonly model?: string;
}

/**
 * Heatmap of layers (bottom to top) by tokens. Cells show their top token where they are large enough, else on hover.
 * Missing (layer, position) pairs stay empty; no rows, or a value that is not finite, is an error.
 */
export function logitLens(rows: readonly LogitLensRow[], options: LogitLensOptions = {}): FigureSpec {
  requireRows("logit-lens", rows, "layer", "position", "value");
  const kind = options.value ?? "probability";
  const width = options.width ?? "double";
  const layers = [...new Set(rows.map((row) => row.layer))].sort((a, b) => a - b);
  const positions = [...new Set(rows.map((row) => row.position))].sort((a, b) => a - b);
  const at = new Map(rows.map((row) => [`${row.layer} ${row.position}`, row]));
  const tokens = positions.map((p) => rows.find((row) => row.position === p)!.token);
  const matrix = layers.map((layer) => positions.map((position) => at.get(`${layer} ${position}`)));

  const drawn = (value: number): number => (kind === "rank" ? -Math.log10(Math.max(1, value)) : value);
  const values = matrix.map((row) => row.map((cell) => (cell ? drawn(cell.value) : null)));
  const flat = values.flat().filter((v): v is number => v !== null);
  const domain: [number, number] =
    kind === "probability"
      ? [0, 1]
      : kind === "rank"
        ? [Math.min(-1, ...flat), 0]
        : [Math.min(...flat), Math.max(...flat)];

  // A monospaced character is about 0.6 of its size wide.
  const cellWidth = (columnPixels(width) - 110) / positions.length;
  const cellHeight = layers.length > 40 ? 9 : 13;
  const textSize = Math.min(8.5, cellHeight - 2);
  const characters = Math.floor((cellWidth - 3) / (textSize * 0.6));
  const of = options.target === undefined ? "top token" : escapeLabel(`"${visibleToken(options.target)}"`);
  const hover = matrix.map((row, r) =>
    row.map((cell, c) =>
      cell
        ? `layer ${layers[r]}, token ${positions[c]} ${escapeLabel(visibleToken(cell.token))}<br>top: <b>${escapeLabel(visibleToken(cell.top))}</b><br>${kind} of ${of}: ${Number(cell.value.toPrecision(4))}`
        : "",
    ),
  );
  const cells = {
    values,
    scale: SEQUENTIAL,
    domain,
    textSize,
    textFont: MONO,
    textNeeds: columnPixels(width),
    hover,
    ...(characters >= 3
      ? {
          text: matrix.map((row) =>
            row.map((cell) => (cell ? escapeLabel(shorten(visibleToken(cell.top), characters)) : "")),
          ),
        }
      : {}),
  };
  const every = Math.max(1, Math.ceil(11 / cellWidth));
  const layerEvery = Math.max(1, Math.ceil(layers.length / 16));
  return figure(
    {
      kind: "logit-lens",
      caption:
        options.caption ??
        `Logit lens${options.model ? ` of ${options.model}` : ""}: the most probable next token at each layer (vertical) and token (horizontal); colour: ${kind} of ${options.target === undefined ? "that token" : `"${visibleToken(options.target)}"`}. ${layers.length} layers, ${positions.length} tokens.`,
      width,
      height: layers.length * cellHeight + 90,
      data: [
        ...cellTraces(cells),
        colorBar(cells, `${kind} of ${of}`, kind === "rank" ? rankTicks(domain[0]) : {}),
      ],
      layout: {
        xaxis: {
          title: { text: "token" },
          tickvals: positions.map((_, i) => i).filter((i) => i % every === 0),
          ticktext: tokens
            .map((token) => escapeLabel(shorten(visibleToken(token), 10)))
            .filter((_, i) => i % every === 0),
          tickangle: tokens.every((token) => columnsOf(token) * 5.3 <= cellWidth * every) ? 0 : -60,
          tickfont: { family: MONO, size: 8.5 },
          range: [-0.5, positions.length - 0.5],
          showline: false,
        },
        yaxis: {
          title: { text: "layer" },
          tickvals: layers.map((_, i) => i).filter((i) => i % layerEvery === 0),
          ticktext: layers.map(String).filter((_, i) => i % layerEvery === 0),
          range: [-0.5, layers.length - 0.5],
          showgrid: false,
          showline: false,
        },
      },
      rows: rows.map(({ layer, position, token, top, value }) => ({
        layer,
        position,
        token,
        top,
        [kind]: value,
      })),
    },
    options,
  );
}

/** Characters of a tick label. */
function columnsOf(token: string): number {
  return Math.min(10, Array.from(visibleToken(token)).length);
}

function rankTicks(lowest: number): Record<string, unknown> {
  const decades = Array.from({ length: Math.floor(-lowest) + 1 }, (_, i) => -i);
  return { tickvals: decades, ticktext: decades.map((d) => (10 ** -d).toLocaleString("en-US")) };
}
