/**
 * How the sparse features that correlate best with the count actually run over it (second paper, Figure 4d).
 */
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { formatNumber } from "./format-number.js";
import { guideLine } from "./interval.js";
import { category } from "./palette.js";

/** One feature's activation at one count. */
export interface SaeProfileRow {
  readonly feature: number;
  /** True count. */
  readonly count: number;
  readonly activation: number;
  /** Pearson correlation of the feature with the count, over the range that the ranking states. */
  readonly r: number;
}

export interface SaeProfilesOptions extends FigureOptions {
  /** First count whose answer is wrong: a dashed line. */
  readonly firstError?: number;
  /** Draw each feature as a share of its own maximum. Default true: features differ widely in scale. */
  readonly normalised?: boolean;
}

/** One line a feature, in the order of |r|; legend: feature and r. Features that never fire stay at 0. */
export function saeProfiles(rows: readonly SaeProfileRow[], options: SaeProfilesOptions = {}): FigureSpec {
  requireRows("sae-profiles", rows, "feature", "count", "activation", "r");
  const normalised = options.normalised ?? true;
  const strength = new Map(rows.map((row) => [row.feature, row.r]));
  const features = [...strength.keys()].sort(
    (a, b) => Math.abs(strength.get(b)!) - Math.abs(strength.get(a)!) || a - b,
  );
  const data: Trace[] = features.map((feature, f) => {
    const own = rows.filter((row) => row.feature === feature).sort((a, b) => a.count - b.count);
    const most = normalised ? Math.max(...own.map((row) => Math.abs(row.activation))) || 1 : 1;
    return {
      type: "scatter",
      mode: "lines",
      x: own.map((row) => row.count),
      y: own.map((row) => row.activation / most),
      name: `${feature} (r = ${formatNumber(strength.get(feature)!, 2)})`,
      line: { color: category(f), width: 1.3, dash: f < 7 ? "solid" : "dot" },
      hovertemplate: `feature ${feature}, count %{x}: %{y:.3f}<extra></extra>`,
    };
  });
  const { firstError } = options;
  return figure(
    {
      kind: "sae-profiles",
      caption: `Activation of the ${features.length} features that correlate best with the count (legend: feature and Pearson r)${normalised ? ", each as a share of its own maximum" : ""}${firstError === undefined ? "" : `; dashed: first wrong answer, ${firstError}`}. n = ${new Set(rows.map((row) => row.count)).size} counts.`,
      width: options.width ?? "single",
      height: 220 + Math.ceil(features.length / 2) * 14,
      data,
      layout: {
        showlegend: true,
        xaxis: { title: { text: "true count (items)" } },
        yaxis: { title: { text: normalised ? "activation / maximum" : "activation" }, rangemode: "tozero" },
        shapes: firstError === undefined ? [] : [guideLine("x", firstError)],
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
