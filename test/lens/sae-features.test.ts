import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import type { Sae } from "../../src/lens/sae.js";
import { type CountedPrompt, saeFeatures } from "../../src/lens/sae-features.js";
import { loadSae } from "../../src/lens/sae-files.js";
import { MOST_UNEXPLAINED, saeFit, saeHook } from "../../src/lens/sae-fit.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { countingPrompt } from "../../src/tasks/counting.js";

const counts = [1, 5, 9, 20, 33];
const counted = async (model: Model): Promise<CountedPrompt[]> => {
  const prompts = await model.prompts(counts.map((count) => countingPrompt(count)));
  return counts.map((count, i) => ({ count, prompt: prompts[i]! }));
};

describe("saeFeatures", () => {
  let model: Model;
  let sae: Sae;
  let prompts: CountedPrompt[];
  beforeAll(async () => {
    model = await open("tally-400k", { gpu: false, threads: 1, isolated: false });
    sae = await loadSae("tally-400k");
    prompts = await counted(model);
  });
  afterAll(() => model.close());

  it("reads the final token of each prompt, and fits the model it ships for", async () => {
    const final = await saeFeatures(model, sae, prompts);
    expect([...final.counts]).toEqual(counts);
    expect(final.hook).toEqual(sae.hook);
    expect(final.fit.warning).toBeUndefined();
    expect(final.fit.unexplained).toBeLessThan(0.1);
    // The same rows captured by hand.
    const { results } = await model.evaluate(
      prompts.map(({ prompt }) => ({
        tokens: prompt.tokens,
        captures: [{ hook: sae.hook!, positions: [-1] }],
      })),
    );
    results.forEach(({ captures }, i) => {
      const own = final.rows.subarray(i * sae.width, (i + 1) * sae.width);
      captures[0]!.data.forEach((value, at) => {
        expect(Math.abs(own[at]! - value)).toBeLessThan(1e-3);
      });
    });
  });

  it("reads a row for every item, counted from 1", async () => {
    const items = await saeFeatures(model, sae, prompts.slice(1, 3), { position: "item tokens" });
    expect([...items.counts]).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // The instruction comes first, so the fifth item looks the same in both lists.
    const row = (i: number) => items.rows.subarray(i * sae.width, (i + 1) * sae.width);
    row(4).forEach((value, at) => {
      expect(Math.abs(value - row(9)[at]!)).toBeLessThan(1e-3);
    });
    expect(items.provenance.notes).toMatchObject({ sae: sae.name, position: "item tokens" });
  });

  it("warns loudly where the SAE was not trained", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    const own = await saeFeatures(model, sae, prompts);
    expect(warned).not.toHaveBeenCalled();
    const elsewhere = await saeFeatures(model, sae, prompts, { hook: residPost(0) });
    expect(warned).toHaveBeenCalledWith(elsewhere.fit.warning);
    expect(elsewhere.fit.warning).toMatch(
      /^WARNING: .*trained at residPost\(\d\) and is read at residPost\(0\)/,
    );
    expect(elsewhere.fit.unexplained).toBeGreaterThan(own.fit.unexplained);
    warned.mockRestore();
  });

  it("warns of a poor reconstruction at the right hook point", async () => {
    const { rows, acts, fit } = await saeFeatures(model, sae, prompts);
    expect(saeFit(sae, rows, acts, sae.hook)).toEqual(fit);
    const other = { ...sae, decoder: sae.decoder.map((value) => -value) };
    const poor = saeFit(other, rows, acts, sae.hook);
    expect(poor.unexplained).toBeGreaterThan(MOST_UNEXPLAINED);
    expect(poor.warning).toMatch(/^WARNING: .* % of the variance unexplained \(expected at most 50 %\)/);
  });

  it("refuses an SAE of another width, layers out of range and prompts without items", async () => {
    const narrow = { ...sae, width: 79 };
    expect(() => saeHook(model, narrow)).toThrow(
      new RegExp(`takes activations of width 79; residPost\\(\\d\\) of .* has ${model.info.width}`),
    );
    await expect(saeFeatures(model, sae, prompts, { hook: residPost(99) })).rejects.toThrow(
      /has no residPost\(99\)/,
    );
    const { hook: _, ...homeless } = sae;
    await expect(saeFeatures(model, homeless, prompts)).rejects.toThrow(/pass hook: residPost\(layer\)/);
    await expect(saeFeatures(model, sae, [])).rejects.toThrow(/no prompts/);
    const plain = [{ count: 3, prompt: await model.prompt("a, a, a") }];
    await expect(saeFeatures(model, sae, plain, { position: "item tokens" })).rejects.toThrow(
      /count 3 has no span items/,
    );
  });
});
