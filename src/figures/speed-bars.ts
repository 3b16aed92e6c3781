/**
 * What a verification costs in each mode (first paper, Tables 7 and 8).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows } from "./figure-spec.js";
import { formatNumber } from "./format-number.js";
import { errorBars } from "./interval.js";
import { category } from "./palette.js";

/** Time of one way of verifying on one model. */
export interface SpeedRow {
  readonly model: string;
  readonly mode: string;
  /** Median milliseconds. */
  readonly ms: number;
  /** Fastest and slowest of the runs. */
  readonly low?: number;
  readonly high?: number;
  /** Runs. */
  readonly n: number;
}

export interface SpeedBarsOptions extends FigureOptions {
  /** The mode that the others are compared with. Default: the first one. */
  readonly baseline?: string;
  /** What was run: `9,801 products`. */
  readonly work?: string;
}

/** Bars of milliseconds on a logarithmic axis, with the factor against the baseline at each bar. */
export function speedBars(rows: readonly SpeedRow[], options: SpeedBarsOptions = {}): FigureSpec {
  requireRows("speed-bars", rows, "ms", "n");
  const bad = rows.find((row) => row.ms <= 0);
  if (bad) throw new Error(`speed-bars: ${bad.model}, ${bad.mode} took ${bad.ms} ms; expected above 0`);
  const models = [...new Set(rows.map((row) => row.model))];
  const modes = [...new Set(rows.map((row) => row.mode))];
  const baseline = options.baseline ?? modes[0]!;
  if (!modes.includes(baseline))
    throw new Error(
      `speed-bars: baseline ${JSON.stringify(baseline)} is not among the modes: ${modes.join(", ")}`,
    );
  const base = new Map(rows.filter((row) => row.mode === baseline).map((row) => [row.model, row.ms]));
  const ms = rows.map((row) => row.ms);
  const factor = (row: SpeedRow): string => {
    const reference = base.get(row.model);
    return reference === undefined || row.mode === baseline ? "" : `, ${formatNumber(reference / row.ms)}×`;
  };
  const [low, high] = [Math.log10(Math.min(...ms)), Math.log10(Math.max(...ms))];
  const start = Math.floor(low - 0.3);
  const ns = [...new Set(rows.map((row) => row.n))];
  return figure(
    {
      kind: "speed-bars",
      caption: `Time by mode${options.work === undefined ? "" : ` for ${options.work}`} (logarithmic; factor against ${baseline}); median${rows.some((row) => row.low !== undefined) ? " with fastest and slowest" : ""} of n = ${ns.length === 1 ? ns[0] : `${Math.min(...ns)} to ${Math.max(...ns)}`} runs.`,
      width: options.width ?? "single",
      height: rows.length * 15 + models.length * 8 + 90,
      data: modes.map((mode, m) => {
        const own = rows.filter((row) => row.mode === mode);
        const estimates = own.map((row) => ({
          x: 0,
          y: row.ms,
          low: row.low ?? Number.NaN,
          high: row.high ?? Number.NaN,
        }));
        return {
          type: "bar",
          orientation: "h",
          x: own.map((row) => row.ms),
          y: own.map((row) => escapeLabel(row.model)),
          name: escapeLabel(mode),
          marker: { color: category(m) },
          ...(own.some((row) => row.low !== undefined)
            ? { error_x: { ...errorBars(estimates), color: "#6b6b6b" } }
            : {}),
          customdata: own.map((row) => `${formatNumber(row.ms)} ms${factor(row)}`),
          hovertemplate: `%{y}, ${escapeLabel(mode)}: %{customdata}<extra></extra>`,
        };
      }),
      layout: {
        showlegend: true,
        legend: { traceorder: "normal" },
        barmode: "group",
        bargap: 0.28,
        bargroupgap: 0.08,
        annotations: labels(rows, models, modes, factor),
        xaxis: {
          title: { text: "time (ms)" },
          type: "log",
          range: [start, high + (high - start) * 0.42],
          dtick: 1,
          tickformat: ",",
          showgrid: true,
        },
        yaxis: {
          type: "category",
          categoryorder: "array",
          categoryarray: models.map(escapeLabel),
          autorange: "reversed",
          ticks: "",
          showgrid: false,
        },
      },
      rows: rows.map((row) => ({
        ...row,
        factor: base.has(row.model) ? base.get(row.model)! / row.ms : null,
      })),
    },
    options,
  );
}

/** Beside each bar its number; bars of a group lie side by side, so the places are computed as plotly does. */
function labels(
  rows: readonly SpeedRow[],
  models: readonly string[],
  modes: readonly string[],
  factor: (row: SpeedRow) => string,
): Record<string, unknown>[] {
  const slot = 0.72 / modes.length;
  return rows.map((row) => ({
    text: `${formatNumber(row.ms)}${factor(row)}`,
    x: Math.log10(Math.max(row.ms, row.high ?? 0)),
    y: models.indexOf(row.model) - 0.36 + slot * (modes.indexOf(row.mode) + 0.5),
    xanchor: "left",
    xshift: 3,
    font: { size: 8.5 },
  }));
}
