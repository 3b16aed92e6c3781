import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { columnPixels, type FigureSpec } from "../../src/figures/figure-spec.js";
import * as room from "../../src/figures/index.js";
import { drawPng } from "../../src/figures/render.js";
import { theme } from "../../src/figures/theme.js";
import { HOSTILE, hasBrowser } from "./browser-here.js";
import { figures } from "./example-figures.js";

const pictures = join(import.meta.dirname, "__pictures__");
const snapshots = join(import.meta.dirname, "__snapshots__");

/** A spec without its theme (which has a snapshot of its own), floating-point noise and most of its points. */
function summary(figure: FigureSpec): string {
  const shortened = (value: unknown): unknown => {
    if (typeof value === "number") return Number(value.toPrecision(6));
    if (Array.isArray(value)) {
      const kept = value.length > 14 ? [...value.slice(0, 12), `... ${value.length}`] : value;
      return kept.map(shortened);
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== "template")
        .map(([k, v]) => [k, shortened(v)]),
    );
  };
  return `${JSON.stringify(shortened(figure), null, 1)}\n`;
}

/** A changed figure leaves its new picture beside the old one, to be looked at before the snapshot is taken over. */
async function keepPicture(
  name: string,
  figure: FigureSpec,
  before: string | undefined,
  text: string,
): Promise<void> {
  const [old, fresh] = [join(pictures, `${name}.png`), join(pictures, `${name}.new.png`)];
  if (before === text) {
    if (existsSync(fresh)) renameSync(fresh, old);
  } else if (hasBrowser) {
    mkdirSync(pictures, { recursive: true });
    writeFileSync(before === undefined ? old : fresh, await drawPng(figure, 3));
  }
}

describe("figure specs", () => {
  it.each(Object.entries(figures))(
    "%s is as it was",
    async (name, make) => {
      const figure = make();
      const file = join(snapshots, `${name}.json`);
      const text = summary(figure);
      await keepPicture(name, figure, existsSync(file) ? readFileSync(file, "utf8") : undefined, text);
      await expect(text).toMatchFileSnapshot(file);
    },
    300_000,
  );

  it("has a theme of its own snapshot", async () => {
    await expect(
      `${JSON.stringify([theme("light"), theme("dark"), theme("print")], null, 1)}\n`,
    ).toMatchFileSnapshot(join(snapshots, "theme.json"));
  });

  it.each(Object.entries(figures))("%s is plain data, in its column, with caption and rows", (_, make) => {
    const figure = make();
    expect(JSON.parse(JSON.stringify(figure)).meta.caption).toBe(figure.meta.caption);
    expect(figure.layout.width).toBe(columnPixels(figure.meta.width));
    expect(figure.meta.caption).toMatch(/\.$/);
    expect(figure.meta.rows.length).toBeGreaterThan(0);
    expect(make()).toEqual(figure);
  });

  it.each(Object.entries(figures))("%s lets no text from outside be read as markup", (_, make) => {
    const { data, layout } = make();
    // Plotly's own tags that figures use are the only `<` there may be.
    for (const text of strings({ data, layout })) {
      expect(text.replace(/<\/?(b|br|extra|span)( style="font-size:[\d.]+px")?>/g, "")).not.toMatch(/<|\$/);
      expect(text).not.toContain("<b>bold");
    }
  });

  it("the hostile text is there at all", () => {
    const all = Object.values(figures).flatMap((make) => strings(make().data));
    expect(all.some((text) => text.includes("&lt;img src=x onerror=alert(1)&gt;"))).toBe(true);
    expect(all.some((text) => text.includes(HOSTILE))).toBe(false);
  });
});

