/**
 * Predicted against true count: the diagonal while counting holds, bands of favourite numbers after (second paper,
 * Figures 2a, 2d and 4a).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { guideLine, guideSpan } from "./interval.js";
import { category, GREY } from "./palette.js";

/** One answer at a count. */
export interface CountingRow {
  /** True count. */
  readonly count: number;
  /** null: the answer had no integer. */
  readonly predicted: number | null;
  /** Name of the model or condition, where there are several. */
  readonly series?: string;
}

export interface CountingCurveOptions extends FigureOptions {
  /** Count from which answers are wrong: a dashed line. */
  readonly boundary?: number;
  /** Its interval, shaded. */
  readonly boundaryInterval?: readonly [number, number];
  /** Largest prediction drawn in place; larger ones stand as triangles at the top. Default: what holds 95 % of the
   * predictions, and at most 2.5 x the largest count. */
  readonly limit?: number;
}

/** Scatter of predictions over counts. Answers without an integer stand as crosses on the bottom line. */
export function countingCurve(rows: readonly CountingRow[], options: CountingCurveOptions = {}): FigureSpec {
  requireRows("counting-curve", rows, "count");
  const most = Math.max(...rows.map((row) => row.count));
  const predictions = rows.map((row) => row.predicted).filter((p): p is number => p !== null);
  const usual = [...predictions].sort((a, b) => a - b)[Math.ceil(0.95 * predictions.length) - 1] ?? 0;
  const limit = options.limit ?? Math.min(2.5 * most, 1.2 * usual);
  const top = Math.max(most, Math.min(limit, Math.max(0, ...predictions)));
  const series = [...new Set(rows.map((row) => row.series ?? ""))];
  const over = predictions.filter((p) => p > top).length;
  const without = rows.length - predictions.length;
  const points = (name: string, s: number): Trace => {
    const own = rows.filter((row) => (row.series ?? "") === name && row.predicted !== null);
    return {
      type: "scatter",
      mode: "markers",
      x: own.map((row) => row.count),
      y: own.map((row) => Math.min(row.predicted!, top)),
      customdata: own.map((row) => row.predicted!),
      name: escapeLabel(name || "predicted"),
      marker: {
        size: rows.length > 400 ? 3 : 4.5,
        color: category(s),
        opacity: rows.length > 400 ? 0.6 : 0.85,
        symbol: own.map((row) => (row.predicted! > top ? "triangle-up" : "circle")),
      },
      cliponaxis: false,
      hovertemplate: "true %{x}, predicted %{customdata}<extra></extra>",
    };
  };
  const silent: Trace[] =
    without === 0
      ? []
      : [
          {
            type: "scatter",
            mode: "markers",
            x: rows.filter((row) => row.predicted === null).map((row) => row.count),
            y: Array.from({ length: without }, () => 0),
            name: `no integer (${without})`,
            marker: { symbol: "x-thin", size: 5, line: { width: 1.2, color: GREY } },
            cliponaxis: false,
            hovertemplate: "true %{x}, no integer<extra></extra>",
          },
        ];
  const diagonal: Trace = {
    type: "scatter",
    mode: "lines",
    x: [0, most],
    y: [0, most],
    name: "exact",
    line: { color: GREY, width: 1 },
    hoverinfo: "skip",
  };
  const { boundary, boundaryInterval } = options;
  return figure(
    {
      kind: "counting-curve",
      caption: `Predicted against true count (n = ${rows.length.toLocaleString("en-US")} answers${without > 0 ? `, ${without} without an integer` : ""}${over > 0 ? `, ${over} above the axis (triangles)` : ""}); grey line: exact${boundary === undefined ? "" : `; dashed: first error at ${boundary}`}.`,
      width: options.width ?? "single",
      height: 260,
      data: [diagonal, ...series.map(points), ...silent],
      layout: {
        showlegend: true,
        xaxis: { title: { text: "true count (items)" }, range: [0, most * 1.03] },
        yaxis: { title: { text: "predicted count (items)" }, range: [0, top * 1.05] },
        shapes: [
          ...(boundaryInterval ? [guideSpan(...boundaryInterval)] : []),
          ...(boundary === undefined ? [] : [guideLine("x", boundary)]),
        ],
      },
      rows: rows.map(({ series: name, count, predicted }) => ({
        ...(name === undefined ? {} : { series: name }),
        count,
        predicted,
      })),
    },
    options,
  );
}
