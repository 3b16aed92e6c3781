/**
 * A matrix as vector cells. Plotly's own heatmap becomes a raster `<image>` inside an SVG, so cells are drawn as
 * filled paths, one trace a colour (at most `BINS`), neighbours of one colour in a row merged; 9,801 cells are a few
 * dozen traces. An invisible heatmap over them, marked `hover`, answers the mouse in the live figure and is left out
 * of exports.
 */
import type { Trace } from "./figure-spec.js";
import { colorAt, inkOn, plotlyScale, type Scale } from "./palette.js";
import { FONT } from "./theme.js";

const BINS = 48;

export interface Cells {
  /** `[row, column]` values; NaN is drawn grey, `null` is left empty. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly scale: Scale;
  /** Values of the scale's ends; outside they take the end's colour. */
  readonly domain: readonly [number, number];
  /** `[row, column]` text in the cells, escaped already. */
  readonly text?: readonly (readonly string[])[];
  /** Logical px of the cells' text. Default 8.5. */
  readonly textSize?: number;
  /** Default: the theme's. */
  readonly textFont?: string;
  /** Logical px of figure width below which the text would not fit its cells: narrower exports leave it out. */
  readonly textNeeds?: number;
  /** `[row, column]` text on hover, escaped already. */
  readonly hover?: readonly (readonly string[])[];
  /** Axis references of the subplot, e.g. `x2`. Default `x` and `y`. */
  readonly xaxis?: string;
  readonly yaxis?: string;
}

/** Traces of a matrix: cell (row, column) covers column ± 0.5 on x and row ± 0.5 on y. */
export function cellTraces(cells: Cells): Trace[] {
  const axes = { xaxis: cells.xaxis ?? "x", yaxis: cells.yaxis ?? "y" };
  const paths = new Map<string, { x: (number | null)[]; y: (number | null)[] }>();
  cells.values.forEach((row, r) => {
    for (let start = 0; start < row.length; ) {
      const color = cellColor(cells, row[start] ?? null);
      let end = start + 1;
      while (end < row.length && cellColor(cells, row[end] ?? null) === color) end++;
      if (color !== undefined) {
        const path = paths.get(color) ?? { x: [], y: [] };
        paths.set(color, path);
        rectangle(path, start - 0.5, end - 0.5, r - 0.5, r + 0.5);
      }
      start = end;
    }
  });
  const traces: Trace[] = [...paths].map(([color, path]) => ({
    type: "scatter",
    mode: "lines",
    ...axes,
    ...path,
    fill: "toself",
    fillcolor: color,
    // A hairline of the cell's own colour closes the seams that antialiasing leaves between neighbours.
    line: { color, width: 0.4, simplify: false },
    hoverinfo: "skip",
    showlegend: false,
  }));
  if (cells.text) traces.push(textTrace(cells, cells.text, axes));
  if (cells.hover) traces.push(hoverTrace(cells, cells.hover, axes));
  return traces;
}

/** The colour bar of a scale, as the marker of a trace without points: vector in every export. */
export function colorBar(
  cells: Pick<Cells, "scale" | "domain">,
  title: string,
  bar: Readonly<Record<string, unknown>> = {},
): Trace {
  return {
    type: "scatter",
    mode: "markers",
    x: [null],
    y: [null],
    hoverinfo: "skip",
    showlegend: false,
    marker: {
      size: 1,
      color: [cells.domain[0]],
      cmin: cells.domain[0],
      cmax: cells.domain[1],
      colorscale: plotlyScale(cells.scale),
      showscale: true,
      colorbar: {
        title: { text: title, side: "right", font: { size: 9 } },
        tickfont: { size: 9 },
        thickness: 8,
        len: 1,
        lenmode: "fraction",
        outlinewidth: 0,
        ticklen: 3,
        ticks: "outside",
        xpad: 4,
        ypad: 0,
        ...bar,
      },
    },
  };
}

/** One filled path through rectangles `[x0, x1, y0, y1]`. */
export function rectanglesTrace(
  rectangles: readonly (readonly [number, number, number, number])[],
  color: string,
  more: Readonly<Record<string, unknown>> = {},
): Trace {
  const path = { x: [] as (number | null)[], y: [] as (number | null)[] };
  for (const [x0, x1, y0, y1] of rectangles) rectangle(path, x0, x1, y0, y1);
  return {
    type: "scatter",
    mode: "lines",
    ...path,
    fill: "toself",
    fillcolor: color,
    line: { color, width: 0.3, simplify: false },
    hoverinfo: "skip",
    showlegend: false,
    ...more,
  };
}

function cellColor(cells: Cells, value: number | null): string | undefined {
  if (value === null) return undefined;
  const [low, high] = cells.domain;
  const t = high === low ? 0.5 : (value - low) / (high - low);
  return colorAt(
    cells.scale,
    Number.isNaN(t) ? t : Math.round(Math.min(1, Math.max(0, t)) * (BINS - 1)) / (BINS - 1),
  );
}

function rectangle(
  path: { x: (number | null)[]; y: (number | null)[] },
  x0: number,
  x1: number,
  y0: number,
  y1: number,
): void {
  if (path.x.length > 0) {
    path.x.push(null);
    path.y.push(null);
  }
  path.x.push(x0, x1, x1, x0, x0);
  path.y.push(y0, y0, y1, y1, y0);
}

function textTrace(cells: Cells, text: readonly (readonly string[])[], axes: Record<string, string>): Trace {
  const x: number[] = [];
  const y: number[] = [];
  const shown: string[] = [];
  const colors: string[] = [];
  text.forEach((row, r) => {
    row.forEach((word, c) => {
      if (word === "") return;
      x.push(c);
      y.push(r);
      shown.push(word);
      colors.push(inkOn(cellColor(cells, cells.values[r]?.[c] ?? null) ?? "#ffffff"));
    });
  });
  return {
    type: "scatter",
    mode: "text",
    ...axes,
    x,
    y,
    text: shown,
    textfont: { size: cells.textSize ?? 8.5, color: colors, family: cells.textFont ?? FONT },
    hoverinfo: "skip",
    showlegend: false,
    meta: { role: "cell-text", needs: cells.textNeeds ?? 0 },
  };
}

function hoverTrace(
  cells: Cells,
  hover: readonly (readonly string[])[],
  axes: Record<string, string>,
): Trace {
  return {
    type: "heatmap",
    ...axes,
    z: cells.values,
    text: hover,
    hovertemplate: "%{text}<extra></extra>",
    opacity: 0,
    showscale: false,
    meta: { role: "hover" },
  };
}

/** Ticks at the cells of an axis, every n-th where there is no `room` for all of them. */
export function cellTicks(values: readonly number[], room: number): Record<string, unknown> {
  const every = Math.max(1, Math.ceil(values.length / room));
  const kept = values.map((value, i) => ({ value, i })).filter(({ i }) => i % every === 0);
  return { tickvals: kept.map(({ i }) => i), ticktext: kept.map(({ value }) => String(value)) };
}
