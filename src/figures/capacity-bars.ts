/**
 * Counting capacities of several models (second paper, Figure 1c), with the bracket each was found in.
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows } from "./figure-spec.js";
import { errorBars } from "./interval.js";
import { BLUE } from "./palette.js";

/** One model's capacity. */
export interface CapacityBarRow {
  readonly model: string;
  /** Items; 0 stands for below the first tier. */
  readonly capacity: number;
  /** The capacity as it is called: `416`, `<32`, `>=512`. */
  readonly label: string;
  /** Lowest failed tier, or the end of an interval over seeds. */
  readonly high?: number;
  /** Start of an interval over seeds. */
  readonly low?: number;
  /** Ladders behind it. Default 1. */
  readonly ladders?: number;
}

/** Bars from the top in the order given, the capacity written at each; thin bar: the bracket or interval. */
export function capacityBars(rows: readonly CapacityBarRow[], options: FigureOptions = {}): FigureSpec {
  requireRows("capacity-bars", rows, "capacity");
  const models = rows.map((row) => escapeLabel(row.model));
  const estimates = rows.map((row) => ({
    x: 0,
    y: row.capacity,
    low: row.low ?? row.capacity,
    high: row.high ?? row.capacity,
  }));
  const most = Math.max(1, ...estimates.map((e) => Math.max(e.high, e.y)));
  const ladders = [...new Set(rows.map((row) => row.ladders ?? 1))];
  return figure(
    {
      kind: "capacity-bars",
      caption: `Stable Counting Capacity of ${rows.length} models, with bracket or interval (n = ${ladders.length === 1 ? ladders[0] : `${Math.min(...ladders)} to ${Math.max(...ladders)}`} ladders a model); below the first tier is drawn as 0.`,
      width: options.width ?? "single",
      height: rows.length * 18 + 50,
      data: [
        {
          type: "bar",
          orientation: "h",
          x: rows.map((row) => row.capacity),
          y: models,
          width: 0.6,
          marker: { color: BLUE },
          error_x: { ...errorBars(estimates), color: "#404040" },
          hovertemplate: "%{y}: %{x} items<extra></extra>",
          showlegend: false,
        },
      ],
      layout: {
        annotations: rows.map((row, i) => ({
          text: escapeLabel(row.label),
          x: Math.max(estimates[i]!.high, row.capacity),
          y: models[i],
          xanchor: "left",
          xshift: 4,
        })),
        xaxis: { title: { text: "capacity (items)" }, range: [0, most * 1.15], showgrid: true },
        yaxis: {
          type: "category",
          categoryorder: "array",
          categoryarray: models,
          range: [models.length - 0.4, -0.6],
          ticks: "",
          showgrid: false,
        },
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
