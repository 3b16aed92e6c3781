import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type LadderTrial, ladder, ladderRules, nextStep } from "../../src/assays/ladder.js";

interface Simulated {
  model: string;
  seed: number;
  tiers: {
    length: number;
    targets: number[];
    predictions: (number | null)[];
    nMAE: number;
    stable: boolean;
  }[];
  capacity: number | null;
  failed: number | null;
  label: string;
}
const { rules, ladders } = JSON.parse(
  readFileSync(new URL("../fixtures/assays/ladder.json", import.meta.url), "utf8"),
) as { rules: object; ladders: Simulated[] };

/** The scripted models again, from their names; those with chance in them answer from the record. */
const scripted: Record<string, (target: number) => number | null> = {
  "always 32": () => 32,
  "4 % too many": (x) => Math.round(1.04 * x),
  "6 % too many": (x) => Math.round(1.06 * x),
  "4 % too few": (x) => Math.round(0.96 * x),
  "never an integer": () => null,
  "no integer beyond 200": (x) => (x <= 200 ? x : null),
  perfect: (x) => x,
};
for (const [n, c] of [
  [26, 26],
  [40, 40],
  [64, 100],
  [100, 500],
  [416, 500],
  [1000, 1000],
] as const)
  scripted[`exact to ${n}, then ${c}`] = (x) => (x <= n ? x : c);

const perfectTo = (n: number, then: number) => async (trials: readonly LadderTrial[]) =>
  trials.map(({ target }) => ({ prediction: target <= n ? target : then }));

describe("ladder, against an independent simulation of the definition", () => {
  it.each(ladders)("$model, seed $seed: $label", async (expected) => {
    const tierOf = (length: number) => {
      const tier = expected.tiers.find((candidate) => candidate.length === length);
      if (tier === undefined) throw new Error(`the simulation did not visit ${length}`);
      return tier;
    };
    const result = await ladder(
      async (trials) =>
        trials.map(({ length, k, target }) => ({
          prediction: scripted[expected.model]?.(target) ?? tierOf(length).predictions[k] ?? null,
        })),
      { ...rules, targets: (length) => tierOf(length).targets },
    );
    expect(result.tiers.map(({ length, stable }) => [length, stable])).toEqual(
      expected.tiers.map(({ length, stable }) => [length, stable]),
    );
    for (const [i, tier] of result.tiers.entries())
      expect(tier.nMAE).toBeCloseTo(expected.tiers[i]?.nMAE ?? -1, 12);
    expect(result.bracket).toEqual([expected.capacity, expected.failed]);
    expect(result.label).toBe(expected.label);
    expect(result.plotted).toBe(expected.capacity ?? 0);
  });

  it("covers every way to end and both verdicts of the noisy models", () => {
    const labels = new Set(ladders.map(({ label }) => label));
    for (const label of ["<32", "32", "416", ">=4096"]) expect(labels).toContain(label);
    expect(
      new Set(ladders.filter(({ model }) => model.startsWith("noise")).map(({ label }) => label)).size,
    ).toBeGreaterThan(2);
  });
});

