import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeBrowser } from "../../src/figures/browser.js";
import { exportFigure } from "../../src/figures/export.js";
import type { FigureSpec } from "../../src/figures/figure-spec.js";
import { drawSvg } from "../../src/figures/render.js";
import { hasBrowser, reason } from "./browser-here.js";
import { figures } from "./example-figures.js";

const PATIENCE = 300_000;
const folder = mkdtempSync(join(tmpdir(), "countlens-export-"));
const provenance = { model: "tally-400k", sha256: "ab12", seed: 1, note: "<script>&" };

function withProvenance(figure: FigureSpec): FigureSpec {
  return { ...figure, meta: { ...figure.meta, provenance } };
}

afterAll(async () => {
  await closeBrowser();
  rmSync(folder, { recursive: true });
});

describe("exportFigure", () => {
  it("writes CSV with provenance in comments and JSON, without a browser", async () => {
    const paths = await exportFigure(withProvenance(figures["logit-gap"]!()), {
      folder,
      formats: ["csv", "json"],
    });
    const [csv, json] = paths.map((path) => readFileSync(path, "utf8"));
    expect(csv).toContain("# model: tally-400k\n# sha256: ab12\n");
    expect(csv!.split("\n").find((line) => !line.startsWith("#"))).toBe("count,withEnd,gap,competitor");
    expect(JSON.parse(json!).meta.provenance).toEqual(provenance);
  });

  it.each([
    [{ formats: ["gif" as "svg"] }, 'exportFigure: format "gif" is unknown'],
    [{ name: "../up" }, 'exportFigure: name "../up" is not a file name'],
    [{ width: 9 }, "exportFigure: width 9; expected"],
    [{ width: Number.NaN }, "exportFigure: width NaN; expected"],
  ])("refuses %j", async (options, message) => {
    await expect(exportFigure(figures.attractors!(), { folder, ...options })).rejects.toThrow(message);
  });

  it("refuses a width at which texts would overlap, and says what to do", async () => {
    for (const name of ["error-grid", "horizon-bars", "probe-projection", "token-strip"]) {
      const narrow = exportFigure(figures[name]!(), { folder, width: "single", formats: ["csv"] });
      await expect(narrow).rejects.toThrow(
        `exportFigure: ${name} was laid out for double and its texts overlap at 85 mm; make the figure with { width: "single" }`,
      );
      const single = figures[`${name}-single`]!();
      await expect(exportFigure(single, { folder, width: "single", formats: ["csv"] })).resolves.toHaveLength(
        1,
      );
    }
  });
});

describe.skipIf(!hasBrowser)(`pictures${reason}`, () => {
  const read = (name: string): Buffer => readFileSync(join(folder, name));

  beforeAll(async () => {
    const figure = withProvenance(figures["error-grid-one"]!());
    await exportFigure(figure, { folder, name: "first", width: "single" });
    await closeBrowser();
    await exportFigure(figure, { folder, name: "again", width: "single" });
  }, PATIENCE);

  it("are the same bytes from another browser run, but for their names", () => {
    for (const format of ["pdf", "png", "csv", "json"])
      expect(read(`again.${format}`).equals(read(`first.${format}`)), format).toBe(true);
    expect(read("again.svg").toString().replaceAll("again", "first")).toBe(read("first.svg").toString());
  });

  it("SVG has its size on paper, title, provenance, named fonts and no raster image", () => {
    const svg = read("first.svg").toString();
    expect(svg).toMatch(/^<svg[^>]* width="85mm" height="[\d.]+mm" viewBox="0 0 340 \d+"/);
    expect(svg).toContain("<title>error-grid-one</title>");
    expect(svg).toContain("&lt;script&gt;&amp;");
    expect(svg).not.toMatch(/<image|<script/);
    expect(svg).toMatch(/font-family: 'Helvetica Neue', Helvetica/);
  });

  it("PDF has one page of that size, fixed dates, embedded fonts, no raster image", () => {
    const pdf = read("first.pdf").toString("latin1");
    const [, , bottom, right, top] = /\/MediaBox \[(\S+) (\S+) (\S+) (\S+?) *\]/
      .exec(pdf)!
      .map(Number) as number[];
    expect(right).toBeCloseTo((85 / 25.4) * 72, 1);
    const heightMm = Number(/height="([\d.]+)mm"/.exec(read("first.svg").toString())![1]);
    expect(top! - bottom!).toBeCloseTo((heightMm / 25.4) * 72, 1);
    expect(pdf.match(/\/Type \/Page\b(?!s)/g)).toHaveLength(1);
    expect(
      [...pdf.matchAll(/Date ?\((D:[^)]*)\)/g)].every((match) => match[1]!.startsWith("D:20000101")),
    ).toBe(true);
    expect(pdf).toContain("/FontFile2");
    expect(pdf).not.toMatch(/\/Subtype ?\/Image/);
    const keywords = Buffer.from(/\/Keywords <([0-9A-F]+)>/.exec(pdf)![1]!, "hex")
      .swap16()
      .toString("utf16le")
      .slice(1);
    expect(JSON.parse(keywords)).toMatchObject(provenance);
  });

  it("PNG has 300 dots an inch at 85 mm and its provenance", () => {
    const png = read("first.png");
    expect(Math.abs(png.readUInt32BE(16) - (85 / 25.4) * 300)).toBeLessThan(2);
    const at = png.indexOf("pHYs");
    expect(png.readUInt32BE(at + 4)).toBe(11811);
    expect(png.includes(Buffer.from("iTXt" + "model\0\0\0\0\0tally-400k"))).toBe(true);
  });

  it(
    "a heatmap of 9,801 cells is vector and quick to draw from a few traces",
    async () => {
      const { logitLens } = await import("../../src/figures/logit-lens.js");
      const rows = Array.from({ length: 9801 }, (_, i) => ({
        layer: Math.floor(i / 99),
        position: i % 99,
        token: "a",
        top: "b",
        value: ((i * 7919) % 9801) / 9801,
      }));
      const figure = logitLens(rows);
      expect(figure.data.length).toBeLessThan(60);
      const svg = await drawSvg(figure);
      expect(svg).not.toContain("<image");
      expect(svg.length).toBeLessThan(3_000_000);
    },
    PATIENCE,
  );

  it(
    "hostile text is drawn as text",
    async () => {
      const svg = await drawSvg(figures.interference!());
      expect(svg).toMatch(/>&(lt|#60);img src=x onerror=alert\(1\)&(gt|#62);</);
      expect(svg).not.toContain("<img");
    },
    PATIENCE,
  );
});

describe.skipIf(!hasBrowser)(`every figure${reason}`, () => {
  it.each(Object.entries(figures))(
    "%s is drawn without a raster image, its fonts named",
    async (_, make) => {
      const svg = await drawSvg(make());
      expect(svg).not.toMatch(/<image[\s>]/);
      expect(svg).toContain("Helvetica");
    },
    PATIENCE,
  );
});
