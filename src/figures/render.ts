/**
 * Figures drawn by plotly.js in a blank page of the headless browser, without a network.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { BrowserContext, Page } from "playwright-core";
import { held, openBrowser } from "./browser.js";
import type { FigureSpec } from "./figure-spec.js";
import { stableSvg } from "./stable-svg.js";
import { type Variant, withVariant } from "./theme.js";

interface Studio {
  readonly context: BrowserContext;
  /** Has plotly loaded. */
  readonly plot: Page;
  /** For printing; made at the first PDF. */
  print?: Page;
}

let studio: Promise<Studio> | undefined;
let queue: Promise<unknown> = Promise.resolve();

/** Path of the plotly.js file that draws figures. */
export function plotlyPath(): string {
  return createRequire(import.meta.url).resolve("plotly.js/dist/plotly.min.js");
}

export interface DrawOptions {
  /** Default `print`. */
  readonly variant?: Variant;
  /** Logical px. Default: the figure's own. */
  readonly width?: number;
  readonly height?: number;
  /** Prefix of the ids inside the SVG, so that several can stand in one page. Default: the figure's name. */
  readonly idPrefix?: string;
}

/** A figure as SVG text, ids made stable; its width and height are logical px. */
export async function drawSvg(figure: FigureSpec, options: DrawOptions = {}): Promise<string> {
  const address = await draw(figure, options, "svg", 1);
  const svg = decodeURIComponent(address.slice(address.indexOf(",") + 1));
  return stableSvg(svg, options.idPrefix ?? figure.meta.name);
}

/** A figure as PNG, `scale` pixels a logical px. */
export async function drawPng(figure: FigureSpec, scale: number, options: DrawOptions = {}): Promise<Buffer> {
  const address = await draw(figure, options, "png", scale);
  return Buffer.from(address.slice(address.indexOf(",") + 1), "base64");
}

/** An SVG printed on one page of exactly this size. */
export async function printPdf(
  svg: string,
  title: string,
  widthMm: number,
  heightMm: number,
): Promise<Buffer> {
  return inTurn(async (studio) => {
    studio.print ??= await studio.context.newPage();
    const { print } = studio;
    await print.setContent(
      `<!doctype html><title></title><style>@page{size:${widthMm}mm ${heightMm}mm;margin:0}html,body{margin:0}` +
        `svg{display:block;width:${widthMm}mm;height:${heightMm}mm}</style>${svg}`,
    );
    await print.evaluate((text) => {
      document.title = text;
    }, title);
    // Rounding can make a second, empty page.
    return print.pdf({
      width: `${widthMm}mm`,
      height: `${heightMm}mm`,
      printBackground: true,
      pageRanges: "1",
    });
  });
}

async function draw(
  figure: FigureSpec,
  options: DrawOptions,
  format: string,
  scale: number,
): Promise<string> {
  const layout = {
    ...withVariant(figure.layout, options.variant ?? "print"),
    ...(options.width ? { width: options.width } : {}),
    ...(options.height ? { height: options.height } : {}),
  } as Record<string, unknown>;
  // Hover layers would be raster images; trace ids are random unless given.
  const data = figure.data
    .filter(({ meta }) => {
      const { role, needs = 0 } = (meta ?? {}) as { role?: string; needs?: number };
      return role !== "hover" && needs <= Number(layout.width);
    })
    .map((trace, i) => ({ ...trace, uid: `t${i}` }));
  const request = { figure: { data, layout, config: { staticPlot: true } }, format, scale };
  return inTurn(({ plot }) =>
    plot.evaluate(async ({ figure, format, scale }) => {
      const { width, height } = figure.layout as { width: number; height: number };
      const { Plotly } = window as unknown as {
        Plotly: { toImage(f: unknown, o: unknown): Promise<string> };
      };
      return Plotly.toImage(figure, { format, width, height, scale });
    }, request),
  );
}

// One picture at a time: the pages are shared.
function inTurn<T>(work: (studio: Studio) => Promise<T>): Promise<T> {
  const turn = queue.then(() => held(async () => work(await openStudio())));
  queue = turn.catch(() => undefined);
  return turn;
}

function openStudio(): Promise<Studio> {
  studio ??= makeStudio().catch((error: unknown) => {
    studio = undefined;
    throw error;
  });
  return studio;
}

async function makeStudio(): Promise<Studio> {
  const browser = await openBrowser();
  browser.on("disconnected", () => {
    studio = undefined;
  });
  const context = await browser.newContext({ offline: true, locale: "en-US", timezoneId: "UTC" });
  const plot = await context.newPage();
  await plot.setContent("<!doctype html><title>plot</title><body></body>");
  await plot.addScriptTag({ content: await readFile(plotlyPath(), "utf8") });
  return { context, plot };
}
