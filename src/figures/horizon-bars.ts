/**
 * Accuracy depends on the range that is chosen, the horizon does not (first paper, Figure 3 and Table 3).
 */
import { escapeLabel } from "./escape-html.js";
import {
  columnPixels,
  type FigureOptions,
  type FigureSpec,
  figure,
  type Row,
  requireRows,
  type Trace,
} from "./figure-spec.js";
import { errorBars } from "./interval.js";
import { BLUE, GREY } from "./palette.js";
import { panelGrid, panelTitle } from "./panels.js";

/** One model's horizon and its accuracies over ranges. */
export interface HorizonRow {
  readonly model: string;
  readonly horizon: number;
  /** Accuracy over operands up to `upTo`; `n` products, with an interval. The same `upTo` for every model. */
  readonly accuracies: readonly {
    readonly upTo: number;
    readonly accuracy: number;
    readonly low?: number;
    readonly high?: number;
    readonly n: number;
  }[];
}

/** One panel a range (accuracy with its interval) and one for the horizon; models from top to bottom as given. */
export function horizonBars(rows: readonly HorizonRow[], options: FigureOptions = {}): FigureSpec {
  requireRows("horizon-bars", rows, "horizon");
  const ranges = rows[0]!.accuracies.map(({ upTo, n }) => ({ upTo, n }));
  for (const { model, accuracies } of rows) {
    if (accuracies.map((a) => a.upTo).join() !== ranges.map((r) => r.upTo).join()) {
      throw new Error(
        `horizon-bars: ${model} has accuracies up to ${accuracies.map((a) => a.upTo).join(", ")}; expected ${ranges.map((r) => r.upTo).join(", ")} as for the first model`,
      );
    }
  }
  const width = options.width ?? "double";
  const panels = panelGrid(ranges.length + 1, ranges.length + 1, { gapX: 0.035 });
  const models = rows.map((row) => escapeLabel(row.model));
  const last = panels.at(-1)!;
  const highest = Math.max(...rows.map((row) => row.horizon), 1);
  const data: Trace[] = ranges.map(({ upTo }, p) => {
    const estimates = rows.map((row) => {
      const { accuracy, ...rest } = row.accuracies[p]!;
      return { ...rest, x: 0, y: accuracy };
    });
    return {
      type: "scatter",
      mode: "markers",
      xaxis: panels[p]!.x,
      yaxis: panels[p]!.y,
      x: estimates.map((e) => e.y),
      y: models,
      error_x: { ...errorBars(estimates), color: GREY },
      marker: { color: GREY, size: 6 },
      hovertemplate: `%{y}: %{x:.4f} up to ${upTo}<extra></extra>`,
      showlegend: false,
    };
  });
  data.push({
    type: "bar",
    orientation: "h",
    xaxis: last.x,
    yaxis: last.y,
    x: rows.map((row) => row.horizon),
    y: models,
    text: rows.map((row) => String(row.horizon)),
    textposition: "outside",
    textfont: { size: 9 },
    cliponaxis: false,
    width: 0.6,
    marker: { color: BLUE },
    hovertemplate: "%{y}: horizon %{x}<extra></extra>",
    showlegend: false,
  });
  const layout: Record<string, unknown> = {
    margin: { l: 40, r: 16, t: 34, b: 30 },
    annotations: [
      ...ranges.map(({ upTo, n }, p) =>
        panelTitle(panels[p]!, `n ≤ ${upTo}`, `${n.toLocaleString("en-US")} products`),
      ),
      width === "single"
        ? panelTitle(last, "horizon", "no range")
        : panelTitle(last, "Zero-Error Horizon", "no range to choose"),
    ],
  };
  panels.forEach((panel) => {
    const horizon = panel === last;
    layout[panel.xaxis] = {
      domain: panel.domainX,
      anchor: panel.y,
      showgrid: true,
      range: horizon ? [0, highest * 1.18] : [-0.03, 1.03],
      ...(horizon ? { nticks: 4 } : { tickvals: [0, 0.5, 1], ticktext: ["0", "0.5", "1"] }),
      title: { text: horizon ? "largest operand" : "accuracy" },
    };
    layout[panel.yaxis] = {
      domain: panel.domainY,
      anchor: panel.x,
      type: "category",
      categoryorder: "array",
      categoryarray: models,
      // A little room over the first and under the last, first model on top.
      range: [models.length - 0.4, -0.6],
      showticklabels: panel.left,
      ticks: "",
      showgrid: false,
    };
  });
  return figure(
    {
      kind: "horizon-bars",
      caption:
        "Accuracy over three ranges of operands (dots; bars: intervals), and the Zero-Error Horizon, which needs no range.",
      width,
      height: rows.length * 20 + 80,
      ...(width === "double" ? { narrowest: columnPixels(width) * 0.7 } : {}),
      data,
      layout,
      rows: accuracyTable(rows),
    },
    options,
  );
}

/** The same as a table: one row a model, one column a range, and the horizon. */
export function accuracyTable(rows: readonly HorizonRow[]): Row[] {
  return rows.map((row) => ({
    model: row.model,
    ...Object.fromEntries(
      row.accuracies.flatMap(({ upTo, accuracy, low, high, n }) => [
        [`accuracy up to ${upTo}`, accuracy],
        ...(low === undefined ? [] : [[`low ${upTo}`, low]]),
        ...(high === undefined ? [] : [[`high ${upTo}`, high]]),
        [`n up to ${upTo}`, n],
      ]),
    ),
    horizon: row.horizon,
  }));
}
