/**
 * The way from a cell to its output: finds out whether this process is a tslab kernel (or runs a notebook through
 * tslab's executor), and sends whole MIME bundles, several forms of one output in one message.
 *
 * tslab's public `display` sends one type a call, so its internal `lastWriteDisplayData` is used (tslab is pinned).
 * tslab is looked for among the loaded modules and never loaded: outside a kernel that costs nothing.
 */
import { createRequire } from "node:module";
import { inspect } from "node:util";

/** MIME type -> content: text, base64 of binary content, or an object for JSON types. */
export type MimeBundle = Readonly<Record<string, unknown>>;

interface DisplayData {
  readonly data: MimeBundle;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly transient: { readonly display_id?: string };
}

interface Tslab {
  lastWriteDisplayData: ((data: DisplayData, update?: boolean) => void) | null;
}

const loaded = createRequire(import.meta.url).cache as Record<string, { exports: unknown } | undefined>;
let found: Tslab | undefined;

function tslab(): Tslab | undefined {
  if (!found) {
    const path = Object.keys(loaded).find((p) => /[\\/]tslab[\\/]dist[\\/]jupyter\.js$/.test(p));
    found = path === undefined ? undefined : (loaded[path]?.exports as Tslab);
  }
  return found;
}

/** Whether output goes to a notebook cell. */
export function inNotebook(): boolean {
  return typeof tslab()?.lastWriteDisplayData === "function";
}

/**
 * Sends one output to the running cell. With an `id` the output can be overwritten later: the same id with
 * `update: true`. Returns false (and does nothing) outside a notebook.
 */
export function writeDisplay(bundle: MimeBundle, options: { id?: string; update?: boolean } = {}): boolean {
  const write = tslab()?.lastWriteDisplayData;
  if (typeof write !== "function") return false;
  const transient = options.id === undefined ? {} : { display_id: options.id };
  write({ data: bundle, metadata: {}, transient }, options.update ?? false);
  return true;
}

/** The key under which objects say how they are displayed (a convention of Jupyter kernels for JavaScript). */
const displayKey = Symbol.for("Jupyter.display");

/**
 * Makes an object show itself when it is a cell's last expression (the project's kernel looks for `Jupyter.display`);
 * elsewhere, and inside another object, it prints as its `text/plain`. The hooks are not enumerable: copies and JSON
 * do not carry them.
 */
export function richly<T extends object>(value: T, render: (value: T) => MimeBundle): T {
  Object.defineProperty(value, displayKey, { enumerable: false, value: () => render(value) });
  Object.defineProperty(value, inspect.custom, {
    enumerable: false,
    value: () => String(render(value)["text/plain"] ?? ""),
  });
  return value;
}

interface Figure {
  readonly data: readonly unknown[];
  readonly layout: Readonly<Record<string, unknown>>;
  readonly meta: { readonly name: string; readonly caption: string; readonly rows: readonly unknown[] };
}

/** What a figure prints as. */
export function figureText(figure: Figure): string {
  return `[figure ${figure.meta.name}: ${figure.meta.caption}]`;
}

/** Makes a figure show itself, live and as text; the project's kernel and `show` add a picture where there is a browser. */
export function inspectAsFigure<T extends Figure>(figure: T): T {
  return richly(figure, () => ({
    "application/vnd.plotly.v1+json": liveFigure(figure),
    "text/plain": figureText(figure),
  }));
}

const SCREEN_ZOOM = 1.3;

/** Plotly's JSON of a figure for a screen: the layout enlarged, the mode bar short. */
export function liveFigure(figure: Figure): Record<string, unknown> {
  return {
    data: figure.data.map((trace) => zoom(trace)),
    layout: zoom(figure.layout) as Record<string, unknown>,
    config: {
      displaylogo: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: figure.meta.name },
    },
  };
}

// Lengths in pixels, by key. `width` and `height` are pixels everywhere but in bars, whose widths are in data units.
const LENGTHS = new Set(
  (
    "size l r t b pad width height linewidth gridwidth tickwidth ticklen standoff thickness xshift yshift ax ay " +
    "tracegroupgap xpad ypad borderpad borderwidth"
  ).split(" "),
);
const NOT_SIZES = new Set(["xbins", "ybins", "domain", "meta", "customdata"]);

function zoom(value: unknown, key = "", parent = ""): unknown {
  if (typeof value === "number")
    return LENGTHS.has(key) ? Math.round(value * SCREEN_ZOOM * 100) / 100 : value;
  if (Array.isArray(value)) {
    if (key === "size") return value.map((v) => zoom(v, key));
    return value.some((v) => typeof v === "object" && v !== null)
      ? value.map((v) => zoom(v, "", key))
      : value;
  }
  if (typeof value !== "object" || value === null || NOT_SIZES.has(key)) return value;
  const bar = (value as { type?: unknown }).type === "bar";
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [k, bar && k === "width" ? v : zoom(v, k, parent)]),
  );
}
