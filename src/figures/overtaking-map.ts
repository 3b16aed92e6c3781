/** Where a wrong answer overtakes the right one: their logits' difference at each layer, for each count. */
import { cellTicks, cellTraces, colorBar } from "./cells.js";
import { escapeLabel, visibleToken } from "./escape-html.js";
import {
  columnPixels,
  type FigureOptions,
  type FigureSpec,
  figure,
  requireRows,
  type Trace,
} from "./figure-spec.js";
import { DIVERGING } from "./palette.js";

/** The right answer against another one in one layer. */
export interface OvertakingRow {
  readonly layer: number;
  /** True count. */
  readonly count: number;
  /** The other answer. */
  readonly against: number;
  /** Logit of the right answer's token less that of the other's, where the two part, read out after this layer; nats. */
  readonly gap: number;
  /** The two tokens. */
  readonly right: string;
  readonly wrong: string;
  /** Whether the model's answer at this count is right. */
  readonly correct: boolean;
}

/**
 * Layers (bottom to top) by counts, in the order of the counts; blue: the right answer is ahead, orange: the other. A line parts
 * counts answered rightly from the first that is not. One row a count and layer.
 */
export function overtakingMap(rows: readonly OvertakingRow[], options: FigureOptions = {}): FigureSpec {
  requireRows("overtaking-map", rows, "layer", "count", "gap", "against");
  const layers = [...new Set(rows.map((row) => row.layer))].sort((a, b) => a - b);
  const counts = [...new Set(rows.map((row) => row.count))].sort((a, b) => a - b);
  const at = new Map(rows.map((row) => [`${row.layer} ${row.count}`, row]));
  const matrix = layers.map((layer) => counts.map((count) => at.get(`${layer} ${count}`)));
  const width = options.width ?? (counts.length > 24 ? "double" : "single");
  const most = Math.max(...rows.map((row) => Math.abs(row.gap)), 1e-9);
  const cellHeight = layers.length > 32 ? 7 : 14;
  const cells = {
    values: matrix.map((line) => line.map((row) => row?.gap ?? null)),
    scale: DIVERGING,
    domain: [-most, most] as [number, number],
    hover: matrix.map((line) =>
      line.map((row) =>
        row
          ? `layer ${row.layer}, count ${row.count} against ${row.against}: ${row.gap.toFixed(2)}<br>${escapeLabel(visibleToken(row.right))} against ${escapeLabel(visibleToken(row.wrong))}`
          : "",
      ),
    ),
  };
  const firstWrong = counts.findIndex((count) => rows.some((row) => row.count === count && !row.correct));
  const boundary: Trace[] =
    firstWrong < 1
      ? []
      : [
          {
            type: "scatter",
            mode: "lines",
            x: [firstWrong - 0.5, firstWrong - 0.5],
            y: [-0.5, layers.length - 0.5],
            line: { color: "#000000", width: 1.2, dash: "dash" },
            hoverinfo: "skip",
            showlegend: false,
          },
        ];
  return figure(
    {
      kind: "overtaking-map",
      caption: `Logit of the right answer less that of the other, where the two part, read out after each layer (vertical) for ${counts.length} counts (horizontal)${firstWrong < 1 ? "" : `; dashed: first wrong answer, ${counts[firstWrong]}`}. Blue: the right answer is ahead.`,
      width,
      height: layers.length * cellHeight + 78,
      data: [
        ...cellTraces(cells),
        ...boundary,
        colorBar(cells, "right − other (nats)", { nticks: 5, tickmode: "auto" }),
      ],
      layout: {
        xaxis: {
          title: { text: "true count (items)" },
          ...cellTicks(counts, (columnPixels(width) - 100) / 22),
          range: [-0.5, counts.length - 0.5],
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
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
