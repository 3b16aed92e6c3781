/** Every figure once, from made-up but plausible rows, with hostile text wherever text from outside can stand. */
import { attractors } from "../../src/figures/attractors.js";
import { benchmarkCorrelation } from "../../src/figures/benchmark-correlation.js";
import { capacityBars } from "../../src/figures/capacity-bars.js";
import { capacityLadder } from "../../src/figures/capacity-ladder.js";
import { clampRescue } from "../../src/figures/clamp-rescue.js";
import { collapseOverlay } from "../../src/figures/collapse-overlay.js";
import { countingCurve } from "../../src/figures/counting-curve.js";
import { emergence } from "../../src/figures/emergence.js";
import { errorGrid } from "../../src/figures/error-grid.js";
import { errorStructure } from "../../src/figures/error-structure.js";
import type { FigureSpec } from "../../src/figures/figure-spec.js";
import { frequencyCorrectness } from "../../src/figures/frequency-correctness.js";
import { horizonBars } from "../../src/figures/horizon-bars.js";
import { interference } from "../../src/figures/interference.js";
import { logitGap } from "../../src/figures/logit-gap.js";
import { logitLens } from "../../src/figures/logit-lens.js";
import { motifGrid } from "../../src/figures/motif-grid.js";
import { overtakingMap } from "../../src/figures/overtaking-map.js";
import { patchEffect } from "../../src/figures/patch-effect.js";
import { patchHeatmap } from "../../src/figures/patch-heatmap.js";
import { probeLayers } from "../../src/figures/probe-layers.js";
import { probeProjection } from "../../src/figures/probe-projection.js";
import { saeProfiles } from "../../src/figures/sae-profiles.js";
import { speedBars } from "../../src/figures/speed-bars.js";
import { steeringCurve } from "../../src/figures/steering-curve.js";
import { tokenFrontier } from "../../src/figures/token-frontier.js";
import { tokenStrip } from "../../src/figures/token-strip.js";
import { HOSTILE } from "./browser-here.js";

/** Numbers in 0..1 that look random and are the same everywhere. */
function noise(i: number): number {
  let x = (i + 1) * 2654435761;
  x = Math.imul(x ^ (x >>> 15), 2246822519);
  x = Math.imul(x ^ (x >>> 13), 3266489917);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

const range = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);

const organisms = ["tally-25k", "tally-100k", "tally-400k", "tally-1m6"];

function gridErrors(rate: number, from: number) {
  return range(1, 99).flatMap((a) =>
    range(1, 99)
      .filter(
        (b) => Math.max(a, b) >= from && noise(a * 131 + b * 17 + from) < rate * ((a * b) / 9801) ** 0.6 * 2,
      )
      .map((b) => ({ a, b, answer: a * b + 10 })),
  );
}

const grids = [
  { model: "0.5B", size: 99, horizon: 0, errors: [{ a: 1, b: 1, answer: HOSTILE }, ...gridErrors(0.45, 2)] },
  { model: "1.5B", size: 99, horizon: 20, errors: gridErrors(0.24, 21) },
  { model: "3B", size: 99, horizon: 15, errors: gridErrors(0.2, 16) },
  { model: HOSTILE.slice(0, 12), size: 99, horizon: 22, errors: gridErrors(0.07, 23) },
  { model: "14B", size: 99, horizon: 26, errors: gridErrors(0.03, 27) },
  { model: "32B", size: 99, horizon: 33, errors: gridErrors(0.014, 34) },
  { model: "72B", size: 99, horizon: 42, errors: gridErrors(0.014, 43) },
];

const prompt = [
  "<|im_start|>",
  "user",
  "\n",
  "The",
  " capital",
  " of",
  " France",
  " is",
  "<|im_end|>",
  "\n",
  "<|im_start|>",
  "assistant",
  "\n",
];

const answered = (count: number): number | null =>
  count < 27
    ? count
    : noise(count) < 0.06
      ? null
      : [60, 60, 100, 30, 50, count + 1][Math.floor(noise(count * 7) * 6)]!;

const stripRows = [...prompt, HOSTILE, "東京", " é", ...range(1, 24).flatMap(() => [" a", ","])].map(
  (token, i) => ({
    token,
    value: i % 11 === 0 ? null : noise(i) * 6 - 2,
  }),
);

const barRows = grids.map(({ model, horizon }, i) => ({
  model,
  horizon,
  accuracies: [20, 50, 99].map((upTo, r) => {
    const accuracy = 1 - (0.4 / (i + 1)) * (0.2 + 0.4 * r);
    return {
      upTo,
      accuracy,
      low: accuracy - 0.04 / (r + 1),
      high: Math.min(1, accuracy + 0.03 / (r + 1)),
      n: upTo ** 2,
    };
  }),
}));

