import { createRequire } from "node:module";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { closeBrowser } from "../../src/figures/browser.js";
import { htmlRecord } from "../../src/figures/html-record.js";
import { htmlTokens } from "../../src/figures/html-tokens.js";
import { inNotebook, liveFigure, type MimeBundle } from "../../src/figures/notebook-display.js";
import { progress } from "../../src/figures/progress.js";
import { richBundle } from "../../src/figures/rich-display.js";
import { show } from "../../src/figures/show.js";
import { HOSTILE, hasBrowser, reason } from "./browser-here.js";
import { figures } from "./example-figures.js";

type Sent = { data: MimeBundle; transient: { display_id?: string }; update: boolean };

/** tslab's own module, its output caught where its kernel would send it on. */
const jupyter = createRequire(import.meta.url)("tslab/dist/jupyter.js") as { lastWriteDisplayData: unknown };
let sent: Sent[] = [];

beforeAll(() => {
  jupyter.lastWriteDisplayData = (message: Omit<Sent, "update">, update: boolean) =>
    sent.push({ ...message, update });
});
afterEach(() => {
  sent = [];
  vi.unstubAllEnvs();
});
afterAll(async () => {
  jupyter.lastWriteDisplayData = null;
  await closeBrowser();
});

describe("show in a notebook", () => {
  it.skipIf(!hasBrowser)(
    `sends plotly JSON, PNG and text as one output${reason}`,
    async () => {
      expect(inNotebook()).toBe(true);
      await show(figures.attractors!());
      expect(sent).toHaveLength(1);
      const { data } = sent[0]!;
      expect(Object.keys(data).sort()).toEqual(["application/vnd.plotly.v1+json", "image/png", "text/plain"]);
      expect(Buffer.from(String(data["image/png"]), "base64").subarray(1, 4).toString()).toBe("PNG");
      expect(data["text/plain"]).toContain("[figure attractors: Wrong answers");
    },
    300_000,
  );

  it.skipIf(!hasBrowser)(
    `a figure as a cell's last expression has its picture, too${reason}`,
    async () => {
      const bundle = (await richBundle(figures.attractors!()))!;
      expect(Object.keys(bundle).sort()).toEqual([
        "application/vnd.plotly.v1+json",
        "image/png",
        "text/plain",
      ]);
    },
    300_000,
  );

  it("without a browser leaves out the PNG and says so once", async () => {
    vi.stubEnv("COUNTLENS_CHROME", "");
    vi.stubEnv("PATH", "");
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    await show(figures.attractors!());
    await show(figures.attractors!());
    expect(sent.map(({ data }) => Object.keys(data))).toEqual([
      ["application/vnd.plotly.v1+json", "text/plain"],
      ["application/vnd.plotly.v1+json", "text/plain"],
    ]);
    expect(warned.mock.calls.flat().join()).toMatch(
      /^show: figures have no PNG here: no Chrome or Chromium found; install one/,
    );
    expect(warned).toHaveBeenCalledTimes(1);
    warned.mockRestore();
  });

  it("shows tables and rich HTML, escaped", async () => {
    await show([{ answer: HOSTILE }]);
    await show(
      htmlTokens([{ text: HOSTILE, id: 3 }], {
        spans: [{ name: HOSTILE, positions: [0] }],
        values: [1],
        valueName: HOSTILE,
      }),
    );
    await show(htmlRecord(HOSTILE, { [HOSTILE]: [HOSTILE, 1] }, { subtitle: HOSTILE }));
    expect(sent).toHaveLength(3);
    for (const { data } of sent) {
      expect(data["text/html"]).not.toContain("<img");
      expect(data["text/html"]).toMatch(/&lt;img.src=x/);
    }
  });

  it("refuses what it cannot show", async () => {
    await expect(show(3 as never)).rejects.toThrow("show: got 3; expected a figure, an array of rows");
    await expect(show([1, 2] as never)).rejects.toThrow("show: got an array whose elements are not records");
    await expect(show({ a: 1 } as never)).rejects.toThrow("show: got an object with a;");
  });

  it("updates progress in place, in one output", () => {
    let clock = 0;
    const p = progress("cells", { now: () => clock });
    for (clock of [0, 2500, 2600, 4000]) p.update({ done: clock, total: 5000 });
    p.end();
    expect(sent.map(({ update }) => update)).toEqual([false, true, true]);
    expect(new Set(sent.map(({ transient }) => transient.display_id)).size).toBe(1);
  });
});

describe("a figure as a value", () => {
  it("has a display of its own for the kernel, prints as a line, and stays plain data", () => {
    const figure = figures.attractors!();
    const display = (figure as unknown as Record<symbol, () => MimeBundle>)[Symbol.for("Jupyter.display")]!;
    expect(Object.keys(display())).toEqual(["application/vnd.plotly.v1+json", "text/plain"]);
    expect(inspect(figure)).toBe(`[figure attractors: ${figure.meta.caption}]`);
    expect(Object.keys(figure)).toEqual(["data", "layout", "meta"]);
    expect(sent).toEqual([]);
  });

  it("is enlarged for the screen in lengths only", () => {
    const figure = figures.attractors!();
    const live = liveFigure(figure) as {
      data: { x: number[]; width: number }[];
      layout: { width: number; template: { layout: { font: { size: number } } } };
    };
    expect(live.data[0]!.x).toEqual(figure.data[0]!.x);
    expect(live.data[0]!.width).toBe(0.7);
    expect(live.layout.width).toBe(442);
    expect(live.layout.template.layout.font.size).toBe(13);
  });
});

describe("htmlTokens", () => {
  it("marks spans, colours values and leaves NaN plain", () => {
    const { html, text } = htmlTokens([{ text: " a" }, { text: "," }, { text: "\n", special: true }], {
      spans: [{ name: "items", positions: [0] }],
      values: [1, Number.NaN, -1],
    });
    expect(text).toBe("·a|,|⏎");
    expect(html.match(/inset 0 -3px/g)).toHaveLength(1);
    expect(html).toContain("items (1)");
    expect(html.match(/rgba\(128,128,128,0\.12\)/g)).toHaveLength(1);
  });

  it("refuses values of another length, and takes no tokens", () => {
    expect(() => htmlTokens([{ text: "a" }], { values: [1, 2] })).toThrow(
      "htmlTokens: 2 values for 1 tokens",
    );
    expect(htmlTokens([]).text).toBe("");
  });
});

describe("htmlRecord", () => {
  it("leaves out what is missing and aligns its text", () => {
    expect(htmlRecord("m", { layers: 12_345, none: undefined, width: 0.1234567 }).text).toBe(
      "m\n  layers  12,345\n  width   0.123457",
    );
  });
});
