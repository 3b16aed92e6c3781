/**
 * What counting costs: tokens of a trial at the capacity over the capacity reached, and pairs of a model with and
 * without reasoning (second paper, Figures 3a and 3b).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { formatNumber } from "./format-number.js";
import { BLUE, GREY, PALE_GREY, VERMILION } from "./palette.js";

export interface TokenFrontierRow {
  readonly model: string;
  /** Items; 0 stands for below the first tier. */
  readonly capacity: number;
  /** The capacity as it is called: `416`, `<32`. */
  readonly label: string;
  /** Mean tokens of a trial there, prompt and answer. */
  readonly tokens: number;
  /** No other model reaches as much with fewer tokens. */
  readonly frontier: boolean;
}

export interface TokenFrontierOptions extends FigureOptions {
  /** Models to join by a line: without and with reasoning. */
  readonly pairs?: readonly (readonly [string, string])[];
  /** Where `<32` is drawn, in items. Default 16. */
  readonly belowAs?: number;
}

/** Capacity over tokens, both logarithmic; frontier models named, pairs joined, `<32` as crosses at the bottom. */
export function tokenFrontier(
  rows: readonly TokenFrontierRow[],
  options: TokenFrontierOptions = {},
): FigureSpec {
  requireRows("token-frontier", rows, "capacity", "tokens");
  const bad = rows.find((row) => row.tokens <= 0);
  if (bad) throw new Error(`token-frontier: ${bad.model} has ${bad.tokens} tokens; expected above 0`);
  const belowAs = options.belowAs ?? 16;
  const height = (row: TokenFrontierRow): number => (row.capacity > 0 ? row.capacity : belowAs);
  const byName = new Map(rows.map((row) => [row.model, row]));
  const points = (
    name: string,
    own: readonly TokenFrontierRow[],
    marker: Record<string, unknown>,
    named: boolean,
  ): Trace => ({
    type: "scatter",
    mode: named ? "markers+text" : "markers",
    x: own.map((row) => row.tokens),
    y: own.map(height),
    ...(named
      ? {
          text: own.map((row) => escapeLabel(row.model)),
          textposition: "top center",
          textfont: { size: 8.5 },
        }
      : {}),
    customdata: own.map(
      (row) =>
        `${escapeLabel(row.model)}: ${escapeLabel(row.label)} items, ${formatNumber(row.tokens)} tokens`,
    ),
    hovertemplate: "%{customdata}<extra></extra>",
    marker: { size: 6, ...marker },
    name,
    cliponaxis: false,
  });
  const joined = (options.pairs ?? []).map(([from, to]) => {
    const ends = [from, to].map((name) => {
      const row = byName.get(name);
      if (row === undefined)
        throw new Error(`token-frontier: pair names ${JSON.stringify(name)}, which no row has`);
      return row;
    });
    return {
      type: "scatter",
      mode: "lines",
      x: ends.map((r) => r.tokens),
      y: ends.map(height),
      line: { color: GREY, width: 1, dash: "dot" },
      hoverinfo: "skip",
      showlegend: false,
    };
  });
  const groups: readonly [string, readonly TokenFrontierRow[], Record<string, unknown>, boolean][] = [
    ["on the frontier", rows.filter((row) => row.frontier), { color: BLUE }, true],
    [
      "others",
      rows.filter((row) => !row.frontier && row.capacity > 0),
      { color: PALE_GREY, line: { color: GREY, width: 0.8 } },
      false,
    ],
    [
      "below the first tier",
      rows.filter((row) => row.capacity <= 0),
      { color: VERMILION, symbol: "x-thin", line: { color: VERMILION, width: 1.2 } },
      false,
    ],
  ];
  const xs = rows.map((row) => Math.log10(row.tokens));
  const ys = rows.map((row) => Math.log10(height(row)));
  const logAxis = { type: "log", dtick: 1, minor: { ticks: "outside", ticklen: 2, dtick: "D1" } };
  return figure(
    {
      kind: "token-frontier",
      caption: `Counting capacity over the mean tokens of a trial there (n = ${rows.length} models); blue: no other model reaches as much with fewer tokens${joined.length > 0 ? "; dotted: the same model without and with reasoning" : ""}.`,
      width: options.width ?? "single",
      height: 250,
      data: [...joined, ...groups.filter(([, own]) => own.length > 0).map(([...group]) => points(...group))],
      layout: {
        showlegend: true,
        xaxis: {
          title: { text: "tokens a trial" },
          ...logAxis,
          range: [Math.min(...xs) - 0.2, Math.max(...xs) + 0.2],
        },
        yaxis: {
          title: { text: "capacity (items)" },
          ...logAxis,
          range: [Math.min(...ys) - 0.12, Math.max(...ys) + 0.2],
        },
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
