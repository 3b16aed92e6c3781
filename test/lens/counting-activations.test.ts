import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residMid, residPost } from "../../src/engine/hooks.js";
import { countingActivations } from "../../src/lens/counting-activations.js";
import { stableCounts } from "../../src/lens/stable-counts.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { countingPrompt } from "../../src/tasks/counting.js";
import { fillerText } from "../../src/tasks/filler.js";

describe("countingActivations on tally-25k", () => {
  let model: Model;
  beforeAll(async () => {
    model = await open("tally-25k", { gpu: false, threads: 1, isolated: false });
  });
  afterAll(() => model.close());

  it("has the rows that each prompt gives alone, at the final token and at the item of each count", async () => {
    const counts = [2, 5, 9];
    const seen = await countingActivations(model, { counts, layers: [1], fillers: 2, fillerWords: 5 });
    expect(seen.fillerWords.length).toBe(3);
    expect(seen.fillerWords[0]).toBe(0);
    expect([...seen.final.counts]).toEqual([2, 5, 9, 2, 5, 9, 2, 5, 9]);
    expect([...seen.items.conditions]).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);
    const { width } = model.info;
    for (let row = 0; row < 9; row++) {
      const condition = seen.final.conditions[row]!;
      const filler = fillerText(seen.fillerWords[condition]!, `1/${condition}`);
      const prompt = await model.prompt(countingPrompt(seen.final.counts[row]!, { filler }));
      const item = prompt.spans.items!.at(-1)!;
      expect(seen.final.positions[row]).toBe(prompt.tokens.length - 1);
      expect(seen.items.positions[row]).toBe(item);
      const { results } = await model.evaluate([
        { tokens: prompt.tokens, captures: [{ hook: residPost(1), positions: [-1, item] }] },
      ]);
      const own = results[0]!.captures[0]!.data;
      for (let j = 0; j < width; j++) {
        expect(seen.final.layers[0]!.rows.data[row * width + j]).toBeCloseTo(own[j]!, 3);
        expect(seen.items.layers[0]!.rows.data[row * width + j]).toBeCloseTo(own[width + j]!, 3);
      }
    }
  });

  it("labels rows stable below the first error of their condition and of the plain one", async () => {
    const counts = Array.from({ length: 140 }, (_, i) => i + 1);
    const { final, answers, stableTo, firstError, stats } = await countingActivations(model, {
      counts,
      layers: [0],
      fillers: 1,
    });
    const range = (condition: number) => {
      const own = answers.filter((answer) => answer.condition === condition);
      return stableCounts(
        own.map(({ count }) => count),
        own.map(({ correct }) => correct),
      );
    };
    expect(range(0)).toEqual({ to: stableTo, firstError });
    // No organism counts beyond what it was trained on by much: there are errors to 140.
    expect(firstError).not.toBeNull();
    final.stable.forEach((is, row) => {
      const own = range(final.conditions[row]!).firstError ?? Infinity;
      expect(is).toBe(final.counts[row]! < Math.min(own, firstError!));
    });
    expect(final.correct).toEqual(answers.map(({ correct }) => correct));
    expect(stats.tokensEvaluated).toBeLessThan(stats.tokensAsked / 10);
  });

  it("takes other hook points and final tokens", async () => {
    const { final } = await countingActivations(model, {
      counts: [3],
      hook: residMid,
      layers: [0],
      fillers: 0,
      final: -2,
    });
    expect(final.layers[0]!.hook).toEqual(residMid(0));
    const { tokens } = await model.prompt(countingPrompt(3));
    expect([...final.positions]).toEqual([tokens.length - 2]);
  });

  it("refuses layers out of range, zero items, broken fillers, and what does not fit, before anything runs", async () => {
    const refused = (options: Parameters<typeof countingActivations>[1]) =>
      expect(countingActivations(model, options)).rejects;
    await refused({ layers: [99] }).toThrow(
      /countingActivations: .* has no residPost\(99\); it has .*residPost \(layers 0\.\.\d/,
    );
    await refused({ layers: [] }).toThrow(/no layers/);
    await refused({ counts: [0] }).toThrow(
      "countingActivations: count 0; expected whole numbers from 1, each once",
    );
    await refused({ fillers: -1 }).toThrow(/fillers -1; expected a whole number from 0/);
    await refused({ fillerWords: 0.5 }).toThrow(/fillerWords 0.5/);
    await refused({ final: 0 }).toThrow(/final 0; expected a whole number below 0/);
    await refused({ counts: [600] }).toThrow(/the longest prompt has \d+ tokens/);
    await refused({ counts: [3], signal: AbortSignal.abort() }).toThrow(/abort/i);
  });
});