describe("ladder", () => {
  it("goes the paper's way to 416", async () => {
    const visited: number[] = [];
    const stableTo416 = async (trials: readonly LadderTrial[]) =>
      trials.map(({ length, target }) => ({ prediction: length <= 416 ? target : 1 }));
    const result = await ladder(stableTo416, { onTier: ({ length }) => visited.push(length) });
    expect(visited).toEqual([32, 64, 128, 256, 512, 384, 448, 416]);
    expect(result).toMatchObject({ capacity: 416, bracket: [416, 448], end: "bracketed", label: "416" });
    expect(result.tiers.map(({ phase }) => phase).filter((phase) => phase === "bisection")).toHaveLength(3);
  });

  it("draws its targets from seed, tier and index, inside the spread, and repeats itself", async () => {
    const seen: (readonly LadderTrial[])[] = [];
    const ask = async (trials: readonly LadderTrial[]) => {
      seen.push(trials);
      return trials.map(({ target }) => ({ prediction: target }));
    };
    await ladder(ask, { ceiling: 256, seed: 5 });
    await ladder(ask, { ceiling: 256, seed: 5, start: 64 });
    await ladder(ask, { ceiling: 256, seed: 6 });
    expect(seen[4]).toEqual(seen[1]);
    expect(seen[7]).not.toEqual(seen[0]);
    for (const trials of seen)
      for (const { length, target } of trials)
        expect(Math.abs(target - length)).toBeLessThanOrEqual(0.2 * length + 0.5);
    expect(seen[0]?.map(({ k }) => k)).toEqual(Array.from({ length: 16 }, (_, k) => k));
  });

  it("draws each whole number of the first tier as often as a rounded uniform number should be", async () => {
    const counts = new Map<number, number>();
    for (let seed = 0; seed < 1000; seed += 1) {
      const { tiers } = await ladder(perfectTo(0, 0), { seed });
      for (const { target } of tiers[0]?.trials ?? []) counts.set(target, (counts.get(target) ?? 0) + 1);
    }
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual([
      26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
    ]);
    // y ~ U(25.6, 38.4): 27 to 37 have width 1 of 12.8, the two ends 0.9.
    let chiSquare = 0;
    for (const [value, count] of counts) {
      const expected = (16_000 * (value === 26 || value === 38 ? 0.9 : 1)) / 12.8;
      chiSquare += (count - expected) ** 2 / expected;
    }
    expect(chiSquare).toBeLessThan(32.9); // 0.1 % tail of chi-square with 12 degrees of freedom
  });

  it("reports exactness and bias beside nMAE", async () => {
    const result = await ladder(async (trials) => trials.map(({ target }) => ({ prediction: target - 1 })), {
      ceiling: 64,
    });
    expect(result.label).toBe(">=64");
    expect(result.tiers[0]).toMatchObject({ exact: 0, nMAE: 1 / 32, bias: -1 / 32, missing: 0 });
  });

  it("says when a tier is out of reach, with what was found below it", async () => {
    const result = await ladder(async (trials) =>
      trials[0]?.length === 256
        ? { outOfReach: "tier 256 needs 640 tokens; the context is 512" }
        : trials.map(({ target }) => ({ prediction: target })),
    );
    expect(result).toMatchObject({
      capacity: 128,
      label: ">=128",
      end: "outOfReach",
      bracket: [128, null],
      reason: "tier 256 needs 640 tokens; the context is 512",
    });
    const nothing = await ladder(async () => ({ outOfReach: "no" }));
    expect(nothing).toMatchObject({ capacity: null, label: "not measured", end: "outOfReach", tiers: [] });
  });

  it("one answer without an integer fails a tier, and the result says that this decided it", async () => {
    const result = await ladder(async (trials) =>
      trials.map(({ length, k, target }) => ({
        prediction: length === 64 && k === 3 ? null : length >= 128 ? 1 : target,
      })),
    );
    expect(result.label).toBe("32");
    expect(result.tiers[1]).toMatchObject({ nMAE: 1 / 16, nMAEParsed: 0, stable: false, stableParsed: true });
    expect(result.sensitivity).toEqual({ missing: 1, decided: [64], labelWithout: null });
  });

  it("knows the label without the rule where the visited tiers suffice", async () => {
    const result = await ladder(
      async (trials) =>
        trials.map(({ length, k, target }) => ({ prediction: length === 64 && k < 2 ? null : target })),
      { ceiling: 64 },
    );
    expect(result.label).toBe("32");
    expect(result.sensitivity).toEqual({ missing: 2, decided: [64], labelWithout: ">=64" });
    const clean = await ladder(perfectTo(40, 7));
    expect(clean.sensitivity).toEqual({ missing: 0, decided: [], labelWithout: clean.label });
  });

  it("bisects to whole numbers at any resolution", async () => {
    for (const n of [33, 50, 63, 77, 100]) {
      const byLength = async (trials: readonly LadderTrial[]) =>
        trials.map(({ length, target }) => ({ prediction: length <= n ? target : 0 }));
      const result = await ladder(byLength, { resolution: 1, ceiling: 128 });
      expect(result.bracket).toEqual([n, n + 1]);
    }
  });

  it("can be taken up from the tiers so far", () => {
    const r = ladderRules();
    expect(nextStep([], r)).toEqual({ next: 32, phase: "up" });
    expect(nextStep([{ length: 32, stable: false }], r)).toEqual({ end: "belowStart" });
    const visited = [
      { length: 32, stable: true },
      { length: 128, stable: false },
    ];
    expect(nextStep(visited, r)).toEqual({ next: 80, phase: "bisection" });
  });

  it.each([
    [{ trials: 0 }, "trials 0; expected a whole number from 1"],
    [{ spread: 1 }, "spread 1; expected 0 to below 1"],
    [{ threshold: Number.NaN }, "threshold NaN; expected above 0"],
    [{ ceiling: 16 }, "ceiling 16 below start 32"],
  ])("refuses %j", (options, message) => {
    expect(() => ladderRules(options)).toThrow(`ladder: ${message}`);
  });
});
