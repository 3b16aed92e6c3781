import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { publishTable, readRegistry } from "../../src/figures/registry.js";
import { type ReportItem, reportPage, writeReport } from "../../src/figures/report-page.js";
import { show } from "../../src/figures/show.js";
import { tableHtml } from "../../src/figures/table.js";
import { HOSTILE } from "./browser-here.js";
import { figures } from "./example-figures.js";

const svg =
  '<svg class="main-svg" width="85mm" height="60mm" viewBox="0 0 340 240"><metadata>{}</metadata>' +
  '<rect x="0" y="0" width="340" height="240" style="fill: rgb(255, 255, 255); fill-opacity: 1;"/>' +
  '<text style="fill: rgb(0, 0, 0)">a</text><text style="fill: rgb(255, 255, 255)">on a cell</text></svg>';

const item: ReportItem = {
  notebook: "01-zero-error-horizon",
  figure: "error-grid",
  caption: `Errors ${HOSTILE}`,
  headline: `horizon 22 ${HOSTILE}`,
  value: 22,
  files: ["figures/01-zero-error-horizon-error-grid.svg", "figures/01-zero-error-horizon-error-grid.csv"],
  provenance: { model: HOSTILE, sha256: "ab12", options: { seed: 1 } },
  seconds: 3.21,
  svg,
};

describe("reportPage", () => {
  it("shows caption, headline, time, model, files, notebook and provenance", () => {
    const html = reportPage([item], { provenance: { commit: "abc123" } });
    for (const part of [
      "horizon 22",
      "3.2 s",
      ">SVG<",
      ">CSV<",
      "../notebooks/01-zero-error-horizon.ipynb",
      "ab12",
      "abc123",
      "seed 1",
    ]) {
      expect(html).toContain(part);
    }
  });

  it("names the model of a provenance, and writes its records out", () => {
    const model = { name: `tally ${HOSTILE}`, quantisation: "F32", sha256: "ab12" };
    const html = reportPage([{ ...item, provenance: { model, notes: { sizes: [1, 2], more: { a: 1 } } } }]);
    expect(html).toContain("on tally &lt;img src=x onerror=alert(1)&gt;, F32 ·");
    expect(html).toContain("sha256 ab12");
    expect(html).toContain("sizes [1,2], more {&quot;a&quot;:1}");
  });

  it("shows hostile text as text everywhere", () => {
    const table = { ...item, svg: undefined as unknown as string, table: tableHtml([{ a: HOSTILE }]) };
    const html = reportPage([item, table], {
      title: HOSTILE,
      introduction: HOSTILE,
      notebooks: [{ notebook: item.notebook, title: HOSTILE, error: HOSTILE }],
      provenance: { [HOSTILE]: HOSTILE },
    });
    expect(html).not.toContain("<img");
    expect(html.split("&lt;img src=x onerror=alert(1)&gt;").length).toBeGreaterThan(12);
  });

  it("loads nothing: no address but links", () => {
    const html = reportPage([item]);
    expect(html).not.toMatch(/<[^>]*\ssrc=|@import|url\(|https?:\/\//);
    expect(html).toContain("default-src 'none'");
  });

  it("recolours a figure's inks and ground, and leaves text on cells", () => {
    const html = reportPage([item]);
    expect(html).toContain('style="fill: none; fill-opacity: 1;"');
    expect(html).toContain('style="fill: var(--ink)"');
    expect(html).toContain('<text style="fill: rgb(255, 255, 255)">on a cell');
    expect(html).not.toContain("<metadata>");
  });

  it("draws figures without an SVG in the page, with plotly once, and needs it given", () => {
    const { svg: _, ...rest } = item;
    const live = { ...rest, spec: figures.interference!() };
    const html = reportPage([live, { ...live, figure: "second" }], { plotly: "var Plotly;//</script>" });
    expect(html.match(/var Plotly/g)).toHaveLength(1);
    expect(html.match(/<\/script>/g)).toHaveLength(2);
    expect(html).not.toContain("<img");
    expect(() => reportPage([live])).toThrow("reportPage: some figures have no SVG");
  });

  it("is the same page for the same items, and says when there are none", () => {
    expect(reportPage([item])).toBe(reportPage([item]));
    expect(reportPage([])).toContain("No figure was shown");
  });

  it("lists failed notebooks that showed nothing", () => {
    const html = reportPage([], { notebooks: [{ notebook: "02-speed", error: "cell 3: boom" }] });
    expect(html).toContain("cell 3: boom");
    expect(html).toContain(">failed<");
  });
});

describe("registry", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "countlens-report-"));
    vi.stubEnv("COUNTLENS_REPORT", folder);
    vi.stubEnv("COUNTLENS_NOTEBOOK", "07-count-probe");
    // Without a browser a figure leaves its data and itself.
    vi.stubEnv("COUNTLENS_CHROME", "");
    vi.stubEnv("PATH", "");
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  it("collects what is shown, in order, and the page is made from it", async () => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    await show(figures["probe-projection"]!(), { headline: "R² 0.99 at layer 2", value: 0.99, seconds: 1.5 });
    await show([{ layer: 2, r2: 0.99 }], {
      name: "table-r2",
      caption: "R² by layer",
      headline: "best: layer 2",
    });
    await show([{ not: "in the report" }]);
    expect(said.mock.calls.map(([text]) => String(text).split("\n")[0])).toEqual([
      expect.stringContaining("[figure probe-projection: "),
      "R² by layer",
      "not",
    ]);
    said.mockRestore();
    const entries = await readRegistry(folder);
    expect(
      entries.map(({ notebook, figure, headline, value }) => ({ notebook, figure, headline, value })),
    ).toEqual([
      { notebook: "07-count-probe", figure: "probe-projection", headline: "R² 0.99 at layer 2", value: 0.99 },
      { notebook: "07-count-probe", figure: "table-r2", headline: "best: layer 2", value: undefined },
    ]);
    expect(entries[0]!.seconds).toBe(1.5);
    for (const file of entries.flatMap((entry) => entry.files))
      expect(readFileSync(join(folder, file), "utf8")).not.toBe("");
    const page = readFileSync(await writeReport(folder), "utf8");
    expect(page).toContain("R² by layer");
    expect(page).toContain("Plotly.newPlot");
  });

  it("is empty where nothing was shown, says which line is broken, and waits for what is being written", async () => {
    expect(await readRegistry(folder)).toEqual([]);
    writeFileSync(join(folder, "figures.jsonl"), "{}\n{half\n");
    await expect(readRegistry(folder)).rejects.toThrow("readRegistry: line 2");
    // A line that another notebook is still writing is not there yet.
    writeFileSync(join(folder, "figures.jsonl"), "{}\n{half");
    expect(await readRegistry(folder)).toHaveLength(1);
  });

  it("writes nothing where no report is being made", async () => {
    vi.stubEnv("COUNTLENS_REPORT", "");
    expect(await publishTable([{ a: 1 }], { name: "t" })).toBeUndefined();
    expect(await readRegistry(folder)).toEqual([]);
  });
});