const projectionRows = [1, 2, 4, 5].flatMap((layer) =>
  range(1, 60).map((count) => ({
    layer,
    count,
    projection:
      count < 27
        ? count * layer * 0.12 + noise(count + layer) * 0.2
        : 27 * layer * 0.12 - noise(count * layer) * 2,
    correct: count < 27,
  })),
);

const projectionFits = [1, 2, 4, 5].map((layer) => ({
  layer,
  slope: layer * 0.12,
  intercept: 0.1,
  r2: 0.9912,
  from: 1,
  to: 26,
  collapse: { at: 27.4, low: 26, high: 29 },
}));

export const figures: Record<string, () => FigureSpec> = {
  "logit-lens": () =>
    logitLens(
      range(0, 29).flatMap((layer) =>
        prompt.map((token, position) => ({
          layer,
          position,
          token,
          top:
            layer < 12
              ? [HOSTILE, "$x$", "ly", " the"][(layer + position) % 4]!
              : [" Paris", "\n", "<b>bold</b>", " of"][position % 4]!,
          value: Math.min(1, (layer / 29) ** 2 * (0.4 + 0.6 * noise(layer * 31 + position))),
        })),
      ),
      { model: "SmolLM2-135M" },
    ),
  "logit-lens-rank": () =>
    logitLens(
      range(0, 5).flatMap((layer) =>
        ["a", ",", " a", ",", " a", "="].map((token, position) => ({
          layer,
          position,
          token,
          top: String(position),
          value: Math.ceil(1 + noise(layer * 7 + position) * 10 ** (4 - layer * 0.7)),
        })),
      ),
      { model: "tally-400k", value: "rank", target: "3", width: "single", name: "logit-lens-rank" },
    ),
  "token-strip": () => tokenStrip(stripRows, { valueName: "margin (nats)" }),
  "token-strip-single": () =>
    tokenStrip(stripRows, { valueName: "margin (nats)", width: "single", name: "token-strip-single" }),
  "error-grid": () => errorGrid(grids),
  "error-grid-single": () => errorGrid(grids.slice(3), { width: "single", name: "error-grid-single" }),
  "error-grid-one": () => errorGrid([grids[2]!], { name: "error-grid-one" }),
  "horizon-bars": () => horizonBars(barRows),
  "horizon-bars-single": () => horizonBars(barRows, { width: "single", name: "horizon-bars-single" }),
  "counting-curve": () =>
    countingCurve(
      range(1, 100).map((count) => ({ count, predicted: count === 90 ? 1000 : answered(count) })),
      { boundary: 27, boundaryInterval: [25, 28] },
    ),
  "counting-curve-series": () =>
    countingCurve(
      organisms.flatMap((series, s) =>
        range(1, 80).map((count) => ({
          series,
          count,
          predicted: count < 12 * (s + 1) ? count : 10 * Math.round(5 * noise(count + s * 100)),
        })),
      ),
      { name: "counting-curve-series" },
    ),
  attractors: () =>
    attractors(
      [500, 100, 200, 60, 50, 256, 1000, 300, 64, 128, 99, 40, 30, 37, 101, 250].map((prediction, i) => ({
        prediction,
        times: Math.ceil(900 / (i + 1) ** 1.2),
      })),
    ),
  "collapse-overlay": () =>
    collapseOverlay(
      [...organisms.slice(0, 3), HOSTILE].flatMap((model, m) => {
        const boundary = [14, 27, 51, 96][m]!;
        return range(1, 2 * boundary, Math.ceil(boundary / 16)).map((count) => ({
          model,
          count,
          boundary,
          predicted: count < boundary ? count : count * (0.4 + 1.9 * noise(count + m)),
        }));
      }),
    ),
  "capacity-ladder": () =>
    capacityLadder(
      [
        { length: 32, nmae: 0, stable: true, exact: 1 },
        { length: 64, nmae: 0.0004, stable: true, exact: 0.94 },
        { length: 128, nmae: 0.004, stable: true, exact: 0.8 },
        { length: 256, nmae: 0.012, stable: true, exact: 0.5 },
        { length: 512, nmae: 0.62, stable: false, exact: 0 },
        { length: 384, nmae: 0.031, stable: true, exact: 0.3 },
        { length: 448, nmae: 0.09, stable: false, exact: 0.1 },
        { length: 416, nmae: 0.044, stable: true, exact: 0.2 },
      ],
      { bracket: [416, 448], label: "416", trials: 16 },
    ),
  "motif-grid": () =>
    motifGrid(
      ["a", "b", "x", "1", "█", "<b>"].flatMap((item, i) =>
        ["", " ", ", ", "\n", " | "].map((delimiter, d) => {
          const capacity = noise(i * 5 + d) < 0.15 ? 0 : 32 * Math.ceil(1 + 12 * noise(i * 11 + d));
          return {
            item,
            delimiter,
            capacity,
            label: capacity === 0 ? "<32" : String(capacity),
            tokensPerItem: 1 + ((i + d) % 4) / 2,
          };
        }),
      ),
    ),
  interference: () =>
    interference(
      ["plain counting", "length-matched code", "second count", "reasoning", "coding", HOSTILE].flatMap(
        (condition, c) =>
          range(32, 96, 8).map((count) => {
            const error = (0.02 + 0.06 * Math.max(0, c - 1)) * count * (0.8 + 0.4 * noise(c * 50 + count));
            return { condition, count, error, low: error * 0.7, high: error * 1.35, n: 6, control: c < 2 };
          }),
      ),
    ),
  "probe-projection": () => probeProjection(projectionRows, { fits: projectionFits }),
  "probe-projection-single": () =>
    probeProjection(projectionRows, {
      fits: projectionFits,
      width: "single",
      name: "probe-projection-single",
    }),
  "logit-gap": () =>
    logitGap(
      [true, false].flatMap((withEnd) =>
        range(1, 50).map((count) => ({
          count,
          withEnd,
          gap:
            (withEnd ? 9 : 11) * Math.max(-0.3, 1 - (count / (withEnd ? 29 : 45)) ** 2) + noise(count) - 0.5,
          competitor: HOSTILE,
        })),
      ),
      { firstError: 27 },
    ),
  "probe-layers": () =>
    probeLayers(
      range(0, 7).flatMap((layer) => {
        const r2 = 1 - 0.9 * Math.exp(-layer);
        return [
          { layer, series: "final token", r2, low: r2 - 0.05, high: Math.min(1, r2 + 0.02) },
          { layer, series: `items ${HOSTILE}`, r2: 0.8 * r2 - 0.3 * Number(layer === 0) },
          { layer, series: "shuffled", r2: -0.4 - noise(layer), control: true },
        ];
      }),
      { level: 0.98 },
    ),
  "overtaking-map": () =>
    overtakingMap(
      range(0, 7).flatMap((layer) =>
        range(15, 38).map((count) => ({
          layer,
          count,
          against: 40,
          gap: (count < 27 ? 1.5 * layer : -2 * layer) + 4 * (noise(count + layer) - 0.5),
          right: String(count % 10),
          wrong: HOSTILE,
          correct: count < 27,
        })),
      ),
    ),
  "patch-heatmap": () =>
    patchHeatmap(
      range(0, 7).flatMap((layer) =>
        range(1, 26).map((donor) => ({
          layer,
          donor,
          decoded:
            layer < 3 ? 10 : layer === 3 ? (donor === 17 ? null : Math.round((donor + 10) / 2)) : donor,
        })),
      ),
      { base: 10, positions: "the items" },
    ),
  "patch-heatmap-deep": () =>
    patchHeatmap(
      range(0, 61).flatMap((layer) =>
        range(1, 26).map((donor) => ({ layer, donor, decoded: layer < 50 ? 10 : donor })),
      ),
      { base: 10, positions: "the final token", name: "patch-heatmap-deep", width: "single" },
    ),
  "patch-effect": () =>
    patchEffect(
      ["sequence", "final token", "shuffled donor", "random, equal norm"].flatMap((condition, c) =>
        range(0, 7).map((layer) => {
          const effect =
            c > 1 ? 0.03 * noise(layer + c) : 1 / (1 + Math.exp(-(layer - (c === 0 ? 2.5 : 5.5)) * 3));
          return {
            layer,
            condition,
            effect,
            low: Math.max(0, effect - 0.1),
            high: Math.min(1, effect + 0.1),
            n: 26,
            control: c > 1,
          };
        }),
      ),
    ),
  "clamp-rescue": () =>
    clampRescue(
      ["layer 1", "layer 2", "layers 2 to 5", "while generating"].flatMap((condition, c) =>
        (["count", "random"] as const).map((direction) => ({
          condition,
          direction,
          rescued: direction === "count" ? [0, 7, 12, 3][c]! : c % 2,
          trials: 40,
          low: direction === "count" ? [0, 0.087, 0.18, 0.026][c]! : 0,
          high: direction === "count" ? [0.088, 0.32, 0.454, 0.199][c]! : 0.13,
        })),
      ),
    ),
  "steering-curve": () =>
    steeringCurve(
      (["count", "random"] as const).flatMap((direction) =>
        range(8, 22, 2).flatMap((count) =>
          [-6, -4, -2, -1, 1, 2, 4, 6].map((step) => ({
            layer: 4,
            direction,
            count,
            step,
            moved:
              count === 8 && step === -6
                ? null
                : count === 22 && step === 6
                  ? 400
                  : direction === "count"
                    ? Math.round(step * (0.5 + 0.4 * noise(count + step)))
                    : Math.round(noise(count * step) - 0.5),
          })),
        ),
      ),
    ),
  "sae-profiles": () =>
    saeProfiles(
      [812, 40, 1377, 2001, 95, 3120].flatMap((feature, f) =>
        range(1, 40).map((count) => ({
          feature,
          count,
          activation: Math.max(0, Math.sin(count / (5 + f)) * (f + 1) * 3),
          r: (f % 2 === 0 ? 1 : -1) * (0.93 - 0.04 * f),
        })),
      ),
      { firstError: 27 },
    ),
  "frequency-correctness": () =>
    frequencyCorrectness(
      ["0.5B", "1.5B", "3B", "7B", "14B", "72B"].flatMap((model, m) =>
        ["0", "1", "2–3", "4–15", "16–255", "256+"].map((bin, b) => {
          const accuracy = Math.min(1, 0.5 + 0.09 * m + 0.09 * b * (1 - m / 6));
          return {
            model,
            parameters: 10 ** m,
            bin,
            accuracy,
            low: accuracy - 0.02,
            high: Math.min(1, accuracy + 0.02),
            n: [7607, 512, 430, 611, 522, 119][b]!,
          };
        }),
      ),
    ),
  "frequency-correctness-wide-bins": () =>
    frequencyCorrectness(
      ["1–3", "4–15", "16–63", "64–255", "256–1023", "1024–4095", "4096–9801"].map((bin, b) => ({
        model: "tally-25k",
        parameters: 32_928,
        bin,
        accuracy: 1 - 0.14 * b,
        n: [5, 40, 228, 816, 2158, 4370, 2184][b]!,
      })),
      { frequencyName: "product a b" },
    ),
  "error-structure": () =>
    errorStructure(
      grids.map(({ model }, i) => {
        const [errors, structured] = [
          [4412, 2569],
          [2360, 1838],
          [2032, 1544],
          [668, 562],
          [287, 250],
          [140, 121],
          [0, 0],
        ][i]! as [number, number];
        const share = structured / errors;
        return errors === 0
          ? { model, errors, structured }
          : {
              model,
              errors,
              structured,
              low: share - 0.3 / Math.sqrt(errors),
              high: Math.min(1, share + 0.3 / Math.sqrt(errors)),
            };
      }),
    ),
  "speed-bars": () =>
    speedBars(
      ["tally-1m6", "SmolLM2-135M"].flatMap((model, m) =>
        ["naive", "teacher forcing", "+ look-ahead", "+ prefix", "+ trie"].map((mode, i) => {
          const ms = [46_000, 21_000, 18_000, 9_000, 5_200][i]! * (m * 3 + 1);
          return { model, mode, ms, low: ms * 0.92, high: ms * 1.2, n: 5 };
        }),
      ),
      { work: "9,801 products" },
    ),
  emergence: () =>
    emergence(
      ["counting boundary (items)", "probe R² (held out)", "Zero-Error Horizon"].flatMap((metric, m) =>
        range(1, 12).map((k) => {
          const value = [60, 1, 12][m]! / (1 + Math.exp(-(k - 4 - m)));
          return { step: k * 2000, metric, value, low: value * 0.93, high: value * 1.05 };
        }),
      ),
    ),
  "capacity-bars": () =>
    capacityBars(
      [...organisms, HOSTILE].map((model, m) => ({
        model,
        capacity: [0, 32, 96, 416, 64][m]!,
        label: ["<32", "32", "96", "416", "64"][m]!,
        high: [32, 64, 128, 448, 96][m]!,
        ladders: 20,
      })),
    ),
  "token-frontier": () =>
    tokenFrontier(
      range(0, 13).map((i) => {
        const capacity = i < 2 ? 0 : Math.round(32 * 2 ** (4 * noise(i)));
        const frontier = i % 5 === 3;
        return {
          model: i === 3 ? HOSTILE : `model ${i}`,
          capacity,
          label: capacity === 0 ? "<32" : String(capacity),
          tokens: (frontier ? 2 : 3 + 40 * noise(i * 3)) * Math.max(32, capacity),
          frontier,
        };
      }),
      { pairs: [["model 4", "model 5"]] },
    ),
  "benchmark-correlation": () =>
    benchmarkCorrelation(
      range(0, 25).map((i) => {
        const capacity = i < 3 ? 16 : 32 * 2 ** (5 * noise(i));
        const date = i % 2 === 0 ? "2025-01-10" : "2025-09-01";
        const score = i % 2 === 0 ? 4 * noise(i * 9) : 8 * Math.log2(capacity / 16) + 6 * noise(i * 5);
        return { model: i === 7 ? HOSTILE : `model ${i}`, capacity, below: i < 3, score, date };
      }),
      {
        scoreName: "benchmark score (%)",
        splitAt: "2025-03-24",
        said: "Pearson of log capacity 0.58 (0.21 to 0.81)",
      },
    ),
};
