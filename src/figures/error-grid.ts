/**
 * Multiplication errors on the n x n grid with the Zero-Error Horizon as a square (first paper, Figure 3).
 */
import { rectanglesTrace } from "./cells.js";
import { escapeLabel } from "./escape-html.js";
import {
  columnPixels,
  type FigureOptions,
  type FigureSpec,
  figure,
  requireRows,
  type Trace,
} from "./figure-spec.js";
import { formatPercent } from "./format-number.js";
import { BLUE, VERMILION } from "./palette.js";
import { panelGrid, panelTitle } from "./panels.js";

/** One model's grid of products. */
export interface ErrorGridRow {
  readonly model: string;
  /** Largest operand: the grid is 1..size by 1..size. */
  readonly size: number;
  /** Zero-Error Horizon; 0 draws no square. */
  readonly horizon: number;
  readonly errors: readonly {
    readonly a: number;
    readonly b: number;
    readonly answer?: string | number | null;
  }[];
}

/** One small grid a model, in the order given. No rows, or an error outside its grid, is an error. */
export function errorGrid(rows: readonly ErrorGridRow[], options: FigureOptions = {}): FigureSpec {
  requireRows("error-grid", rows, "size", "horizon");
  for (const { model, size, errors } of rows) {
    const outside = errors.find(({ a, b }) => !(a >= 1 && a <= size && b >= 1 && b <= size));
    if (outside)
      throw new Error(
        `error-grid: ${model} has an error at ${outside.a} x ${outside.b}; its grid is 1..${size}`,
      );
  }
  const width = options.width ?? (rows.length > 2 ? "double" : "single");
  const columns = Math.min(rows.length, width === "double" ? 4 : 2);
  const lines = Math.ceil(rows.length / columns);
  const [gap, left] = [18, 38];
  const side = Math.min(260, (columnPixels(width) - left - 8 - gap * (columns - 1)) / columns);
  const plot = { width: columns * side + gap * (columns - 1), height: lines * (side + 44) - 44 };
  const panels = panelGrid(rows.length, columns, {
    gapX: gap / plot.width,
    gapY: lines > 1 ? 44 / plot.height : 0,
  });

  const data: Trace[] = [];
  const layout: Record<string, unknown> = {
    margin: { l: left, r: columnPixels(width) - left - plot.width, t: 34, b: 30 },
    annotations: rows.map((row, i) =>
      panelTitle(
        panels[i]!,
        row.model,
        `horizon ${row.horizon}, accuracy ${formatPercent(1 - row.errors.length / row.size ** 2)}`,
      ),
    ),
  };
  rows.forEach((row, i) => {
    const panel = panels[i]!;
    const axes = { xaxis: panel.x, yaxis: panel.y };
    const cells = row.errors.map(({ a, b }) => [a - 0.5, a + 0.5, b - 0.5, b + 0.5] as const);
    if (cells.length > 0) data.push(rectanglesTrace(cells, VERMILION, axes));
    data.push(horizonSquare(row.horizon, axes), hoverPoints(row, axes));
    const axis = {
      range: [0.5, row.size + 0.5],
      tickvals: gridTicks(row.size),
      showgrid: false,
      mirror: true,
      ticklen: 2,
    };
    layout[panel.xaxis] = {
      ...axis,
      domain: panel.domainX,
      anchor: panel.y,
      showticklabels: panel.bottom,
      title: { text: panel.bottom ? "a" : "", standoff: 2 },
    };
    layout[panel.yaxis] = {
      ...axis,
      domain: panel.domainY,
      anchor: panel.x,
      showticklabels: panel.left,
      title: { text: panel.left ? "b" : "", standoff: 2 },
    };
  });
  const instances = [...new Set(rows.map((row) => row.size ** 2))].map((n) => n.toLocaleString("en-US"));
  return figure(
    {
      kind: "error-grid",
      caption: `Errors of a × b (vermilion) on the grid of operands, and the Zero-Error Horizon (blue square: no error inside). n = ${instances.join(" or ")} products a model.`,
      width,
      height: plot.height + 64,
      ...(columns > 1 ? { narrowest: columnPixels(width) * 0.9 } : {}),
      data,
      layout,
      rows: rows.flatMap(({ model, size, horizon, errors }) =>
        errors.map(({ a, b, answer }) => ({
          model,
          size,
          horizon,
          a,
          b,
          expected: a * b,
          answer: answer ?? null,
        })),
      ),
    },
    options,
  );
}

function horizonSquare(horizon: number, axes: Record<string, string>): Trace {
  const end = horizon + 0.5;
  return {
    type: "scatter",
    mode: "lines",
    ...axes,
    x: horizon > 0 ? [0.5, end, end] : [null],
    y: horizon > 0 ? [end, end, 0.5] : [null],
    line: { color: BLUE, width: 1.6 },
    fill: "none",
    cliponaxis: false,
    hoverinfo: "skip",
    showlegend: false,
  };
}

function hoverPoints(row: ErrorGridRow, axes: Record<string, string>): Trace {
  return {
    type: "scatter",
    mode: "markers",
    ...axes,
    x: row.errors.map((e) => e.a),
    y: row.errors.map((e) => e.b),
    marker: { opacity: 0, size: 4 },
    text: row.errors.map(
      (e) => `${e.a} × ${e.b} = ${e.a * e.b}, answered ${escapeLabel(e.answer ?? "no integer")}`,
    ),
    hovertemplate: "%{text}<extra></extra>",
    showlegend: false,
    meta: { role: "hover" },
  };
}

/** 1, the end, and round numbers between that keep their distance from it. */
function gridTicks(size: number): number[] {
  const step = size > 120 ? 50 : size > 60 ? 25 : size > 24 ? 10 : 5;
  const between = Array.from({ length: Math.floor(size / step) }, (_, i) => (i + 1) * step);
  return [1, ...between.filter((tick) => size - tick >= step * 0.6), ...(size > 1 ? [size] : [])];
}
