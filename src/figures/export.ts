/**
 * Figures as files for a paper: SVG, PDF, PNG (300 dpi), CSV and JSON, at column width, from a notebook or headless.
 *
 * Vector throughout: an SVG with a raster image in it is refused. The same figure drawn by the same browser gives the
 * same bytes: no dates, no random ids. Provenance goes into each file's own metadata.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { escapeHtml } from "./escape-html.js";
import { COLUMN_MM, type FigureSpec, type FigureWidth, PIXELS_PER_MM } from "./figure-spec.js";
import { withPngMetadata } from "./png-metadata.js";
import { drawPng, drawSvg, printPdf } from "./render.js";
import { stablePdf } from "./stable-pdf.js";
import { tableCsv } from "./table.js";
import type { Variant } from "./theme.js";

/** A file format of `exportFigure`. */
export type ExportFormat = "svg" | "pdf" | "png" | "csv" | "json";

/** Resolution of exported PNGs. */
export const DOTS_PER_INCH = 300;

/** Where, how wide and in which formats. */
export interface ExportOptions {
  /** Folder, made where it is missing. Default `.`. */
  readonly folder?: string;
  /** File name without its ending. Default: the figure's name. */
  readonly name?: string;
  /** `single` (85 mm), `double` (180 mm) or millimetres (40 to 400). Default: what the figure was laid out for. A figure
   * of many panels or words has a least width, and is made anew for a narrower one: `errorGrid(rows, { width: "single" })`. */
  readonly width?: FigureWidth | number;
  /** Default: all five. `csv` and `json` need no browser. */
  readonly formats?: readonly ExportFormat[];
  /** Default `print`. */
  readonly variant?: Variant;
}

const FORMATS: readonly ExportFormat[] = ["svg", "pdf", "png", "csv", "json"];

/**
 * Writes a figure's files and returns their paths, in the order of `formats`. SVG, PDF and PNG need Chrome or
 * Chromium (`findBrowser`); without one the error says how to get it.
 *
 * @example await exportFigure(figure, { folder: "out", width: "single", formats: ["svg", "pdf", "csv"] })
 */
export async function exportFigure(figure: FigureSpec, options: ExportOptions = {}): Promise<string[]> {
  const formats = options.formats ?? FORMATS;
  const unknown = formats.find((format) => !FORMATS.includes(format));
  if (unknown !== undefined) {
    throw new Error(
      `exportFigure: format ${JSON.stringify(unknown)} is unknown; expected one of ${FORMATS.join(", ")}`,
    );
  }
  const name = options.name ?? figure.meta.name;
  if (/[/\\]|^\.*$/.test(name)) {
    throw new Error(
      `exportFigure: name ${JSON.stringify(name)} is not a file name; give the folder as \`folder\``,
    );
  }
  const size = exportSize(figure, options.width);
  const folder = options.folder ?? ".";
  await mkdir(folder, { recursive: true });
  const paths: string[] = [];
  for (const format of formats) {
    const path = join(folder, `${name}.${format}`);
    await writeFile(path, await render(figure, format, size, options.variant ?? "print", name));
    paths.push(path);
  }
  return paths;
}

interface Size {
  /** Logical px. */
  readonly width: number;
  readonly height: number;
  readonly widthMm: number;
  readonly heightMm: number;
}

function exportSize(figure: FigureSpec, width: FigureWidth | number | undefined): Size {
  const asked = width ?? figure.meta.width;
  const widthMm = typeof asked === "number" ? asked : COLUMN_MM[asked];
  if (!(widthMm >= 40 && widthMm <= 400)) {
    throw new Error(
      `exportFigure: width ${String(asked)}; expected "single", "double" or 40 to 400 millimetres`,
    );
  }
  const { name, narrowest = 0 } = figure.meta;
  if (widthMm * PIXELS_PER_MM < narrowest) {
    const least = Math.ceil(narrowest / PIXELS_PER_MM);
    throw new Error(
      `exportFigure: ${name} was laid out for ${figure.meta.width} and its texts overlap at ${widthMm} mm; ` +
        `make the figure with { width: "single" }, or export it at ${least} mm or more`,
    );
  }
  const height = Number(figure.layout.height);
  return { width: Math.round(widthMm * PIXELS_PER_MM), height, widthMm, heightMm: height / PIXELS_PER_MM };
}

async function render(
  figure: FigureSpec,
  format: ExportFormat,
  size: Size,
  variant: Variant,
  name: string,
): Promise<string | Buffer> {
  const { meta } = figure;
  const about = { figure: meta.name, caption: meta.caption, ...meta.provenance };
  const drawing = { variant, width: size.width, height: size.height, idPrefix: name };
  switch (format) {
    case "csv":
      return tableCsv(meta.rows, about);
    case "json":
      return `${JSON.stringify({ data: figure.data, layout: figure.layout, meta }, null, 1)}\n`;
    case "svg":
      return sizedSvg(vectorOnly(await drawSvg(figure, drawing), meta.name), size, about);
    case "pdf": {
      const svg = sizedSvg(vectorOnly(await drawSvg(figure, drawing), meta.name), size, about);
      return stablePdf(await printPdf(svg, meta.name, size.widthMm, size.heightMm), size, about);
    }
    case "png": {
      const scale = (size.widthMm / 25.4) * (DOTS_PER_INCH / size.width);
      return withPngMetadata(await drawPng(figure, scale, drawing), about, DOTS_PER_INCH);
    }
  }
}

function vectorOnly(svg: string, name: string): string {
  if (/<image[\s>]/.test(svg)) {
    throw new Error(
      `exportFigure: ${name} has a raster image in its SVG; draw it with cellTraces instead of a heatmap or gl trace`,
    );
  }
  return svg;
}

/** The drawing at its size on paper, with title, description and provenance. */
function sizedSvg(svg: string, size: Size, about: Readonly<Record<string, unknown>>): string {
  const head =
    `<title>${escapeHtml(about.figure)}</title><desc>${escapeHtml(about.caption)}</desc>` +
    `<metadata>${escapeHtml(JSON.stringify(about))}</metadata>`;
  return svg.replace(/^<svg([^>]*)>/, (_, attributes: string) => {
    const rest = attributes.replace(/\s(width|height|viewBox)="[^"]*"/g, "");
    return `<svg${rest} width="${size.widthMm}mm" height="${size.heightMm}mm" viewBox="0 0 ${size.width} ${size.height}">${head}`;
  });
}
