/**
 * The one theme of all figures, as a plotly template, in three variants: `light` and `dark` for screens, `print` for
 * export (black ink, white ground). Figures name no ink colour themselves, so a figure changes its variant by
 * changing its template.
 *
 * Rules: text at least 8.5 logical px (6 pt in print); ticks outside, at most a pale grid; the legend stands in a row
 * above the plot, never over data; no title inside the figure (the caption says it).
 */
import { CATEGORIES } from "./palette.js";

/** Colours of a figure: for a light or dark screen, or for print. */
export type Variant = "light" | "dark" | "print";

/** Named, not embedded: the first one that the viewer has is used. */
export const FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";
export const MONO = "Menlo, Consolas, Liberation Mono, DejaVu Sans Mono, monospace";

/** Logical pixels. */
export const SIZE = { text: 10, tick: 9, small: 8.5, line: 1.5, axis: 0.8, marker: 5 } as const;

export interface Inks {
  /** Text and axes. */
  readonly ink: string;
  /** Ticks, notes. */
  readonly muted: string;
  readonly grid: string;
  readonly paper: string;
}

export const INKS: Readonly<Record<Variant, Inks>> = {
  light: { ink: "#1f2328", muted: "#59636e", grid: "#e6e8eb", paper: "#ffffff" },
  dark: { ink: "#e6edf3", muted: "#9da7b1", grid: "#30363d", paper: "#0d1117" },
  print: { ink: "#000000", muted: "#404040", grid: "#e2e2e2", paper: "#ffffff" },
};

/** Plotly template of a variant: a fresh object each time. */
export function theme(variant: Variant = "light"): Record<string, unknown> {
  const { ink, muted, grid, paper } = INKS[variant];
  const axis = {
    automargin: true,
    showline: true,
    linecolor: ink,
    linewidth: SIZE.axis,
    ticks: "outside",
    ticklen: 3,
    tickwidth: SIZE.axis,
    tickcolor: ink,
    tickfont: { size: SIZE.tick, color: muted },
    title: { font: { size: SIZE.text, color: ink }, standoff: 5 },
    gridcolor: grid,
    gridwidth: 0.6,
    zeroline: false,
    separatethousands: true,
    exponentformat: "power",
    minexponent: 5,
  };
  return {
    layout: {
      font: { family: FONT, size: SIZE.text, color: ink },
      paper_bgcolor: paper,
      plot_bgcolor: "rgba(0,0,0,0)",
      colorway: [...CATEGORIES],
      margin: { l: 34, r: 8, t: 8, b: 28 },
      xaxis: { ...axis, showgrid: false },
      yaxis: axis,
      legend: {
        orientation: "h",
        x: 0,
        xanchor: "left",
        y: 1.02,
        yanchor: "bottom",
        font: { size: SIZE.tick, color: ink },
        bgcolor: "rgba(0,0,0,0)",
        itemwidth: 30,
        tracegroupgap: 4,
      },
      annotationdefaults: {
        showarrow: false,
        font: { size: SIZE.tick, color: muted },
      },
      hoverlabel: { font: { family: FONT, size: 11 }, align: "left" },
      hovermode: "closest",
      dragmode: "zoom",
    },
    data: {
      scatter: [
        { line: { width: SIZE.line }, marker: { size: SIZE.marker }, error_y: { thickness: 1, width: 2 } },
      ],
      bar: [
        {
          marker: { line: { width: 0 } },
          error_y: { thickness: 1, width: 2 },
          error_x: { thickness: 1, width: 2 },
        },
      ],
    },
  };
}

/** A layout with another variant of the theme. */
export function withVariant(
  layout: Readonly<Record<string, unknown>>,
  variant: Variant,
): Record<string, unknown> {
  return { ...layout, template: theme(variant) };
}
