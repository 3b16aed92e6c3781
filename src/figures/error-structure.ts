/**
 * Fewer errors, and more of them off by a round number, as models grow (first paper, Table 5).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows } from "./figure-spec.js";
import { formatPercent } from "./format-number.js";
import { errorBars } from "./interval.js";
import { BLUE, PALE_GREY } from "./palette.js";
import { panelGrid, panelTitle } from "./panels.js";

/** How many of a model's errors are multiples of ten. */
export interface ErrorStructureRow {
  readonly model: string;
  readonly errors: number;
  /** Errors whose size is 10, 20, ..., 100. */
  readonly structured: number;
  /** Interval of structured / errors. */
  readonly low?: number;
  readonly high?: number;
}

/** Left: errors, structured and other, stacked. Right: the structured share with its interval. Models as given. */
export function errorStructure(rows: readonly ErrorStructureRow[], options: FigureOptions = {}): FigureSpec {
  requireRows("error-structure", rows, "errors", "structured");
  const bad = rows.find((row) => row.structured > row.errors || row.structured < 0);
  if (bad)
    throw new Error(
      `error-structure: ${bad.model} has ${bad.structured} structured of ${bad.errors} errors; expected at most as many`,
    );
  const width = options.width ?? "double";
  const panels = panelGrid(2, 2, { gapX: 0.06 });
  const [left, right] = [panels[0]!, panels[1]!];
  const models = rows.map((row) => escapeLabel(row.model));
  const some = rows.filter((row) => row.errors > 0);
  const shares = some.map((row) => ({
    x: 0,
    y: row.structured / row.errors,
    ...(row.low === undefined ? {} : { low: row.low }),
    ...(row.high === undefined ? {} : { high: row.high }),
  }));
  const bar = (name: string, values: readonly number[], color: string) => ({
    type: "bar",
    orientation: "h",
    xaxis: left.x,
    yaxis: left.y,
    x: values,
    y: models,
    name,
    marker: { color },
    width: 0.65,
    hovertemplate: `%{y}: %{x:,} ${name}<extra></extra>`,
  });
  const category = {
    type: "category",
    categoryorder: "array",
    categoryarray: models,
    range: [models.length - 0.4, -0.6],
    ticks: "",
    showgrid: false,
  };
  const most = Math.max(1, ...rows.map((row) => row.errors));
  return figure(
    {
      kind: "error-structure",
      caption:
        "Multiplication errors by model: how many, and which share is off by 10, 20, …, 100 (structured), with intervals.",
      width,
      height: rows.length * 20 + 92,
      data: [
        bar(
          "structured",
          rows.map((row) => row.structured),
          BLUE,
        ),
        bar(
          "other",
          rows.map((row) => row.errors - row.structured),
          PALE_GREY,
        ),
        {
          type: "scatter",
          mode: "markers",
          xaxis: right.x,
          yaxis: right.y,
          x: shares.map((share) => share.y),
          y: some.map((row) => escapeLabel(row.model)),
          error_x: { ...errorBars(shares), color: BLUE },
          marker: { color: BLUE, size: 6 },
          text: some.map(
            (row) =>
              `${escapeLabel(row.model)}: ${row.structured} of ${row.errors} (${formatPercent(row.structured / row.errors)})`,
          ),
          hovertemplate: "%{text}<extra></extra>",
          showlegend: false,
        },
      ],
      layout: {
        barmode: "stack",
        showlegend: true,
        legend: { y: 1 + 22 / (rows.length * 20), traceorder: "normal" },
        margin: { l: 40, r: 12, t: 40, b: 30 },
        annotations: [
          panelTitle(left, "errors"),
          panelTitle(right, "structured share"),
          ...rows.map((row) => ({
            text: row.errors.toLocaleString("en-US"),
            x: row.errors,
            y: escapeLabel(row.model),
            xref: left.x,
            yref: left.y,
            xanchor: "left",
            xshift: 2,
            font: { size: 8.5 },
          })),
        ],
        [left.xaxis]: {
          domain: left.domainX,
          anchor: left.y,
          range: [0, most * 1.14],
          nticks: 5,
          title: { text: "errors on the grid" },
        },
        [left.yaxis]: { ...category, domain: left.domainY, anchor: left.x },
        [right.xaxis]: {
          domain: right.domainX,
          anchor: right.y,
          range: [-0.02, 1.02],
          tickformat: ".0%",
          showgrid: true,
          title: { text: "share of errors" },
        },
        [right.yaxis]: { ...category, domain: right.domainY, anchor: right.x, showticklabels: false },
      },
      rows: rows.map((row) => ({ ...row, share: row.errors > 0 ? row.structured / row.errors : null })),
    },
    options,
  );
}
