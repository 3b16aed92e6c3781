/**
 * How much the model prefers the right answer, teacher-forced, over the count (second paper, Figure 4c).
 */
import { escapeLabel, visibleToken } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { guideLine } from "./interval.js";
import { BLUE, GREY, ORANGE } from "./palette.js";

/** The right answer's smallest margin at one count. */
export interface LogitGapRow {
  /** True count. */
  readonly count: number;
  /** Smallest margin of the right answer over its tokens: its logit less the largest other, in nats. */
  readonly gap: number;
  /** Whether the token that ends the answer is among them (without it, 4 against 40 never turns negative). */
  readonly withEnd: boolean;
  /** The token that competes at the smallest margin. */
  readonly competitor?: string;
}

export interface LogitGapOptions extends FigureOptions {
  /** First count whose answer is wrong: a dashed line. */
  readonly firstError?: number;
}

/** The gap with and without the end of the answer; below 0 the model prefers another answer. */
export function logitGap(rows: readonly LogitGapRow[], options: LogitGapOptions = {}): FigureSpec {
  requireRows("logit-gap", rows, "count", "gap");
  const line = (withEnd: boolean): Trace[] => {
    const own = rows.filter((row) => row.withEnd === withEnd).sort((a, b) => a.count - b.count);
    if (own.length === 0) return [];
    const color = withEnd ? BLUE : ORANGE;
    return [
      {
        type: "scatter",
        mode: "lines+markers",
        x: own.map((row) => row.count),
        y: own.map((row) => row.gap),
        name: withEnd ? "with the end of the answer" : "without the end",
        line: { color, width: 1.3, dash: withEnd ? "solid" : "dash" },
        marker: {
          size: own.length > 60 ? 3 : 4.5,
          color: own.map((row) => (row.gap < 0 ? "#ffffff" : color)),
          line: { color, width: 1.2 },
        },
        text: own.map(
          (row) =>
            `count ${row.count}: ${row.gap.toFixed(3)}${row.competitor === undefined ? "" : `<br>against ${escapeLabel(visibleToken(row.competitor))}`}`,
        ),
        hovertemplate: "%{text}<extra></extra>",
      },
    ];
  };
  const change = signChange(rows);
  const { firstError } = options;
  return figure(
    {
      kind: "logit-gap",
      caption: `Smallest teacher-forced margin of the right answer over the true count (n = ${new Set(rows.map((row) => row.count)).size} counts)${change === undefined ? "; it never turns negative" : `; negative (open) from ${change}`}${firstError === undefined ? "" : `; dashed: first wrong answer, ${firstError}`}.`,
      width: options.width ?? "single",
      height: 230,
      // Where the end is not what decides, both are one line: the one with the end lies on top.
      data: [...line(false), ...line(true)],
      layout: {
        showlegend: true,
        xaxis: { title: { text: "true count (items)" } },
        yaxis: { title: { text: "logit gap (nats)" } },
        shapes: [
          guideLine("y", 0, { color: GREY, dash: "solid" }),
          ...(firstError === undefined ? [] : [guideLine("x", firstError)]),
        ],
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}

/** The first count with a negative gap (with the end of the answer, where it was measured). */
export function signChange(rows: readonly LogitGapRow[]): number | undefined {
  const preferred = rows.some((row) => row.withEnd) ? rows.filter((row) => row.withEnd) : rows;
  const negative = preferred.filter((row) => row.gap < 0).map((row) => row.count);
  return negative.length === 0 ? undefined : Math.min(...negative);
}
