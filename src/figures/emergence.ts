/**
 * What appears when in training: behaviour, probe and horizon over the training steps of one model.
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { lineWithBand } from "./interval.js";
import { category } from "./palette.js";
import { panelGrid, panelTitle } from "./panels.js";

/** One metric at one step of training. */
export interface EmergenceRow {
  /** Training step, or tokens seen; the same unit in all rows. */
  readonly step: number;
  /** `counting boundary (items)`, `probe R²`, ... : a panel each, its unit in its name. */
  readonly metric: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  /** Several models or layers within a panel. */
  readonly series?: string;
}

export interface EmergenceOptions extends FigureOptions {
  /** What `step` is. Default `training step`. */
  readonly stepName?: string;
  /** Default false. Steps of 0 cannot be drawn on it and are an error. */
  readonly logarithmic?: boolean;
}

/** Panels under one another, one a metric, over the same axis of steps. */
export function emergence(rows: readonly EmergenceRow[], options: EmergenceOptions = {}): FigureSpec {
  requireRows("emergence", rows, "step", "value");
  if (options.logarithmic && rows.some((row) => row.step <= 0)) {
    throw new Error(
      "emergence: a step of 0 or less on a logarithmic axis; expected steps from 1, or logarithmic: false",
    );
  }
  const metrics = [...new Set(rows.map((row) => row.metric))];
  const series = [...new Set(rows.map((row) => row.series ?? ""))];
  const [side, between] = [84, 26];
  const plotHeight = metrics.length * (side + between) - between;
  const panels = panelGrid(metrics.length, 1, { gapY: metrics.length > 1 ? between / plotHeight : 0 });
  const several = series.length > 1;
  const data: Trace[] = [];
  const layout: Record<string, unknown> = {
    showlegend: several,
    legend: { y: 1 + 20 / plotHeight },
    margin: { l: 40, r: 10, t: several ? 42 : 20, b: 30 },
    annotations: metrics.map((metric, p) => panelTitle(panels[p]!, metric)),
  };
  metrics.forEach((metric, p) => {
    const panel = panels[p]!;
    series.forEach((name, s) => {
      const own = rows
        .filter((row) => row.metric === metric && (row.series ?? "") === name)
        .sort((a, b) => a.step - b.step);
      if (own.length === 0) return;
      data.push(
        ...lineWithBand(
          own.map(({ step, value, ...interval }) => ({ ...interval, x: step, y: value })),
          {
            name: escapeLabel(name || metric),
            color: category(s),
            xaxis: panel.x,
            yaxis: panel.y,
            showlegend: several && !data.some((trace) => trace.name === escapeLabel(name)),
          },
        ),
      );
    });
    layout[panel.xaxis] = {
      domain: panel.domainX,
      anchor: panel.y,
      type: options.logarithmic ? "log" : "linear",
      ...(options.logarithmic ? { dtick: 1 } : {}),
      ...(p === 0 ? {} : { matches: "x" }),
      showticklabels: panel.bottom,
      title: { text: panel.bottom ? escapeLabel(options.stepName ?? "training step") : "" },
    };
    layout[panel.yaxis] = { domain: panel.domainY, anchor: panel.x, nticks: 4, rangemode: "tozero" };
  });
  const steps = new Set(rows.map((row) => row.step)).size;
  return figure(
    {
      kind: "emergence",
      caption: `${metrics.join(", ")} over training (n = ${steps} checkpoints${rows.some((row) => row.low !== undefined) ? "; bands: intervals" : ""}).`,
      width: options.width ?? "single",
      height: plotHeight + (several ? 76 : 56),
      data,
      layout,
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
