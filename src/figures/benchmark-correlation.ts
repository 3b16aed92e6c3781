/**
 * Counting capacity against the score of any benchmark (second paper, Figure 5).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { doublings } from "./log-ticks.js";
import { BLUE, ORANGE } from "./palette.js";

/** One model: its capacity and its score. */
export interface CorrelationPoint {
  readonly model: string;
  /** Items, as it entered the correlation; above 0. */
  readonly capacity: number;
  /** It stands for `<32`. */
  readonly below: boolean;
  readonly score: number;
  /** ISO date, where models are split by one. */
  readonly date?: string;
}

export interface BenchmarkCorrelationOptions extends FigureOptions {
  /** The benchmark, with its unit. Default `benchmark score`. */
  readonly scoreName?: string;
  /** ISO date: models dated from it on are orange. */
  readonly splitAt?: string;
  /** The correlation as it is to be said in the caption: `Spearman 0.41 (0.1 to 0.7)`. */
  readonly said?: string;
}

/** Score over capacity (logarithmic), one point a model, `<32` open. */
export function benchmarkCorrelation(
  points: readonly CorrelationPoint[],
  options: BenchmarkCorrelationOptions = {},
): FigureSpec {
  requireRows("benchmark-correlation", points, "capacity", "score");
  // Open marks last: the legend takes its mark from the first point.
  const rows = [...points.filter((row) => !row.below), ...points.filter((row) => row.below)];
  const bad = rows.find((row) => row.capacity <= 0);
  if (bad)
    throw new Error(
      `benchmark-correlation: ${bad.model} has capacity ${bad.capacity}; expected above 0 (give <32 the value it entered with)`,
    );
  const { splitAt } = options;
  const late = (row: CorrelationPoint): boolean =>
    splitAt !== undefined && row.date !== undefined && row.date >= splitAt;
  const group = (name: string, own: readonly CorrelationPoint[], color: string): Trace => ({
    type: "scatter",
    mode: "markers",
    x: own.map((row) => row.capacity),
    y: own.map((row) => row.score),
    marker: {
      size: 6,
      color: own.map((row) => (row.below ? "#ffffff" : color)),
      line: { color, width: 1.2 },
    },
    text: own.map(
      (row) =>
        `${escapeLabel(row.model)}: capacity ${row.below ? "below the first tier" : row.capacity}, score ${row.score}`,
    ),
    hovertemplate: "%{text}<extra></extra>",
    name,
    cliponaxis: false,
  });
  const sides: Trace[] =
    splitAt === undefined
      ? [group("models", rows, BLUE)]
      : [
          group(
            `before ${splitAt}`,
            rows.filter((row) => !late(row)),
            BLUE,
          ),
          group(`from ${splitAt}`, rows.filter(late), ORANGE),
        ];
  const below = rows.filter((row) => row.below).length;
  const name = options.scoreName ?? "benchmark score";
  return figure(
    {
      kind: "benchmark-correlation",
      caption: `${name} over counting capacity (n = ${rows.length} models${below > 0 ? `, ${below} below the first tier, open` : ""})${options.said === undefined ? "" : `: ${options.said}`}.`,
      width: options.width ?? "single",
      height: 240,
      data: sides.filter((trace) => (trace.x as unknown[]).length > 0),
      layout: {
        showlegend: splitAt !== undefined,
        xaxis: {
          title: { text: "capacity (items)" },
          type: "log",
          ...doublings(rows.map((row) => row.capacity)),
        },
        yaxis: { title: { text: escapeLabel(name) } },
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
