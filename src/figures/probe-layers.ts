/** How well the count is read at each layer: held-out R², beside R² with position taken out and the shuffled control. */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows } from "./figure-spec.js";
import { guideLine, lineWithBand } from "./interval.js";
import { category, GREY } from "./palette.js";

/** How well a count is read in one layer. */
export interface ProbeLayerRow {
  readonly layer: number;
  /** What was read: `final token`, `items`, or a control. */
  readonly series: string;
  /** R²; below 0 it is drawn at 0 and its value stands on hover and in the table. */
  readonly r2: number;
  readonly low?: number;
  readonly high?: number;
  /** Drawn grey and dashed. Default false. */
  readonly control?: boolean;
}

export interface ProbeLayersOptions extends FigureOptions {
  /** A level to compare with: a dashed line. */
  readonly level?: number;
}

/** R² over layers, one line a series with its interval as a band; controls grey. */
export function probeLayers(rows: readonly ProbeLayerRow[], options: ProbeLayersOptions = {}): FigureSpec {
  requireRows("probe-layers", rows, "layer", "r2");
  const series = [...new Set(rows.map((row) => row.series))];
  const isControl = (name: string): boolean => rows.find((row) => row.series === name)!.control ?? false;
  const [shown, controls] = [series.filter((name) => !isControl(name)), series.filter(isControl)];
  const drawn = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : Math.max(0, value);
  const data = [...controls, ...shown].flatMap((name) => {
    const own = rows.filter((row) => row.series === name).sort((a, b) => a.layer - b.layer);
    return lineWithBand(
      own.map(({ layer, r2, low, high }) => {
        const [from, to] = [drawn(low), drawn(high)];
        return {
          x: layer,
          y: Math.max(0, r2),
          ...(from === undefined || to === undefined ? {} : { low: from, high: to }),
        };
      }),
      {
        name: escapeLabel(name),
        color: isControl(name) ? GREY : category(shown.indexOf(name)),
        dash: isControl(name) ? (controls.indexOf(name) % 2 === 0 ? "dash" : "dot") : "solid",
        hover: own.map((row) => `${escapeLabel(name)}, layer ${row.layer}: R² = ${row.r2.toPrecision(4)}`),
      },
    );
  });
  const layers = new Set(rows.map((row) => row.layer)).size;
  return figure(
    {
      kind: "probe-layers",
      caption: `R² of the count read from the residual stream, on held-out counts, by layer (${layers} layers)${rows.some((row) => row.low !== undefined) ? ", with intervals" : ""}; values below 0 are drawn at 0${controls.length > 0 ? "; controls grey" : ""}.`,
      width: options.width ?? "single",
      height: 230,
      data,
      layout: {
        showlegend: true,
        xaxis: { title: { text: "layer" }, ...(layers <= 12 ? { dtick: 1 } : {}) },
        yaxis: { title: { text: "held-out R²" }, range: [-0.03, 1.03] },
        shapes: options.level === undefined ? [] : [guideLine("y", options.level)],
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
