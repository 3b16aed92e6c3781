import { afterAll, describe, expect, it } from "vitest";
import { closeBrowser } from "../../src/figures/browser.js";
import type { FigureSpec } from "../../src/figures/figure-spec.js";
import * as room from "../../src/figures/index.js";
import { drawSvg } from "../../src/figures/render.js";
import { HOSTILE, hasBrowser, reason } from "./browser-here.js";

const H = HOSTILE;
const interval = { low: 0, high: 1 };

/** Every figure into which text from outside can come, with such text in every place at once. */
const figures: Record<string, () => FigureSpec> = {
  benchmarkCorrelation: () =>
    room.benchmarkCorrelation(
      [1, 2, 3].map((n) => ({ model: H, capacity: 32 * n, below: false, score: n, date: "2025-03-24" })),
      { scoreName: H },
    ),
  capacityBars: () => room.capacityBars([{ model: H, capacity: 64, label: H }]),
  clampRescue: () =>
    room.clampRescue([{ condition: H, direction: "count", rescued: 1, trials: 2, low: 0, high: 1 }]),
  collapseOverlay: () =>
    room.collapseOverlay([1, 2].map((count) => ({ model: H, count, predicted: count, boundary: 1 }))),
  countingCurve: () =>
    room.countingCurve([1, 2].map((count) => ({ count, predicted: count, series: `${H}${count}` }))),
  emergence: () =>
    room.emergence(
      [1, 2].map((step) => ({ step, metric: H, value: step, series: H })),
      { stepName: H },
    ),
  errorGrid: () => room.errorGrid([{ model: H, size: 3, horizon: 1, errors: [{ a: 2, b: 2, answer: H }] }]),
  errorStructure: () => room.errorStructure([{ model: H, errors: 4, structured: 2, ...interval }]),
  frequencyCorrectness: () =>
    room.frequencyCorrectness(
      ["0", H].map((bin) => ({ model: H, parameters: 1e6, bin, accuracy: 0.5, n: 4, ...interval })),
      { frequencyName: H },
    ),
  horizonBars: () =>
    room.horizonBars([{ model: H, horizon: 3, accuracies: [{ upTo: 9, accuracy: 0.5, n: 81 }] }]),
  interference: () =>
    room.interference([32, 64].map((count) => ({ condition: H, count, error: 1, n: 4, ...interval }))),
  logitGap: () =>
    room.logitGap([1, 2].map((count) => ({ count, gap: 2 - 2 * count, withEnd: true, competitor: H }))),
  logitLens: () =>
    room.logitLens([{ layer: 0, position: 0, token: H, top: H, value: 1 }], {
      target: H,
      model: H,
      value: "rank",
    }),
  motifGrid: () => room.motifGrid([{ item: H, delimiter: H, capacity: 64, label: H }]),
  overtakingMap: () =>
    room.overtakingMap([{ layer: 0, count: 1, against: 2, gap: 1, right: H, wrong: H, correct: true }]),
  patchEffect: () =>
    room.patchEffect([{ layer: 0, condition: H, effect: 0.5, n: 4, ...interval }], { effectName: H }),
  probeLayers: () => room.probeLayers([{ layer: 0, series: H, r2: 0.5, ...interval }]),
  speedBars: () => room.speedBars([{ model: H, mode: H, ms: 1, n: 1 }], { work: H }),
  tokenFrontier: () =>
    room.tokenFrontier([
      { model: H, capacity: 32, label: H, tokens: 100, frontier: true },
      { model: `${H}2`, capacity: 64, label: H, tokens: 200, frontier: true },
    ]),
  tokenStrip: () => room.tokenStrip([{ token: H, value: 1 }], { valueName: H }),
};

/** Figures of numbers alone, text from outside at most in their captions (which are escaped where they are put). */
const NUMBERS = [
  "attractors",
  "capacityLadder",
  "figure",
  "patchHeatmap",
  "probeProjection",
  "saeProfiles",
  "steeringCurve",
];

/** Drawn as well: text in ticks, cells, legend, annotations and titles. */
const DRAWN = ["logitLens", "motifGrid", "tokenFrontier", "tokenStrip", "emergence"];

afterAll(closeBrowser);

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

describe("text from outside in figures", () => {
  it.each(Object.entries(figures))("%s holds it escaped", (_, make) => {
    const { data, layout } = make();
    const texts = strings({ data, layout });
    expect(texts.filter((text) => text.includes("<img"))).toEqual([]);
    expect(texts.some((text) => text.includes("&lt;img"))).toBe(true);
  });

  it.skipIf(!hasBrowser)(
    `drawn, it is text${reason}`,
    async () => {
      for (const name of DRAWN) {
        const svg = await drawSvg(figures[name]!());
        expect(svg, name).toMatch(/&(lt|#60);img/);
        expect(svg, name).not.toMatch(/<(img|image|script)\b/i);
        expect(svg, name).not.toMatch(/<[^>]*\sonerror=/i);
      }
    },
    300_000,
  );

  it("no figure is left out", () => {
    const makers = Object.entries(room).filter(
      ([, made]) => typeof made === "function" && /\bfigure\)?\(\s*\{/.test(made.toString()),
    );
    const known = new Set([...Object.keys(figures), ...NUMBERS]);
    expect(makers.length).toBeGreaterThan(20);
    expect(makers.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
  });
});
