/**
 * How far an answer moves when the final token is moved along the count direction (second paper, Supplementary Note 11).
 */
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { guideLine, lineWithBand } from "./interval.js";
import { BLUE, GREY } from "./palette.js";

/** One steered answer. */
export interface SteeringRow {
  readonly layer: number;
  readonly direction: "count" | "random";
  /** Count of the prompt that is steered. */
  readonly count: number;
  /** How far, in items by the probe's slope. */
  readonly step: number;
  /** Items by which the answer moved; null without an integer. */
  readonly moved: number | null;
}

export interface SteeringCurveOptions extends FigureOptions {
  /** Which layer of the rows is drawn. Default: the first. */
  readonly layer?: number;
}

/** Each prompt's answers as dots, their middle over prompts as a line; the random direction grey; dotted: one item an item. */
export function steeringCurve(rows: readonly SteeringRow[], options: SteeringCurveOptions = {}): FigureSpec {
  requireRows("steering-curve", rows, "layer", "step");
  const layer = options.layer ?? rows[0]!.layer;
  const own = rows.filter((row) => row.layer === layer && row.moved !== null);
  requireRows(`steering-curve: layer ${layer}`, own, "step");
  const steps = [...new Set(own.map((row) => row.step))].sort((a, b) => a - b);
  // One answer of 4,000 must not flatten all others: what is beyond the frame is drawn at its edge.
  const edge = 2 * Math.max(...steps.map(Math.abs));
  const inside = (value: number): number => Math.max(-edge, Math.min(edge, value));
  const traces = (direction: "count" | "random"): Trace[] => {
    const points = own.filter((row) => row.direction === direction);
    if (points.length === 0) return [];
    const color = direction === "count" ? BLUE : GREY;
    const name = direction === "count" ? "count direction" : "random direction, equal norm";
    return [
      {
        type: "scatter",
        mode: "markers",
        x: points.map((row) => row.step),
        y: points.map((row) => inside(row.moved!)),
        marker: { size: 3.5, color, opacity: 0.35 },
        text: points.map((row) => `${name}, prompt of ${row.count}: ${row.step} moved, answer ${row.moved}`),
        hovertemplate: "%{text}<extra></extra>",
        showlegend: false,
      },
      ...lineWithBand(
        steps.flatMap((step) => {
          const moved = points.filter((row) => row.step === step).map((row) => row.moved!);
          return moved.length === 0 ? [] : [{ x: step, y: inside(middle(moved)) }];
        }),
        { name, color, dash: direction === "count" ? "solid" : "dash" },
      ),
    ];
  };
  const prompts = new Set(own.map((row) => row.count)).size;
  return figure(
    {
      kind: "steering-curve",
      caption: `How far the answer moves when the final token is moved along the count direction after layer ${layer} (n = ${prompts} prompts; line: median; dotted: one item for an item; answers moved by more than ${edge} items lie on the edge).`,
      width: options.width ?? "single",
      height: 230,
      data: [
        {
          type: "scatter",
          mode: "lines",
          x: [steps[0], steps.at(-1)],
          y: [steps[0], steps.at(-1)],
          line: { color: GREY, width: 1, dash: "dot" },
          hoverinfo: "skip",
          showlegend: false,
        },
        ...traces("random"),
        ...traces("count"),
      ],
      layout: {
        showlegend: true,
        xaxis: { title: { text: "moved by (items, by the probe)" } },
        yaxis: { title: { text: "answer moved by (items)" }, range: [-1.08 * edge, 1.08 * edge] },
        shapes: [guideLine("y", 0, { color: GREY, dash: "solid" })],
      },
      rows: own.map((row) => ({ ...row })),
    },
    options,
  );
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
