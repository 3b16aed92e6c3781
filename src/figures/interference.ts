/**
 * Dual task: counting error under a second task beside its controls (second paper, Figure 3c).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { lineWithBand } from "./interval.js";
import { category, GREY } from "./palette.js";

/** Mean error of one condition at one count. */
export interface InterferenceRow {
  readonly condition: string;
  /** True count of the primary task. */
  readonly count: number;
  /** Mean |error| in items. */
  readonly error: number;
  readonly low?: number;
  readonly high?: number;
  /** Trials behind it. */
  readonly n: number;
  /** A control (plain counting, length-matched text): drawn grey, dashed. Default false. */
  readonly control?: boolean;
}

/** One line a condition with its interval as a band. */
export function interference(rows: readonly InterferenceRow[], options: FigureOptions = {}): FigureSpec {
  requireRows("interference", rows, "count", "error", "n");
  const conditions = [...new Set(rows.map((row) => row.condition))];
  const isControl = (condition: string): boolean =>
    rows.find((row) => row.condition === condition)!.control ?? false;
  const tasks = conditions.filter((condition) => !isControl(condition));
  const dashes = ["dash", "dot", "solid"] as const;
  const data: Trace[] = conditions.flatMap((condition) => {
    const own = rows.filter((row) => row.condition === condition).sort((a, b) => a.count - b.count);
    const control = isControl(condition);
    const controls = conditions.filter(isControl);
    return lineWithBand(
      own.map(({ count, error, ...interval }) => ({ ...interval, x: count, y: error })),
      {
        name: escapeLabel(condition),
        color: control ? GREY : category(tasks.indexOf(condition)),
        dash: control ? dashes[controls.indexOf(condition) % 3]! : "solid",
        hover: own.map(
          (row) =>
            `${escapeLabel(condition)}: ${row.error.toPrecision(3)} items at ${row.count} (n = ${row.n})`,
        ),
      },
    );
  });
  const ns = rows.map((row) => row.n);
  const [fewest, most] = [Math.min(...ns), Math.max(...ns)];
  const banded = rows.some((row) => row.low !== undefined);
  return figure(
    {
      kind: "interference",
      caption: `Counting error under a second task; controls grey${banded ? "; bands: intervals of the mean" : ""}. n = ${fewest === most ? most : `${fewest} to ${most}`} trials a point.`,
      width: options.width ?? "single",
      height: 230,
      data,
      layout: {
        showlegend: true,
        xaxis: { title: { text: "true count (items)" } },
        yaxis: { title: { text: "mean |error| (items)" }, rangemode: "tozero" },
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
