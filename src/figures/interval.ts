/**
 * Estimates with their uncertainty: a line in its band, and dots with bars.
 */
import type { Trace } from "./figure-spec.js";
import { withAlpha } from "./palette.js";

export interface Estimate {
  readonly x: number;
  readonly y: number;
  /** Ends of the interval; left out or NaN where there is none. */
  readonly low?: number;
  readonly high?: number;
}

export interface LineStyle {
  /** Escaped already. */
  readonly name: string;
  readonly color: string;
  readonly dash?: "solid" | "dot" | "dash";
  readonly markers?: boolean;
  readonly width?: number;
  readonly xaxis?: string;
  readonly yaxis?: string;
  readonly showlegend?: boolean;
  /** One text a point, shown on hover, escaped already. */
  readonly hover?: readonly string[];
}

/** A line through estimates, its intervals a band of the same colour behind it. */
export function lineWithBand(estimates: readonly Estimate[], style: LineStyle): Trace[] {
  const axes = { xaxis: style.xaxis ?? "x", yaxis: style.yaxis ?? "y" };
  const banded = estimates.filter((e) => Number.isFinite(e.low) && Number.isFinite(e.high));
  const band: Trace[] =
    banded.length < 2
      ? []
      : [
          {
            type: "scatter",
            mode: "lines",
            ...axes,
            x: [...banded.map((e) => e.x), ...banded.map((e) => e.x).reverse()],
            y: [...banded.map((e) => e.high!), ...banded.map((e) => e.low!).reverse()],
            fill: "toself",
            fillcolor: withAlpha(style.color, 0.18),
            line: { width: 0 },
            hoverinfo: "skip",
            showlegend: false,
            legendgroup: style.name,
          },
        ];
  return [
    ...band,
    {
      type: "scatter",
      mode: style.markers === false ? "lines" : "lines+markers",
      ...axes,
      x: estimates.map((e) => e.x),
      y: estimates.map((e) => e.y),
      name: style.name,
      legendgroup: style.name,
      showlegend: style.showlegend ?? true,
      line: { color: style.color, dash: style.dash ?? "solid", width: style.width ?? 1.5 },
      marker: { color: style.color, size: 4 },
      ...(style.hover ? { text: style.hover, hovertemplate: "%{text}<extra></extra>" } : {}),
    },
  ];
}

/** Plotly's error bars of estimates, on either axis; points without an interval get none. */
export function errorBars(estimates: readonly Estimate[]): Record<string, unknown> {
  const over = (value: number): number => (Number.isFinite(value) ? Math.max(0, value) : 0);
  return {
    type: "data",
    symmetric: false,
    array: estimates.map((e) => over((e.high ?? Number.NaN) - e.y)),
    arrayminus: estimates.map((e) => over(e.y - (e.low ?? Number.NaN))),
    thickness: 1,
    width: 2,
  };
}

/** A straight line across a panel at a value, e.g. a threshold or a boundary. */
export function guideLine(
  axis: "x" | "y",
  value: number,
  options: { color?: string; dash?: string; xref?: string; yref?: string } = {},
): Record<string, unknown> {
  const { color = "#6b6b6b", dash = "dash", xref = "x", yref = "y" } = options;
  const across =
    axis === "x"
      ? { x0: value, x1: value, y0: 0, y1: 1, xref, yref: `${yref} domain` }
      : { y0: value, y1: value, x0: 0, x1: 1, xref: `${xref} domain`, yref };
  return { type: "line", ...across, line: { color, dash, width: 1 }, layer: "below" };
}

/** A shaded stretch of an axis, e.g. the interval of a boundary. */
export function guideSpan(
  from: number,
  to: number,
  options: { color?: string; xref?: string; yref?: string } = {},
): Record<string, unknown> {
  const { color = "#6b6b6b", xref = "x", yref = "y" } = options;
  return {
    type: "rect",
    x0: from,
    x1: to,
    y0: 0,
    y1: 1,
    xref,
    yref: `${yref} domain`,
    fillcolor: withAlpha(color, 0.14),
    line: { width: 0 },
    layer: "below",
  };
}
