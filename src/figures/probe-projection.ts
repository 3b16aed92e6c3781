/**
 * The count read from the residual stream: projection on the probe's direction over the true count, layer by layer
 * (second paper, Figure 4b).
 */
import {
  columnPixels,
  type FigureOptions,
  type FigureSpec,
  figure,
  requireRows,
  type Trace,
} from "./figure-spec.js";
import { formatNumber } from "./format-number.js";
import { guideLine, guideSpan } from "./interval.js";
import { BLUE, GREY, ORANGE, VERMILION } from "./palette.js";
import { legendOver, panelGrid, panelTitle } from "./panels.js";

/** One activation projected on a probe's direction. */
export interface ProjectionRow {
  readonly layer: number;
  /** True count. */
  readonly count: number;
  /** (activation - centre) . direction, in the residual stream's units. */
  readonly projection: number;
  /** Whether the model's answer at this count is right. */
  readonly correct: boolean;
}

/** The line a probe fits in one layer. */
export interface ProjectionFit {
  readonly layer: number;
  /** projection = intercept + slope x count, fitted in the stable range. */
  readonly slope: number;
  readonly intercept: number;
  /** On held-out counts of the stable range. */
  readonly r2: number;
  /** Counts the fit was made on. */
  readonly from: number;
  readonly to: number;
  /** Where the projection leaves the line, with its interval. */
  readonly collapse?: { readonly at: number; readonly low: number; readonly high: number };
}

export interface ProbeProjectionOptions extends FigureOptions {
  /** The fit of each layer. Layers without one show their points alone. */
  readonly fits?: readonly ProjectionFit[];
}

/** One panel a layer: points right (blue) and wrong (vermilion), the fit, its prolongation dotted, the collapse point. */
export function probeProjection(
  rows: readonly ProjectionRow[],
  options: ProbeProjectionOptions = {},
): FigureSpec {
  requireRows("probe-projection", rows, "layer", "count", "projection");
  const layers = [...new Set(rows.map((row) => row.layer))].sort((a, b) => a - b);
  const width = options.width ?? (layers.length > 2 ? "double" : "single");
  const columns = Math.min(layers.length, width === "double" ? 4 : 2);
  const lines = Math.ceil(layers.length / columns);
  const [side, between] = [130, 52];
  const plotHeight = lines * (side + between) - between;
  const panels = panelGrid(layers.length, columns, {
    gapX: columns > 2 ? 0.065 : 0.13,
    gapY: lines > 1 ? between / plotHeight : 0,
  });
  const counts = rows.map((row) => row.count);
  const range = [Math.min(...counts) - 1, Math.max(...counts) + 1];
  const data: Trace[] = [];
  const shapes: Record<string, unknown>[] = [];
  const layout: Record<string, unknown> = { showlegend: true, legend: legendOver(plotHeight, 34), shapes };
  layout.annotations = layers.map((layer, p) => {
    const fit = options.fits?.find((f) => f.layer === layer);
    const second = fit && [
      `R² = ${formatNumber(fit.r2)}`,
      ...(fit.collapse ? [`collapse ${formatNumber(fit.collapse.at, 4)}`] : []),
    ];
    return panelTitle(panels[p]!, `layer ${layer}`, second?.join(", "));
  });
  layers.forEach((layer, p) => {
    const panel = panels[p]!;
    const axes = { xaxis: panel.x, yaxis: panel.y };
    const fit = options.fits?.find((f) => f.layer === layer);
    for (const correct of [true, false]) {
      const own = rows.filter((row) => row.layer === layer && row.correct === correct);
      data.push({
        type: "scatter",
        mode: "markers",
        ...axes,
        x: own.map((row) => row.count),
        y: own.map((row) => row.projection),
        name: correct ? "answer right" : "answer wrong",
        legendgroup: String(correct),
        showlegend: p === 0,
        marker: { size: 4, color: correct ? BLUE : VERMILION, symbol: correct ? "circle" : "circle-open" },
        hovertemplate: "count %{x}, projection %{y:.3f}<extra></extra>",
      });
    }
    if (fit) {
      const at = (count: number): number => fit.intercept + fit.slope * count;
      data.push(...fitLines(fit, at, range[1]!, axes, p === 0));
      if (fit.collapse) {
        const refs = { xref: panel.x, yref: panel.y, color: ORANGE };
        shapes.push(
          guideSpan(fit.collapse.low, fit.collapse.high, refs),
          guideLine("x", fit.collapse.at, { ...refs, dash: "solid" }),
        );
      }
    }
    layout[panel.xaxis] = {
      domain: panel.domainX,
      anchor: panel.y,
      range,
      nticks: 5,
      title: { text: panel.bottom ? "true count" : "" },
    };
    layout[panel.yaxis] = {
      domain: panel.domainY,
      anchor: panel.x,
      nticks: 5,
      title: { text: panel.left ? "projection" : "", standoff: 3 },
    };
  });
  const collapses = options.fits?.some((fit) => fit.collapse) ?? false;
  return figure(
    {
      kind: "probe-projection",
      caption: `Residual stream projected on the count direction, over the true count, for ${layers.length} layers (n = ${rows.length} activations); line: fit in the stable range, dotted beyond it${collapses ? "; orange: collapse point with its interval" : ""}; R² on held-out counts.`,
      width,
      height: plotHeight + 92,
      ...(columns > 1 ? { narrowest: columnPixels(width) * 0.9 } : {}),
      data,
      layout: { ...layout, margin: { l: 38, r: 8, t: 52, b: 30 } },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}

function fitLines(
  fit: ProjectionFit,
  at: (count: number) => number,
  end: number,
  axes: Record<string, string>,
  showlegend: boolean,
): Trace[] {
  const line = (from: number, to: number, dash: string, show: boolean): Trace => ({
    type: "scatter",
    mode: "lines",
    ...axes,
    x: [from, to],
    y: [at(from), at(to)],
    name: "fit",
    legendgroup: "fit",
    showlegend: show,
    line: { color: GREY, width: 1.2, dash },
    hoverinfo: "skip",
  });
  return [
    line(fit.from, fit.to, "solid", showlegend),
    ...(end > fit.to ? [line(fit.to, end, "dot", false)] : []),
  ];
}
