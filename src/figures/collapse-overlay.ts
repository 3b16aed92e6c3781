/**
 * All models around their own boundary, normalised: how sudden the failure is (second paper, Figure 2b).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { guideLine } from "./interval.js";
import { category, GREY } from "./palette.js";

/** One model's mean prediction at a count. */
export interface CollapseRow {
  readonly model: string;
  /** True count. */
  readonly count: number;
  /** Mean prediction at this count; null where no answer had an integer. */
  readonly predicted: number | null;
  /** The model's boundary: its first error, or its capacity. */
  readonly boundary: number;
}

export interface CollapseOverlayOptions extends FigureOptions {
  /** Largest predicted/true that is drawn in place; larger ones stand at the top. Default 2. */
  readonly limit?: number;
}

/** Predicted/true over true/boundary, one line a model; 1 is exact, and 1 on the other axis is the boundary. */
export function collapseOverlay(
  rows: readonly CollapseRow[],
  options: CollapseOverlayOptions = {},
): FigureSpec {
  requireRows("collapse-overlay", rows, "count", "boundary");
  const bad = rows.find((row) => !(row.boundary > 0 && row.count > 0));
  if (bad)
    throw new Error(
      `collapse-overlay: ${bad.model} has count ${bad.count} and boundary ${bad.boundary}; expected both above 0 (leave out models that are <32)`,
    );
  const limit = options.limit ?? 2;
  const models = [...new Set(rows.map((row) => row.model))];
  const ratio = (row: CollapseRow): number | null =>
    row.predicted === null ? null : row.predicted / row.count;
  const data: Trace[] = models.map((model, m) => {
    const own = rows.filter((row) => row.model === model).sort((a, b) => a.count - b.count);
    return {
      type: "scatter",
      mode: models.length > 6 ? "lines" : "lines+markers",
      x: own.map((row) => row.count / row.boundary),
      y: own.map((row) => {
        const value = ratio(row);
        return value === null ? null : Math.min(value, limit);
      }),
      customdata: own.map(
        (row) => `true ${row.count}, predicted ${row.predicted ?? "no integer"}, boundary ${row.boundary}`,
      ),
      name: escapeLabel(`${model} (${own[0]!.boundary})`),
      line: { color: category(m), width: 1.2 },
      marker: { size: 3.5, color: category(m) },
      hovertemplate: "%{customdata}<extra></extra>",
    };
  });
  const over = rows.filter((row) => (ratio(row) ?? 0) > limit).length;
  const ends = rows.map((row) => row.count / row.boundary);
  return figure(
    {
      kind: "collapse-overlay",
      caption: `Predicted over true count against true count over the model's boundary (in brackets, items). ${models.length} models, n = ${rows.length.toLocaleString("en-US")} counts${over > 0 ? `; ${over} above the axis are drawn at its top` : ""}.`,
      width: options.width ?? "single",
      height: 240,
      data,
      layout: {
        showlegend: true,
        xaxis: {
          title: { text: "true count / boundary" },
          range: [Math.min(...ends) - 0.03, Math.max(...ends) + 0.03],
        },
        yaxis: { title: { text: "predicted / true count" }, range: [0, limit * 1.04] },
        shapes: [guideLine("x", 1), guideLine("y", 1, { color: GREY, dash: "solid" })],
      },
      rows: rows.map((row) => ({
        ...row,
        "count / boundary": row.count / row.boundary,
        "predicted / count": ratio(row),
      })),
    },
    options,
  );
}
