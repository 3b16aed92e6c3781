/**
 * Colours. Categories: Okabe and Ito's set, distinguishable with the common colour-vision deficiencies, black and
 * yellow left out (ink and too pale). Scales are interpolated linearly in sRGB between their stops.
 */

/** Colours of categories, in the order of use. */
export const CATEGORIES: readonly string[] = [
  "#0072b2", // blue
  "#d55e00", // vermilion
  "#009e73", // green
  "#cc79a7", // purple
  "#e69f00", // orange
  "#56b4e9", // sky
  "#6b6b6b", // grey
];

export const BLUE = "#0072b2";
export const VERMILION = "#d55e00";
export const GREEN = "#009e73";
export const ORANGE = "#e69f00";
export const GREY = "#6b6b6b";
export const PALE_GREY = "#c9ccd1";

/** Colour of category `i`; past the last one they repeat. */
export function category(i: number): string {
  return CATEGORIES[i % CATEGORIES.length]!;
}

export type Scale = readonly string[];

/** Pale to dark blue: grows in darkness, so it survives greyscale printing. */
export const SEQUENTIAL: Scale = ["#f4f8fc", "#cfe1f2", "#93c4df", "#4a97c9", "#1764ab", "#08306b"];
/** Vermilion below, white in the middle, blue above. */
export const DIVERGING: Scale = ["#a63603", "#e6853b", "#fbd0ad", "#f7f7f7", "#b5d4e9", "#4a97c9", "#08519c"];
/** Ordered categories (layers, model sizes): cividis-like, from dark blue to ochre; no end is too pale for a line. */
export const ORDERED: Scale = ["#0b2e63", "#3b5a86", "#6f7a7c", "#a1924f", "#d5a91e"];

/** `#rrggbb` at `t` in 0..1 of a scale; outside it is clamped, NaN is mid-grey. */
export function colorAt(scale: Scale, t: number): string {
  if (Number.isNaN(t)) return "#bdbdbd";
  const position = Math.min(1, Math.max(0, t)) * (scale.length - 1);
  const lower = Math.min(scale.length - 2, Math.floor(position));
  const [a, b] = [channels(scale[lower]!), channels(scale[lower + 1]!)];
  const share = position - lower;
  return `#${a.map((value, i) => hex(value + (b[i]! - value) * share)).join("")}`;
}

/** `n` colours of the ordered scale, first to last. */
export function ordered(n: number): string[] {
  return Array.from({ length: n }, (_, i) => colorAt(ORDERED, n === 1 ? 0 : i / (n - 1)));
}

/** Near-black or white: whichever reads better on `background` (`#rrggbb`). */
export function inkOn(background: string): string {
  const [r, g, b] = channels(background).map((value) => {
    const c = value / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  // Relative luminance at which both have a contrast of 4.6 : 1. Not pure black: that is the print theme's ink, which
  // the report recolours, while text on a cell keeps its colour.
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b! > 0.18 ? "#010409" : "#ffffff";
}

/** A colour (`#rrggbb`) with an opacity in 0..1. */
export function withAlpha(color: string, alpha: number): string {
  return `rgba(${channels(color).join(",")},${alpha})`;
}

/** A scale in plotly's form. */
export function plotlyScale(scale: Scale): [number, string][] {
  return scale.map((color, i) => [i / (scale.length - 1), color]);
}

function channels(color: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
}

function hex(value: number): string {
  return Math.round(value).toString(16).padStart(2, "0");
}
