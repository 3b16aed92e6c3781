/**
 * What every figure function returns: plain data, plotly's `data` and `layout` beside `meta`, from which it can be
 * shown (`show`), exported (`exportFigure`) and collected into the report.
 *
 * Sizes are logical: 4 pixels are 1 mm of paper, so that 10 px of text are 7 pt in print.
 */
import { inspectAsFigure } from "./notebook-display.js";
import { theme } from "./theme.js";

/** One plotly trace. */
export interface Trace {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** One line of the data behind a figure, as it goes into its CSV. */
export type Row = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Where the numbers come from; any plain record. */
export type ProvenanceRecord = object;

/** A journal's column: `single` 85 mm, `double` 180 mm. */
export type FigureWidth = "single" | "double";

/** What goes with a figure beside its drawing. */
export interface FigureMeta {
  /** kebab-case; the file name when exported. */
  readonly name: string;
  readonly caption: string;
  /** Column width the figure was laid out for: 85 mm or 180 mm. */
  readonly width: FigureWidth;
  /** Logical px below which its texts overlap: narrower it is laid out anew, with the option `width`. */
  readonly narrowest?: number;
  /** The data drawn, for the CSV. */
  readonly rows: readonly Row[];
  readonly provenance?: ProvenanceRecord;
}

/** A figure: plotly's data and layout, and what it is of. */
export interface FigureSpec {
  readonly data: readonly Trace[];
  readonly layout: Readonly<Record<string, unknown>>;
  readonly meta: FigureMeta;
}

/** Options that every figure function takes. */
export interface FigureOptions {
  /** File name and key in the report. Default: the figure's kind, e.g. `logit-lens`. */
  readonly name?: string;
  /** Replaces the figure's own caption, which says what is drawn and never what it proves. */
  readonly caption?: string;
  /** Column width it is laid out for. Default: the figure's own. */
  readonly width?: FigureWidth;
  /** Where the numbers come from: goes into every exported file. */
  readonly provenance?: ProvenanceRecord;
}

/** What a figure function gives to `figure`. */
export interface FigureParts {
  readonly kind: string;
  readonly caption: string;
  readonly width: FigureWidth;
  /** Logical pixels (4 a millimetre), with one row of legend; further rows are added to it. */
  readonly height: number;
  /** Logical px below which texts overlap. Default: none. */
  readonly narrowest?: number;
  readonly data: readonly Trace[];
  readonly layout: Readonly<Record<string, unknown>>;
  readonly rows: readonly Row[];
}

/** Logical pixels for a millimetre of paper. */
export const PIXELS_PER_MM = 4;

/** Column widths in millimetres. */
export const COLUMN_MM: Readonly<Record<FigureWidth, number>> = { single: 85, double: 180 };

/** Logical pixels of a column. */
export function columnPixels(width: FigureWidth): number {
  return COLUMN_MM[width] * PIXELS_PER_MM;
}

/** Puts a figure together: size, theme and meta around a figure function's traces and axes. */
export function figure(parts: FigureParts, options: FigureOptions = {}): FigureSpec {
  const name = options.name ?? parts.kind;
  if (!/^[a-z0-9][a-z0-9._-]*$/i.test(name)) {
    throw new Error(
      `${parts.kind}: name ${JSON.stringify(name)} cannot be a file name; use letters, digits, "-" and "_"`,
    );
  }
  const spec: FigureSpec = {
    data: parts.data,
    layout: {
      template: theme("light"),
      ...parts.layout,
      width: columnPixels(parts.width),
      height: Math.round(parts.height + legendOverflow(parts)),
    },
    meta: {
      name,
      caption: options.caption ?? parts.caption,
      width: parts.width,
      ...(parts.narrowest === undefined ? {} : { narrowest: Math.round(parts.narrowest) }),
      rows: parts.rows,
      ...(options.provenance ? { provenance: options.provenance } : {}),
    },
  };
  return inspectAsFigure(spec);
}

/** Pixels of the legend's rows after its first: the plot keeps its height however many names there are. */
function legendOverflow(parts: FigureParts): number {
  if (parts.layout.showlegend !== true) return 0;
  const shown = parts.data.filter((trace) => trace.showlegend !== false && typeof trace.name === "string");
  const names = [...new Set(shown.map((trace) => String(trace.name)))];
  // Plotly sets a wrapped legend in columns as wide as the longest entry; a character is about 4.8 px wide.
  const entry = 46 + 4.8 * Math.max(0, ...names.map((name) => name.replace(/&[#\w]+;/g, "x").length));
  const columns = Math.max(1, Math.floor((columnPixels(parts.width) - 45) / entry));
  return 15 * Math.max(0, Math.ceil(names.length / columns) - 1);
}

/** Throws where there is nothing to draw, or where a number that must be finite is not. */
export function requireRows<T>(kind: string, rows: readonly T[], ...numbers: (keyof T & string)[]): void {
  if (rows.length === 0) {
    throw new Error(`${kind}: no rows; expected at least one; check that the run before it returned any`);
  }
  rows.forEach((row, i) => {
    for (const key of numbers) {
      const value = row[key];
      if (typeof value !== "number" || !Number.isFinite(value)) {
        throw new Error(
          `${kind}: row ${i} has ${key} ${String(value)}; expected a finite number; drop such rows first`,
        );
      }
    }
  });
}
