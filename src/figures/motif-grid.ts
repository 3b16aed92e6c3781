/**
 * Counting capacity by what is counted and what stands between: character x delimiter (second paper, Figure 2e).
 */
import { cellTraces, colorBar } from "./cells.js";
import { escapeLabel, visibleToken } from "./escape-html.js";
import { columnPixels, type FigureOptions, type FigureSpec, figure, requireRows } from "./figure-spec.js";
import { formatNumber } from "./format-number.js";
import { SEQUENTIAL } from "./palette.js";
import { MONO } from "./theme.js";

/** The capacity for one item and delimiter. */
export interface MotifRow {
  readonly item: string;
  readonly delimiter: string;
  /** Items; 0 stands for below the first tier. */
  readonly capacity: number;
  /** The capacity as it is called: `416`, `<32`. Default: the number. */
  readonly label?: string;
  readonly tokensPerItem?: number;
}

/** Heatmap of capacities; below each, tokens per item where given. Combinations that were not run stay empty. */
export function motifGrid(rows: readonly MotifRow[], options: FigureOptions = {}): FigureSpec {
  requireRows("motif-grid", rows, "capacity");
  const items = [...new Set(rows.map((row) => row.item))];
  const delimiters = [...new Set(rows.map((row) => row.delimiter))];
  const width = options.width ?? (delimiters.length > 6 ? "double" : "single");
  const matrix = items.map((item) =>
    delimiters.map((d) => rows.find((row) => row.item === item && row.delimiter === d)),
  );
  const tokens = rows.some((row) => row.tokensPerItem !== undefined);
  const label = (row: MotifRow): string => row.label ?? row.capacity.toLocaleString("en-US");
  const domain: [number, number] = [0, Math.max(1, ...rows.map((row) => row.capacity))];
  const quoted = (text: string): string => escapeLabel(text === "" ? "none" : visibleToken(text));
  const cells = {
    values: matrix.map((line) => line.map((row) => row?.capacity ?? null)),
    scale: SEQUENTIAL,
    domain,
    textNeeds: columnPixels(width) * 0.8,
    text: matrix.map((line) =>
      line.map((row) => {
        if (!row) return "";
        const second =
          row.tokensPerItem === undefined ? "" : `<br>${formatNumber(row.tokensPerItem, 2)} t/item`;
        return `${escapeLabel(label(row))}${second}`;
      }),
    ),
    hover: matrix.map((line) =>
      line.map((row) =>
        row
          ? `item ${quoted(row.item)}, delimiter ${quoted(row.delimiter)}<br>capacity ${escapeLabel(label(row))}${row.tokensPerItem === undefined ? "" : `<br>${formatNumber(row.tokensPerItem)} tokens per item`}`
          : "",
      ),
    ),
  };
  return figure(
    {
      kind: "motif-grid",
      caption: `Counting capacity (items) by repeated character and delimiter${tokens ? ", with tokens per item (t/item)" : ""}; n = ${rows.length} motifs.`,
      width,
      height: items.length * (tokens ? 32 : 22) + 80,
      data: [
        ...cellTraces(cells),
        colorBar({ scale: SEQUENTIAL, domain }, "capacity (items)", { nticks: 5 }),
      ],
      layout: {
        xaxis: {
          title: { text: "delimiter" },
          tickvals: delimiters.map((_, i) => i),
          ticktext: delimiters.map(quoted),
          tickfont: { family: MONO },
          tickangle: delimiters.some((d) => d.length > 4) ? -30 : 0,
          range: [-0.5, delimiters.length - 0.5],
          showline: false,
        },
        yaxis: {
          title: { text: "character" },
          tickvals: items.map((_, i) => i),
          ticktext: items.map(quoted),
          tickfont: { family: MONO },
          range: [items.length - 0.5, -0.5],
          showgrid: false,
          showline: false,
        },
      },
      rows: rows.map((row) => ({ ...row, label: label(row) })),
    },
    options,
  );
}
