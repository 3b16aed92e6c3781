/**
 * What counting costs: tokens of a trial at the capacity over the capacity reached, and pairs of a model with and
 * without reasoning (second paper, Figures 3a and 3b).
 */
import { escapeLabel, shorten } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { formatNumber } from "./format-number.js";
import { doublings } from "./log-ticks.js";
import { BLUE, GREY, PALE_GREY, VERMILION } from "./palette.js";

/** A model's capacity against the tokens it takes. */
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
    names: readonly string[],
  ): Trace => ({
    type: "scatter",
    mode: names.length > 0 ? "markers+text" : "markers",
    x: own.map((row) => row.tokens),
    y: own.map(height),
    ...(names.length > 0 ? { text: names, textposition: "middle left", textfont: { size: 8.5 } } : {}),
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
  const xs = rows.map((row) => Math.log10(row.tokens));
  const ys = rows.map((row) => Math.log10(height(row)));
  const rangeX = [Math.min(...xs) - 0.45, Math.max(...xs) + 0.15] as const;
  const rangeY = [Math.min(...ys) - 0.12, Math.max(...ys) + 0.15] as const;
  const best = rows.filter((row) => row.frontier).sort((a, b) => b.capacity - a.capacity);
  const names = namesThatFit(
    best.map((row) => ({
      name: row.model,
      x: share(Math.log10(row.tokens), rangeX),
      y: share(Math.log10(height(row)), rangeY),
    })),
  );
  const groups: readonly [string, readonly TokenFrontierRow[], Record<string, unknown>, readonly string[]][] =
    [
      ["on the frontier", best, { color: BLUE }, names],
      [
        "others",
        rows.filter((row) => !row.frontier && row.capacity > 0),
        { color: PALE_GREY, line: { color: GREY, width: 0.8 } },
        [],
      ],
      [
        "below the first tier",
        rows.filter((row) => row.capacity <= 0),
        { color: VERMILION, symbol: "x-thin", line: { color: VERMILION, width: 1.2 } },
        [],
      ],
    ];
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
          type: "log",
          dtick: 1,
          tickformat: ",",
          range: rangeX,
        },
        yaxis: {
          title: { text: "capacity (items)" },
          type: "log",
          ...doublings(rows.map(height)),
          range: rangeY,
        },
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}

function share(value: number, [from, to]: readonly [number, number]): number {
  return (value - from) / (to - from);
}

/** Names to the left of their points, where none meets another or the axis; the rest stays for the hover. */
function namesThatFit(points: readonly { name: string; x: number; y: number }[]): string[] {
  const [plotWidth, plotHeight, line] = [290, 180, 11];
  const taken: { from: number; to: number; y: number }[] = [];
  return points.map(({ name, x, y }) => {
    const short = shorten(name, 18);
    const box = {
      from: x * plotWidth - 6 - 4.8 * Array.from(short).length,
      to: x * plotWidth + 4,
      y: y * plotHeight,
    };
    const meets = taken.some(
      (other) => Math.abs(other.y - box.y) < line && other.from < box.to && box.from < other.to,
    );
    taken.push(meets ? { ...box, from: x * plotWidth - 4 } : box);
    return box.from < 0 || meets ? "" : escapeLabel(short);
  });
}
