import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attnPattern } from "../../src/engine/hooks.js";
import { attentionAtItems } from "../../src/lens/attention-at-items.js";
import type { CountedPrompt } from "../../src/lens/sae-features.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { countingPrompt } from "../../src/tasks/counting.js";

const counts = [1, 4, 12];

describe("attentionAtItems", () => {
  let model: Model;
  let prompts: CountedPrompt[];
  beforeAll(async () => {
    model = await open("tally-25k", { gpu: false, threads: 1, isolated: false });
    const made = await model.prompts(counts.map((count) => countingPrompt(count)));
    prompts = counts.map((count, i) => ({ count, prompt: made[i]! }));
  });
  afterAll(() => model.close());

  it("has a row for every prompt, layer and head, whose shares sum to 1", async () => {
    const rows = await attentionAtItems(model, prompts);
    expect(rows.length).toBe(counts.length * model.info.layers * model.info.heads);
    for (const { count, items, delimiters, first, rest, weights, spread, uniform } of rows) {
      expect(items + delimiters + first + rest).toBeCloseTo(1, 4);
      expect(Math.min(items, delimiters, first, rest)).toBeGreaterThanOrEqual(0);
      expect(weights.length).toBe(count);
      expect(spread).toBeGreaterThanOrEqual(1 - 1e-6);
      expect(spread).toBeLessThanOrEqual(count * (1 + 1e-6));
      expect(uniform).toBeGreaterThan(0);
      if (count === 1) expect(delimiters).toBe(0);
    }
  });

  it("reads the weights that the model used, at the items' own tokens", async () => {
    const { prompt } = prompts[2]!;
    const query = prompt.tokens.length - 3;
    const [row] = await attentionAtItems(model, [prompts[2]!], { layers: [1], query: -3 });
    const { results } = await model.evaluate([
      { tokens: prompt.tokens, captures: [{ hook: attnPattern(1), positions: [query] }] },
    ]);
    const pattern = results[0]!.captures[0]!.data.subarray(0, prompt.tokens.length);
    expect([...row!.weights]).toEqual([...prompt.spans.items!].map((position) => pattern[position]));
    for (const position of prompt.spans.items!) expect(prompt.pieces[position]).toContain("a");
    expect(row!.uniform).toBeCloseTo(12 / (query + 1), 12);
  });

  it("sees nothing on items that are knocked out", async () => {
    const { prompt } = prompts[1]!;
    const keys = [...prompt.spans.items!];
    const { results } = await model.evaluate([
      {
        tokens: prompt.tokens,
        captures: [{ hook: attnPattern(0), positions: [-1] }],
        edits: [{ hook: attnPattern(0), positions: [-1], op: { type: "knockout", keys } }],
      },
    ]);
    const pattern = results[0]!.captures[0]!.data;
    for (const key of keys) expect(pattern[key]).toBe(0);
    const rows = await attentionAtItems(model, [prompts[1]!], { layers: [0] });
    expect(Math.max(...rows.map(({ items }) => items))).toBeGreaterThan(0);
  });

  it("refuses what it cannot read", async () => {
    await expect(attentionAtItems(model, [])).rejects.toThrow(/no prompts/);
    await expect(attentionAtItems(model, prompts, { layers: [7] })).rejects.toThrow(
      /has no attnPattern\(7\)/,
    );
    await expect(attentionAtItems(model, prompts, { query: 3 })).rejects.toThrow(
      /expected a token after the items/,
    );
    const plain = [{ count: 2, prompt: await model.prompt("a, a") }];
    await expect(attentionAtItems(model, plain)).rejects.toThrow(/\(0 items/);
  });
});
