/**
 * Small multiples: where each panel lies and what its axes are called.
 */
import { escapeLabel } from "./escape-html.js";

export interface Panel {
  /** Axis references of traces: `x`, `x2`, ... */
  readonly x: string;
  readonly y: string;
  /** Axis keys of the layout: `xaxis`, `xaxis2`, ... */
  readonly xaxis: string;
  readonly yaxis: string;
  /** Position in paper coordinates. */
  readonly domainX: [number, number];
  readonly domainY: [number, number];
  readonly row: number;
  readonly column: number;
  /** Nothing lies to its left, or below: where axis titles belong. */
  readonly left: boolean;
  readonly bottom: boolean;
}

export interface PanelOptions {
  /** Gaps as shares of the whole plot area. Default 0.05 and 0.12. */
  readonly gapX?: number;
  readonly gapY?: number;
  /** Widths of the columns, in any unit. Default equal. */
  readonly widths?: readonly number[];
}

/** `n` panels in rows of `columns`, from the top left. */
export function panelGrid(n: number, columns: number, options: PanelOptions = {}): Panel[] {
  const { gapX = 0.05, gapY = 0.12 } = options;
  const rows = Math.ceil(n / columns);
  const widths = options.widths ?? Array.from({ length: columns }, () => 1);
  const room = (1 - gapX * (columns - 1)) / widths.reduce((sum, w) => sum + w, 0);
  const height = (1 - gapY * (rows - 1)) / rows;
  const starts = widths.map((_, c) => widths.slice(0, c).reduce((sum, w) => sum + w * room + gapX, 0));
  return Array.from({ length: n }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const suffix = i === 0 ? "" : String(i + 1);
    const top = 1 - row * (height + gapY);
    const start = starts[column]!;
    return {
      x: `x${suffix}`,
      y: `y${suffix}`,
      xaxis: `xaxis${suffix}`,
      yaxis: `yaxis${suffix}`,
      domainX: [clamp(start), clamp(start + widths[column]! * room)],
      domainY: [clamp(top - height), clamp(top)],
      row,
      column,
      left: column === 0,
      bottom: i + columns >= n,
    };
  });
}

/** A panel's heading, above its top left corner; `text` is escaped. A second, paler line may follow. */
export function panelTitle(panel: Panel, text: string, second?: string): Record<string, unknown> {
  const more = second === undefined ? "" : `<br><span style="font-size:8.5px">${escapeLabel(second)}</span>`;
  return {
    text: `<b>${escapeLabel(text)}</b>${more}`,
    x: panel.domainX[0],
    y: panel.domainY[1],
    xref: "paper",
    yref: "paper",
    xanchor: "left",
    yanchor: "bottom",
    align: "left",
    yshift: 2,
  };
}

/** A legend in a row `above` logical px over the plot area, to clear panel titles. */
export function legendOver(plotHeight: number, above: number): Record<string, unknown> {
  return { y: 1 + above / plotHeight };
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, Math.round(share * 1e6) / 1e6));
}
