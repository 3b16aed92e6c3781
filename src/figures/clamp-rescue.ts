/**
 * Clamping: how many failed counts are rescued by moving the state along the count direction, beside a random
 * direction (second paper, Supplementary Note 10).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { formatPercent } from "./format-number.js";
import { errorBars } from "./interval.js";
import { BLUE, GREY } from "./palette.js";

/** One condition of a clamping experiment. */
export interface ClampRow {
  /** Where and how it was clamped: `layer 3`, `layers 2 to 5`, `while generating`. */
  readonly condition: string;
  /** `count` is the probe's direction, `random` a random one with a shift of equal norm. */
  readonly direction: "count" | "random";
  readonly rescued: number;
  readonly trials: number;
  /** Interval of the rate (Wilson). */
  readonly low: number;
  readonly high: number;
}

/** Rescue rates as dots with intervals, the control beside each; counts at the right. */
export function clampRescue(rows: readonly ClampRow[], options: FigureOptions = {}): FigureSpec {
  requireRows("clamp-rescue", rows, "rescued", "trials", "low", "high");
  const bad = rows.find((row) => !(row.trials > 0 && row.rescued <= row.trials));
  if (bad)
    throw new Error(
      `clamp-rescue: ${bad.condition} has ${bad.rescued} rescued of ${bad.trials}; expected at most as many as trials`,
    );
  const conditions = [...new Set(rows.map((row) => row.condition))];
  const trace = (direction: "count" | "random"): Trace => {
    const own = rows.filter((row) => row.direction === direction);
    const estimates = own.map((row) => ({ x: 0, y: row.rescued / row.trials, low: row.low, high: row.high }));
    const color = direction === "count" ? BLUE : GREY;
    return {
      type: "scatter",
      mode: "markers",
      x: estimates.map((e) => e.y),
      y: own.map((row) => conditions.indexOf(row.condition) + (direction === "count" ? -0.16 : 0.16)),
      error_x: { ...errorBars(estimates), color },
      marker: { size: 6, color, symbol: direction === "count" ? "circle" : "diamond-open" },
      name: direction === "count" ? "count direction" : "random direction, equal norm",
      text: own.map(
        (row) =>
          `${escapeLabel(row.condition)}: ${row.rescued} of ${row.trials} (${formatPercent(row.rescued / row.trials)})`,
      ),
      hovertemplate: "%{text}<extra></extra>",
      cliponaxis: false,
    };
  };
  const sides = (["count", "random"] as const).filter((direction) =>
    rows.some((row) => row.direction === direction),
  );
  const counts = rows.map((row) => ({
    text: `${row.rescued}/${row.trials}`,
    x: 1.01,
    xref: "paper",
    y: conditions.indexOf(row.condition) + (row.direction === "count" ? -0.18 : 0.18),
    xanchor: "left",
    font: { size: 8.5, color: row.direction === "count" ? BLUE : GREY },
  }));
  const ns = [...new Set(rows.map((row) => row.trials))];
  return figure(
    {
      kind: "clamp-rescue",
      caption: `Failed counts answered rightly after clamping, with intervals; control: a random direction with a shift of equal norm. n = ${ns.length === 1 ? ns[0] : `${Math.min(...ns)} to ${Math.max(...ns)}`} trials each.`,
      width: options.width ?? "single",
      height: conditions.length * 30 + 80,
      data: sides.map(trace),
      layout: {
        showlegend: true,
        margin: { l: 40, r: 40, t: 8, b: 28 },
        annotations: counts,
        xaxis: {
          title: { text: "rescue rate" },
          range: [-0.02, Math.min(1.02, Math.max(0.2, ...rows.map((row) => row.high)) * 1.05)],
          tickformat: ".0%",
          showgrid: true,
        },
        yaxis: {
          tickvals: conditions.map((_, i) => i),
          ticktext: conditions.map(escapeLabel),
          range: [conditions.length - 0.5, -0.5],
          ticks: "",
          showgrid: false,
        },
      },
      rows: rows.map((row) => ({ ...row, rate: row.rescued / row.trials })),
    },
    options,
  );
}
