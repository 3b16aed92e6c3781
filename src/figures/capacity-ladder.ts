/**
 * The adaptive ladder of Stable Counting Capacity as it was climbed: tiers, errors, threshold, bracket (second paper,
 * Methods).
 */
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { formatNumber } from "./format-number.js";
import { guideLine, guideSpan } from "./interval.js";
import { BLUE, GREY, VERMILION } from "./palette.js";

/** One tier of one ladder. */
export interface LadderRow {
  /** Length of the tier, in items. */
  readonly length: number;
  /** Normalised mean absolute error: mean |error| / length. */
  readonly nmae: number;
  readonly stable: boolean;
  /** Share of answers that were exact. */
  readonly exact?: number;
}

export interface CapacityLadderOptions extends FigureOptions {
  /** Default 0.05. */
  readonly threshold?: number;
  /** The result as it is called: `416`, `<32`, `>=512`. */
  readonly label?: string;
  /** Highest stable and lowest failed tier; shaded. */
  readonly bracket?: readonly [number | null, number | null];
  /** Trials a tier (K), for the caption. */
  readonly trials?: number;
}

/** Errors below this are drawn on the bottom line (the axis is logarithmic, and an exact tier has none). */
const FLOOR = 0.001;

/** nMAE of each tier over its length, numbered in the order of the visits. */
export function capacityLadder(rows: readonly LadderRow[], options: CapacityLadderOptions = {}): FigureSpec {
  requireRows("capacity-ladder", rows, "length", "nmae");
  const threshold = options.threshold ?? 0.05;
  const lengths = [...new Set(rows.map((row) => row.length))].sort((a, b) => a - b);
  const shown = (row: LadderRow): number => Math.max(row.nmae, FLOOR);
  const tiers = (stable: boolean): Trace => {
    const own = rows.map((row, i) => ({ row, visit: i + 1 })).filter(({ row }) => row.stable === stable);
    return {
      type: "scatter",
      mode: "markers+text",
      x: own.map(({ row }) => row.length),
      y: own.map(({ row }) => shown(row)),
      text: own.map(({ visit }) => String(visit)),
      // Near the boundary tiers crowd: stable ones carry their number below, failed ones above.
      textposition: stable ? "bottom right" : "top left",
      textfont: { size: 8.5 },
      customdata: own.map(
        ({ row, visit }) =>
          `visit ${visit}: length ${row.length}, nMAE ${formatNumber(row.nmae)}${row.exact === undefined ? "" : `, exact ${formatNumber(100 * row.exact)} %`}`,
      ),
      hovertemplate: "%{customdata}<extra></extra>",
      name: stable ? "stable" : "failed",
      marker: {
        size: 7,
        color: stable ? BLUE : "#ffffff",
        line: { color: stable ? BLUE : VERMILION, width: 1.5 },
      },
      cliponaxis: false,
    };
  };
  const path: Trace = {
    type: "scatter",
    mode: "lines",
    x: rows.map((row) => row.length),
    y: rows.map(shown),
    line: { color: GREY, width: 0.8, dash: "dot" },
    hoverinfo: "skip",
    name: "order",
    showlegend: false,
  };
  const top = Math.max(threshold * 4, ...rows.map((row) => row.nmae));
  const [stable, failed] = options.bracket ?? [null, null];
  return figure(
    {
      kind: "capacity-ladder",
      caption: `The ladder: nMAE of each tier over its length, numbered in the order of the visits${options.trials === undefined ? "" : ` (n = ${options.trials} targets a tier)`}; dashed: threshold ${formatNumber(threshold)}${stable !== null && failed !== null ? `; shaded: bracket ${stable} to ${failed}` : ""}${options.label === undefined ? "" : `; capacity ${options.label} items`}.`,
      width: options.width ?? "single",
      height: 230,
      data: [path, tiers(true), tiers(false)].filter((trace) => (trace.x as unknown[]).length > 0),
      layout: {
        showlegend: true,
        xaxis: {
          title: { text: "tier length (items)" },
          type: "log",
          tickvals: spacedTicks(lengths),
          ticktext: spacedTicks(lengths).map((l) => l.toLocaleString("en-US")),
          range: [Math.log10(lengths[0]! / 1.25), Math.log10(lengths.at(-1)! * 1.25)],
        },
        yaxis: {
          title: { text: "nMAE (mean |error| / length)" },
          type: "log",
          range: [Math.log10(FLOOR) - 0.32, Math.log10(top) + 0.25],
          tickvals: [FLOOR, 0.01, 0.05, 0.1, 1, 10],
          ticktext: ["≤0.001", "0.01", "0.05", "0.1", "1", "10"],
        },
        shapes: [
          guideLine("y", threshold),
          ...(stable !== null && failed !== null ? [guideSpan(stable, failed, { color: VERMILION })] : []),
        ],
      },
      rows: rows.map((row, i) => ({ visit: i + 1, ...row })),
    },
    options,
  );
}

/** Lengths that can all be labelled on a logarithmic axis: none closer than a factor of 1.5 to the one before. */
function spacedTicks(lengths: readonly number[]): number[] {
  const kept: number[] = [];
  for (const length of lengths) if (kept.length === 0 || length / kept.at(-1)! >= 1.5) kept.push(length);
  return kept;
}
