import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { logitLens } from "../../src/lens/logit-lens.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import type { Prompt } from "../../src/model/prompt.js";
import { fixturePath } from "../engine/models.js";

describe.each(["llama", "gemma3"])("logit lens on %s", (architecture) => {
  let model: Model;
  let prompt: Prompt;
  beforeAll(async () => {
    model = await open(fixturePath(architecture), { gpu: false, threads: 1, isolated: false });
    prompt = await model.prompt("one two three");
  });
  afterAll(() => model.close());

  it("at the last layer is the model's own answer at every position", async () => {
    const last = model.info.layers - 1;
    const cells = await logitLens(model, prompt, { layers: [last] });
    const { results } = await model.evaluate([
      { tokens: prompt.tokens, logits: { positions: "all", logSumExp: true } },
    ]);
    const own = results[0]!.logits!;
    expect(cells.length).toBe(prompt.tokens.length);
    cells.forEach((cell, i) => {
      expect(cell.topId).toBe(own.topIds[i * own.k]);
      expect(cell.probability).toBeCloseTo(Math.exp(own.topLogits[i * own.k]! - own.logSumExp![i]!), 5);
      expect(cell.token).toBe(prompt.pieces[i]);
    });
  });

  it("follows a target: rank 1 exactly where it is on top", async () => {
    const [first] = await logitLens(model, prompt, { positions: [-1] });
    const cells = await logitLens(model, prompt, { positions: [-1], target: first!.topId });
    expect(cells.length).toBe(model.info.layers);
    expect(cells[0]!.target!.rank).toBe(1);
    for (const { topId, probability, target } of cells) {
      expect(target!.rank === 1).toBe(topId === first!.topId);
      expect(target!.probability).toBeLessThanOrEqual(probability + 1e-9);
    }
  });

  it("refuses a layer it has not and a target of several tokens", async () => {
    await expect(logitLens(model, prompt, { layers: [99] })).rejects.toThrow(/has no residPost\(99\)/);
    await expect(logitLens(model, prompt, { target: "1234567" })).rejects.toThrow(
      /is \d+ tokens here .*expected one/,
    );
  });
});
