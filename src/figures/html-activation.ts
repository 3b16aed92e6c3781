/**
 * A captured activation as it shows itself: where it was taken, its shape, its size in a few numbers, and a picture,
 * rows downwards and columns to the right. The picture is made here, without a browser, and stands inside the HTML.
 */
import { encodePng } from "./encode-png.js";
import { escapeHtml } from "./escape-html.js";
import { formatNumber } from "./format-number.js";
import { type Shown, shownBundle } from "./html-tokens.js";
import { richly } from "./notebook-display.js";
import { colorAt, DIVERGING } from "./palette.js";

/** What is read of an activation: the engine's `Activation` has this shape. */
export interface ActivationFacts {
  readonly hook: { readonly kind: string; readonly layer: number };
  readonly positions: ArrayLike<number>;
  readonly width: number;
  /** `[position, width]`, row-major. */
  readonly data: Float32Array;
}

const MOST_COLUMNS = 512;
const MOST_ROWS = 256;
/** Share of values that the colours tell apart: a residual stream has a few columns many times larger than the rest. */
const SHARE = 0.99;

const SECOND_AXIS: Readonly<Record<string, string>> = {
  heads: "head x d_head",
  attnPattern: "head x key position",
};

/**
 * Shape, range and picture. Colours diverge around 0 and reach their ends at the 99th percentile of |value|. Above 512
 * columns or 256 rows several share a pixel, which then shows the one farthest from 0. NaN is grey, and counted.
 */
export function htmlActivation(activation: ActivationFacts): Shown {
  const { hook, positions, width, data } = activation;
  const rows = width === 0 ? 0 : data.length / width;
  const name = hookLabel(hook);
  const shape = `[position ${rows}, ${SECOND_AXIS[hook.kind] ?? "d_model"} ${width}]`;
  const { mean, sd, most, broken } = summary(data);
  const facts = [
    `mean ${formatNumber(mean)}`,
    `sd ${formatNumber(sd)}`,
    `largest |value| ${formatNumber(most)}`,
    ...(broken === 0 ? [] : [`${broken} not finite`]),
  ];
  const text = `${name} ${shape}: ${facts.join(", ")}`;
  if (rows === 0) return richly({ html: `<div>${escapeHtml(text)}</div>`, text }, shownBundle);
  const end = percentile(data, SHARE);
  const picture = draw(data, rows, width, end);
  const zoomX = Math.max(1, Math.min(8, Math.floor(640 / picture.width)));
  const zoomY = Math.max(1, Math.min(14, Math.floor(320 / picture.height)));
  const key = [
    `rows: positions ${positionsText(positions)}`,
    `colour: −${formatNumber(end)} (orange) to ${formatNumber(end)} (blue), ${100 * SHARE} % of values`,
    ...(picture.columns > 1 || picture.rows > 1
      ? [`a pixel: ${picture.rows} x ${picture.columns} values, the one farthest from 0`]
      : []),
  ];
  const html =
    `<div class="countlens-activation" style="max-width:60rem"><div><b>${escapeHtml(name)}</b> ${escapeHtml(shape)}</div>` +
    `<div style="opacity:.7">${escapeHtml(facts.join(" · "))}</div>` +
    `<img alt="${escapeHtml(text)}" width="${picture.width * zoomX}" height="${picture.height * zoomY}" ` +
    `style="image-rendering:pixelated;margin:4px 0;border:1px solid rgba(128,128,128,.4);max-width:none" ` +
    `src="data:image/png;base64,${picture.png.toString("base64")}">` +
    `<div style="opacity:.7">${escapeHtml(key.join(" · "))}</div></div>`;
  return richly({ html, text }, shownBundle);
}

/** `residPost(3)`, `embed()`. */
export function hookLabel(hook: ActivationFacts["hook"]): string {
  return hook.layer < 0 ? `${hook.kind}()` : `${hook.kind}(${hook.layer})`;
}

function summary(data: Float32Array): { mean: number; sd: number; most: number; broken: number } {
  let [n, sum, squares, most] = [0, 0, 0, 0];
  for (const value of data) {
    if (!Number.isFinite(value)) continue;
    n++;
    sum += value;
    squares += value * value;
    most = Math.max(most, Math.abs(value));
  }
  const mean = n === 0 ? Number.NaN : sum / n;
  const sd = n === 0 ? Number.NaN : Math.sqrt(Math.max(0, squares / n - mean * mean));
  return { mean, sd, most, broken: data.length - n };
}

/** Of |value|, on at most 100,000 of them, evenly spaced. */
function percentile(data: Float32Array, share: number): number {
  const step = Math.max(1, Math.floor(data.length / 100_000));
  const sizes: number[] = [];
  for (let i = 0; i < data.length; i += step) if (Number.isFinite(data[i]!)) sizes.push(Math.abs(data[i]!));
  sizes.sort((a, b) => a - b);
  return sizes[Math.floor(share * (sizes.length - 1))] ?? 0;
}

function positionsText(positions: ArrayLike<number>): string {
  const all = Array.from(positions);
  const contiguous = all.every((position, i) => position === all[0]! + i);
  if (contiguous && all.length > 2) return `${all[0]} to ${all.at(-1)}`;
  return all.length <= 8 ? all.join(", ") : `${all.slice(0, 4).join(", ")} … ${all.at(-1)}`;
}

interface Picture {
  readonly png: Buffer;
  readonly width: number;
  readonly height: number;
  /** Values that share a pixel. */
  readonly rows: number;
  readonly columns: number;
}

function draw(data: Float32Array, rows: number, width: number, end: number): Picture {
  const perX = Math.ceil(width / MOST_COLUMNS);
  const perY = Math.ceil(rows / MOST_ROWS);
  const [across, down] = [Math.ceil(width / perX), Math.ceil(rows / perY)];
  const scale = colours();
  const pixels = new Uint8Array(across * down * 3);
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      let shown = Number.NaN;
      for (let row = y * perY; row < Math.min(rows, (y + 1) * perY); row++) {
        for (let column = x * perX; column < Math.min(width, (x + 1) * perX); column++) {
          const value = data[row * width + column]!;
          if (!(Math.abs(value) <= Math.abs(shown))) shown = Number.isNaN(value) ? shown : value;
        }
      }
      const t = end === 0 ? (Number.isNaN(shown) ? Number.NaN : 0.5) : (shown / end + 1) / 2;
      const at = Number.isNaN(t) ? 256 : Math.round(255 * Math.min(1, Math.max(0, t)));
      pixels.set(scale[at]!, (y * across + x) * 3);
    }
  }
  return { png: encodePng(pixels, across, down), width: across, height: down, rows: perY, columns: perX };
}

/** 256 colours from one end to the other, and that of NaN behind them. */
function colours(): number[][] {
  const ends = Array.from({ length: 256 }, (_, i) => i / 255);
  return [...ends, Number.NaN].map((t) => {
    const color = colorAt(DIVERGING, t);
    return [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
  });
}
