import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overtaking } from "../../src/lens/overtaking.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { countingPrompt } from "../../src/tasks/counting.js";

describe("overtaking on tally-25k", () => {
  let model: Model;
  beforeAll(async () => {
    model = await open("tally-25k", { gpu: false, threads: 1, isolated: false });
  });
  afterAll(() => model.close());

  it("ends with the model's own logits, where the two answers part", async () => {
    const cases = [
      { count: 12, against: 15 },
      { count: 12, against: 1 },
      { count: 7, against: 70 },
      { count: 150, against: 20 },
    ];
    const found = await overtaking(model, cases);
    expect(found.map(({ shared }) => shared)).toEqual([1, 1, 1, 0]);
    expect(found.map(({ right, wrong }) => [right, wrong])).toEqual([
      ["2", "5"],
      ["2", expect.not.stringMatching(/^\d/)],
      [expect.not.stringMatching(/^\d/), "0"],
      ["1", "2"],
    ]);
    for (const [i, { count, shared, gaps, from }] of found.entries()) {
      const { tokens } = await model.prompt(countingPrompt(count));
      const [right, wrong] = await model.answerTokens([String(count), String(cases[i]!.against)]);
      const end = model.info.eot >= 0 ? model.info.eot : model.info.eos;
      const ids = [right![shared] ?? end, wrong![shared] ?? end];
      const { results } = await model.evaluate([
        { tokens: [...tokens, ...right!.slice(0, shared)], logits: { positions: [-1], tokens: ids } },
      ]);
      const own = results[0]!.logits!.tokenLogits!;
      expect(gaps.length).toBe(model.info.layers);
      expect(gaps.at(-1)).toBeCloseTo(own[0]! - own[1]!, 3);
      // From: the start of the run of negative gaps that reaches the last layer.
      if (from === null) expect(gaps.at(-1)).toBeGreaterThanOrEqual(0);
      else {
        expect(gaps.slice(from).every((gap) => gap < 0)).toBe(true);
        if (from > 0) expect(gaps[from - 1]).toBeGreaterThanOrEqual(0);
      }
    }
  });

  it("has nothing to do without cases, and refuses a number against itself and zero items", async () => {
    expect(await overtaking(model, [])).toEqual([]);
    await expect(overtaking(model, [{ count: 5, against: 5 }])).rejects.toThrow(
      "overtaking: 5 against 5; expected another",
    );
    await expect(overtaking(model, [{ count: 0, against: 5 }])).rejects.toThrow(
      /count 0; expected whole numbers from 1/,
    );
    await expect(overtaking(model, [{ count: 3, against: -1 }])).rejects.toThrow(/3 against -1/);
  });
});
