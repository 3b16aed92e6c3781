import { describe, expect, it } from "vitest";
import { type MeasuredCapacity, matchedPairs, tokenFrontier } from "../../src/assays/token-frontier.js";
import type { CountTrial } from "../../src/assays/trial.js";

const trial = (tier: number, target: number, input: number, output: number, hidden = 0): CountTrial => ({
  model: "",
  task: "counting",
  tier,
  k: 0,
  target,
  response: String(target),
  prediction: target,
  format: "clean",
  exact: true,
  error: 0,
  ended: true,
  inputTokens: input,
  outputTokens: output,
  reasoningTokens: hidden,
  ms: null,
  decoding: "greedy",
  date: "",
});
const measured = (
  model: string,
  capacity: number | null,
  trials: CountTrial[],
  context?: number,
): MeasuredCapacity => ({
  model,
  capacity,
  plotted: capacity ?? 0,
  label: capacity === null ? "<32" : String(capacity),
  trials,
  ...(context === undefined ? {} : { context }),
});

const rows = tokenFrontier([
  measured(
    "base",
    64,
    [trial(32, 30, 90, 2), trial(64, 60, 150, 2), trial(64, 68, 170, 4), trial(128, 120, 300, 2)],
    1000,
  ),
  measured("thinks", 64, [trial(64, 60, 150, 850, 800), trial(64, 68, 170, 830, 800)]),
  measured("large", 256, [trial(256, 250, 520, 3)]),
  measured("lost", null, [trial(32, 30, 80, 5), trial(32, 34, 90, 5)]),
]);
const row = (name: string) => rows.find(({ model }) => model === name);

describe("tokenFrontier", () => {
  it("averages the trials of the highest stable tier alone", () => {
    expect(row("base")).toMatchObject({
      capacity: 64,
      inputTokens: 160,
      outputTokens: 3,
      tokens: 163,
      tokensPerItem: 163 / 64,
      contextShare: 0.163,
    });
    expect(row("thinks")).toMatchObject({
      tokens: 1000,
      reasoningTokens: 800,
      context: null,
      contextShare: null,
    });
  });

  it("takes the first tier for <32, which is never on the frontier", () => {
    expect(row("lost")).toMatchObject({ capacity: 0, label: "<32", tokens: 90, frontier: false });
  });

  it("puts on the frontier what no other model reaches with fewer tokens", () => {
    expect(rows.filter(({ frontier }) => frontier).map(({ model }) => model)).toEqual(["base", "large"]);
    expect(rows.map(({ capacity }) => capacity)).toEqual([0, 64, 64, 256]);
  });

  it("keeps two models that are equal", () => {
    const twins = tokenFrontier([
      measured("a", 32, [trial(32, 32, 70, 2)]),
      measured("b", 32, [trial(32, 32, 70, 2)]),
    ]);
    expect(twins.every(({ frontier }) => frontier)).toBe(true);
  });

  it("refuses a model without token counts", () => {
    const { inputTokens: _, ...rest } = trial(32, 32, 0, 0);
    expect(() => tokenFrontier([measured("log", 32, [{ ...rest, inputTokens: null }])])).toThrow(
      "tokenFrontier: log has no trials with token counts at 32; leave it out",
    );
  });
});

describe("matchedPairs", () => {
  it("is tokens over tokens and capacity less capacity", () => {
    expect(
      matchedPairs(rows, [
        ["base", "thinks"],
        ["lost", "base"],
      ]),
    ).toEqual([
      {
        base: "base",
        reasoning: "thinks",
        tokenMultiplier: 1000 / 163,
        outputMultiplier: 280,
        change: 0,
        baseLabel: "64",
        reasoningLabel: "64",
      },
      {
        base: "lost",
        reasoning: "base",
        tokenMultiplier: 163 / 90,
        outputMultiplier: 0.6,
        change: 64,
        baseLabel: "<32",
        reasoningLabel: "64",
      },
    ]);
    expect(() => matchedPairs(rows, [["base", "other"]])).toThrow(
      "matchedPairs: no row for other; there are lost, base",
    );
  });
});
