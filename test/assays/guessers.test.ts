import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  constantPassProbability,
  falsePositives,
  guesserName,
  guessers,
  targetDistribution,
} from "../../src/assays/guessers.js";
import { ladder } from "../../src/assays/ladder.js";
import { random } from "../../src/stats/random.js";

const exact = JSON.parse(
  readFileSync(new URL("../fixtures/assays/guessers.json", import.meta.url), "utf8"),
) as {
  value: number;
  start: number;
  trials: number;
  spread: number;
  threshold: number;
  p: number;
}[];

describe("constantPassProbability", () => {
  it("is the paper's 0.025 % for a constant guess of 32 at L = 32: 2.40e-4", () => {
    expect(constantPassProbability(32).toExponential(2)).toBe("2.40e-4");
  });

  it.each(exact)(
    "equals the rational number: $value at L = $start, K = $trials",
    ({ value, p, ...options }) => {
      expect(constantPassProbability(value, options)).toBeCloseTo(p, 13);
    },
  );
});

describe("targetDistribution", () => {
  it.each([
    [32, 0.2, 13],
    [33, 0.2, 15],
    [64, 0.5, 65],
    [10, 0, 1],
  ])("adds up to one (%i, %f)", (length, spread, size) => {
    const distribution = targetDistribution(length, spread);
    expect(distribution.size).toBe(size);
    expect([...distribution.values()].reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });
});

describe("falsePositives", () => {
  it("finds the exact rate of a constant in a million ladders, within its interval", () => {
    const { rate, ...result } = falsePositives({ kind: "constant", value: 32 }, { level: 0.999 });
    expect(result.ladders).toBe(1_000_000);
    expect(rate.low).toBeLessThan(result.exact as number);
    expect(rate.high).toBeGreaterThan(result.exact as number);
    expect(rate.high - rate.low).toBeLessThan(2e-4);
  });

  it("agrees with ladders that are really run, for every kind of guesser", async () => {
    const options = { start: 8, trials: 4, threshold: 0.1, resolution: 4, ceiling: 64 };
    for (const guesser of [
      { kind: "constant", value: 8 },
      { kind: "attractors", values: [7, 9, 16, 20], spread: 0.1 },
      { kind: "magnitude", spread: 0.12 },
      { kind: "lastTier" },
    ] as const) {
      const simulated = falsePositives(guesser, { ...options, ladders: 20_000, level: 0.999 });
      const noise = random("noise", guesser.kind);
      const around = (length: number) =>
        Array.from({ length: options.trials }, () => Math.round(noise.uniform(0.8 * length, 1.2 * length)));
      let passed = 0;
      const ladders = 1000;
      for (let seed = 0; seed < ladders; seed += 1) {
        let memory = around(options.start);
        const result = await ladder(
          async (trials) => {
            const answers = trials.map(({ target }) => {
              const seen = noise.normal(target, ("spread" in guesser ? guesser.spread : 0) * target);
              if (guesser.kind === "constant") return { prediction: guesser.value as number };
              if (guesser.kind === "magnitude") return { prediction: Math.round(seen) };
              if (guesser.kind === "lastTier") return { prediction: noise.choice(memory) };
              const [nearest] = [...guesser.values].sort((a, b) => Math.abs(a - seen) - Math.abs(b - seen));
              return { prediction: nearest as number };
            });
            memory = trials.map(({ target }) => target);
            return answers;
          },
          { ...options, seed },
        );
        if (result.capacity !== null) passed += 1;
      }
      const sd = Math.sqrt((simulated.rate.estimate * (1 - simulated.rate.estimate)) / ladders);
      expect(passed).toBeGreaterThan(0);
      expect(Math.abs(passed / ladders - simulated.rate.estimate)).toBeLessThan(4 * sd + 0.002);
    }
  });

  it("counts capacities beyond the first tier, and repeats itself", () => {
    const wide = falsePositives({ kind: "magnitude", spread: 0.06 }, { ladders: 2000, ceiling: 512 });
    expect(wide.capacities.length).toBeGreaterThan(3);
    expect(wide.capacities.reduce((sum, { ladders }) => sum + ladders, 0)).toBe(wide.passed);
    expect(falsePositives({ kind: "magnitude", spread: 0.06 }, { ladders: 2000, ceiling: 512 })).toEqual(
      wide,
    );
  });

  it("takes threshold and K as parameters", () => {
    const rate = (options: object) =>
      falsePositives({ kind: "magnitude", spread: 0.1 }, { ladders: 20_000, ceiling: 32, ...options }).rate
        .estimate;
    expect(rate({ threshold: 0.1 })).toBeGreaterThan(10 * rate({}));
    expect(rate({ trials: 4 })).toBeGreaterThan(3 * rate({}));
  });

  it("names the guessers apart", () => {
    expect(new Set(guessers.map(guesserName)).size).toBe(guessers.length);
    expect(guesserName({ kind: "magnitude", spread: 0.06 })).toBe("magnitude, noise 6 %");
  });

  it.each([
    [{ kind: "constant", value: 0.5 }, "expected whole numbers to say"],
    [{ kind: "attractors", values: [], spread: 0.1 }, "expected whole numbers to say"],
    [{ kind: "magnitude", spread: -1 }, "a spread from 0"],
  ] as const)("refuses %j", (guesser, message) => {
    expect(() => falsePositives(guesser)).toThrow(message);
  });
});
