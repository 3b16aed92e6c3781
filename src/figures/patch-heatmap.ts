/**
 * Activation patching, every cell: the count decoded when a donor's activations are put into a layer (second paper,
 * Figure 4f and 4g).
 */
import { cellTicks, cellTraces, colorBar } from "./cells.js";
import {
  columnPixels,
  type FigureOptions,
  type FigureSpec,
  figure,
  requireRows,
  type Trace,
} from "./figure-spec.js";
import { ORDERED, VERMILION } from "./palette.js";

/** One layer and donor, and the count that was then read. */
export interface PatchCellRow {
  readonly layer: number;
  /** The donor's count. */
  readonly donor: number;
  /** Count decoded from the patched run; null where the answer had no integer. */
  readonly decoded: number | null;
}

export interface PatchHeatmapOptions extends FigureOptions {
  /** The recipient's count. Its donor column is framed: patching it with itself must change nothing. */
  readonly base: number;
  /** What was patched, in words: `final token`, `items`. */
  readonly positions?: string;
}

/** Layers (bottom to top) by donors; colour: decoded count, white where there was none. */
export function patchHeatmap(rows: readonly PatchCellRow[], options: PatchHeatmapOptions): FigureSpec {
  requireRows("patch-heatmap", rows, "layer", "donor");
  const layers = [...new Set(rows.map((row) => row.layer))].sort((a, b) => a - b);
  const donors = [...new Set(rows.map((row) => row.donor))].sort((a, b) => a - b);
  const at = new Map(rows.map((row) => [`${row.layer} ${row.donor}`, row]));
  const matrix = layers.map((layer) => donors.map((donor) => at.get(`${layer} ${donor}`)));
  const width = options.width ?? (donors.length > 14 ? "double" : "single");
  const domain: [number, number] = [Math.min(...donors, options.base), Math.max(...donors, options.base)];
  const cellHeight = layers.length > 32 ? 7 : 14;
  const cellWidth = (columnPixels(width) - 100) / donors.length;
  const legible = cellHeight >= 12 && cellWidth >= 14;
  const cells = {
    values: matrix.map((line) => line.map((row) => row?.decoded ?? null)),
    scale: ORDERED,
    domain,
    textNeeds: columnPixels(width),
    ...(legible
      ? { text: matrix.map((line) => line.map((row) => (row ? String(row.decoded ?? "–") : ""))) }
      : {}),
    hover: matrix.map((line) =>
      line.map((row) =>
        row ? `layer ${row.layer}, donor ${row.donor}: decoded ${row.decoded ?? "no integer"}` : "",
      ),
    ),
  };
  const column = donors.indexOf(options.base);
  const frame: Trace[] =
    column < 0
      ? []
      : [
          {
            type: "scatter",
            mode: "lines",
            x: [column - 0.5, column + 0.5, column + 0.5, column - 0.5, column - 0.5],
            y: [-0.5, -0.5, layers.length - 0.5, layers.length - 0.5, -0.5],
            line: { color: VERMILION, width: 1.4 },
            cliponaxis: false,
            hoverinfo: "skip",
            showlegend: false,
          },
        ];
  return figure(
    {
      kind: "patch-heatmap",
      caption: `Count decoded after patching ${options.positions ?? "activations"} of a donor (horizontal: its count) into one layer of a prompt of ${options.base} items. Framed: donor of the same count. n = ${rows.length} patched runs.`,
      width,
      height: layers.length * cellHeight + 70,
      data: [...cellTraces(cells), ...frame, colorBar(cells, "decoded count", { nticks: 6 })],
      layout: {
        xaxis: {
          title: { text: "donor's count (items)" },
          ...cellTicks(donors, (columnPixels(width) - 100) / 18),
          range: [-0.5, donors.length - 0.5],
          showline: false,
        },
        yaxis: {
          title: { text: "layer" },
          ...cellTicks(layers, 16),
          range: [-0.5, layers.length - 0.5],
          showgrid: false,
          showline: false,
        },
      },
      rows: rows.map((row) => ({ ...row, base: options.base })),
    },
    options,
  );
}