describe("bad input", () => {
  const {
    attractors,
    capacityBars,
    clampRescue,
    collapseOverlay,
    countingCurve,
    emergence,
    errorGrid,
    errorStructure,
  } = room;
  const { horizonBars, logitGap, logitLens, patchHeatmap, speedBars, tokenFrontier, tokenStrip } = room;
  const cell = { layer: 0, position: 0, token: "a", top: "b" };

  it.each([
    ["no rows", () => logitLens([]), "logit-lens: no rows; expected at least one"],
    ["no panels", () => errorGrid([]), "error-grid: no rows"],
    [
      "NaN",
      () => logitLens([{ ...cell, value: Number.NaN }]),
      "logit-lens: row 0 has value NaN; expected a finite number",
    ],
    ["no value", () => tokenStrip([{ token: "a", value: null }]), "token-strip: no row has a finite value"],
    [
      "an error outside its grid",
      () => errorGrid([{ model: "m", size: 9, horizon: 1, errors: [{ a: 10, b: 1 }] }]),
      "error-grid: m has an error at 10 x 1; its grid is 1..9",
    ],
    [
      "nothing wrong",
      () => attractors([{ prediction: 5, times: 0 }]),
      "attractors: no wrong answer was counted",
    ],
    [
      "a boundary of 0",
      () => collapseOverlay([{ model: "m", count: 1, predicted: 1, boundary: 0 }]),
      "collapse-overlay: m has count 1 and boundary 0",
    ],
    [
      "more rescued than tried",
      () => clampRescue([{ condition: "c", direction: "count", rescued: 3, trials: 2, low: 0, high: 1 }]),
      "clamp-rescue: c has 3 rescued of 2",
    ],
    [
      "more structured than errors",
      () => errorStructure([{ model: "m", errors: 1, structured: 2 }]),
      "error-structure: m has 2 structured of 1",
    ],
    [
      "a time of 0",
      () => speedBars([{ model: "m", mode: "naive", ms: 0, n: 1 }]),
      "speed-bars: m, naive took 0 ms",
    ],
    [
      "an unknown baseline",
      () => speedBars([{ model: "m", mode: "naive", ms: 1, n: 1 }], { baseline: "x" }),
      'speed-bars: baseline "x" is not among the modes: naive',
    ],
    [
      "step 0 on a logarithm",
      () => emergence([{ step: 0, metric: "m", value: 1 }], { logarithmic: true }),
      "emergence: a step of 0",
    ],
    [
      "an unknown pair",
      () =>
        tokenFrontier([{ model: "m", capacity: 1, label: "1", tokens: 1, frontier: true }], {
          pairs: [["m", "n"]],
        }),
      'token-frontier: pair names "n"',
    ],
    [
      "different ranges",
      () =>
        horizonBars([
          { model: "a", horizon: 1, accuracies: [] },
          { model: "b", horizon: 1, accuracies: [{ upTo: 9, accuracy: 1, n: 81 }] },
        ]),
      "horizon-bars: b has accuracies up to 9",
    ],
    [
      "a name that is a path",
      () => countingCurve([{ count: 1, predicted: 1 }], { name: "../x" }),
      'counting-curve: name "../x" cannot be a file name',
    ],
    [
      "infinite capacity",
      () => capacityBars([{ model: "m", capacity: Number.POSITIVE_INFINITY, label: "inf" }]),
      "capacity-bars: row 0 has capacity Infinity",
    ],
  ])("%s is one clear line", (_, make, message) => {
    expect(make).toThrow(message);
    try {
      make();
    } catch (error) {
      expect((error as Error).message).not.toContain("\n");
    }
  });

  it("a single row, a base that is no donor, and a horizon of 0 are drawn", () => {
    expect(logitLens([{ ...cell, value: 3 }], { value: "logit" }).data.length).toBeGreaterThan(0);
    expect(patchHeatmap([{ layer: 0, donor: 3, decoded: null }], { base: 9 }).data.length).toBeGreaterThan(0);
    expect(errorGrid([{ model: "m", size: 1, horizon: 0, errors: [] }]).meta.rows).toEqual([]);
    expect(logitGap([{ count: 1, gap: 2, withEnd: false }]).meta.caption).toContain(
      "it never turns negative",
    );
    expect(countingCurve([{ count: 1, predicted: null }]).meta.caption).toContain("1 without an integer");
  });
});

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}
