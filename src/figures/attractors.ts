/**
 * The numbers that models fall back to once counting has failed (second paper, Figure 2c).
 */
import { type FigureOptions, type FigureSpec, figure, requireRows } from "./figure-spec.js";
import { formatPercent } from "./format-number.js";
import { BLUE, PALE_GREY, SEQUENTIAL } from "./palette.js";

/** A wrong answer and how often it was given. */
export interface AttractorRow {
  /** The wrong answer. */
  readonly prediction: number;
  /** How often it was given. */
  readonly times: number;
}

export interface AttractorsOptions extends FigureOptions {
  /** How many of the most frequent ones get a bar of their own. Default 12. */
  readonly top?: number;
}

/** Bars of the most frequent wrong answers, multiples of ten marked, and the rest together in a last bar. */
export function attractors(rows: readonly AttractorRow[], options: AttractorsOptions = {}): FigureSpec {
  requireRows("attractors", rows, "prediction", "times");
  const total = rows.reduce((sum, row) => sum + row.times, 0);
  if (total <= 0) throw new Error("attractors: no wrong answer was counted; expected times above 0");
  const sorted = [...rows]
    .filter((row) => row.times > 0)
    .sort((a, b) => b.times - a.times || a.prediction - b.prediction);
  const shown = sorted.slice(0, options.top ?? 12);
  const rest = sorted.slice(shown.length);
  const restTimes = rest.reduce((sum, row) => sum + row.times, 0);
  const bar = (name: string, color: string, own: readonly (readonly [string, number])[]) => ({
    type: "bar",
    orientation: "h",
    x: own.map(([, times]) => times / total),
    y: own.map(([label]) => label),
    text: own.map(([, times]) => `${formatPercent(times / total)} (${times.toLocaleString("en-US")})`),
    textposition: "outside",
    textfont: { size: 8.5 },
    cliponaxis: false,
    marker: { color },
    width: 0.7,
    name,
    hovertemplate: "%{y}: %{text}<extra></extra>",
  });
  const label = (value: number): string => value.toLocaleString("en-US");
  const pick = (tens: boolean) =>
    shown
      .filter((row) => (row.prediction % 10 === 0) === tens)
      .map((row) => [label(row.prediction), row.times] as const);
  const groups = [
    bar("multiple of 10", BLUE, pick(true)),
    bar("other", SEQUENTIAL[2]!, pick(false)),
    bar("rest", PALE_GREY, rest.length > 0 ? [[`${rest.length} others`, restTimes]] : []),
  ].filter((group) => group.y.length > 0);
  const categories = [
    ...shown.map((row) => label(row.prediction)),
    ...(rest.length > 0 ? [`${rest.length} others`] : []),
  ];
  const longest = Math.max(restTimes, ...shown.map((row) => row.times)) / total;
  return figure(
    {
      kind: "attractors",
      caption: `Wrong answers after counting failed, by how often they were given (n = ${total.toLocaleString("en-US")} wrong answers, ${sorted.length} different numbers).`,
      width: options.width ?? "single",
      height: categories.length * 16 + 70,
      data: groups,
      layout: {
        showlegend: groups.length > 1,
        barmode: "overlay",
        xaxis: {
          title: { text: "share of wrong answers" },
          tickformat: ".0%",
          range: [0, longest * 1.32],
          nticks: 5,
        },
        yaxis: {
          title: { text: "predicted count" },
          type: "category",
          categoryorder: "array",
          categoryarray: categories,
          range: [categories.length - 0.4, -0.6],
          ticks: "",
          showgrid: false,
        },
      },
      rows: sorted.map(({ prediction, times }) => ({ prediction, times, share: times / total })),
    },
    options,
  );
}
