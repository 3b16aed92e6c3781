import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attnPattern } from "../../src/engine/hooks.js";
import type { InlineEngine } from "../../src/engine/inline.js";
import { largestDifference, lastLogits, openFixture, randomTokens } from "./models.js";

describe.each(["llama", "qwen3", "gemma3"])("%s: attention weights", (architecture) => {
  let engine: InlineEngine;
  let tokens: number[];
  // Longer than a chunk, so that a row may come from any of several decodes.
  beforeAll(async () => {
    engine = await openFixture(architecture, { chunkTokens: 16 });
    tokens = randomTokens(engine, 40, 1);
  });
  afterAll(() => engine.close());

  it("sum to one over the past and are zero over the future", async () => {
    const captures = [{ hook: attnPattern(1), positions: "all" as const }];
    const [
      {
        captures: [pattern],
      } = { captures: [] },
    ] = (await engine.evaluate([{ tokens, captures }])).results;
    const { heads } = engine.info;
    expect(pattern!.width).toBe(heads * tokens.length);
    for (let position = 0; position < tokens.length; position++) {
      for (let head = 0; head < heads; head++) {
        const from = position * pattern!.width + head * tokens.length;
        const row = pattern!.data.subarray(from, from + tokens.length);
        expect(row.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 4);
        expect(row.subarray(position + 1).every((weight) => weight === 0)).toBe(true);
      }
    }
  });

  it("an empty knockout changes nothing, a real one does, and only from its layer on", async () => {
    const plain = await lastLogits(engine, { tokens });
    const knock = (keys: number[]) => [
      { hook: attnPattern(1), positions: [-1], op: { type: "knockout" as const, keys } },
    ];
    const untouched = await lastLogits(engine, { tokens, edits: knock([]) });
    // Scaling by a sum that is 1 up to rounding.
    expect(largestDifference(untouched, plain)).toBeLessThan(1e-3);
    const cut = await lastLogits(engine, { tokens, edits: knock([35, 36, 37, 38]) });
    expect(largestDifference(cut, plain)).toBeGreaterThan(1e-3);
  });

  it("knocked-out keys have no weight left, the rest sums to one", async () => {
    const hook = attnPattern(1);
    const [
      {
        captures: [pattern],
      } = { captures: [] },
    ] = (
      await engine.evaluate([
        {
          tokens,
          edits: [{ hook, positions: [-1], op: { type: "knockout", keys: [36, 37] } }],
          captures: [{ hook, positions: [-1] }],
        },
      ])
    ).results;
    for (let head = 0; head < engine.info.heads; head++) {
      const row = pattern!.data.subarray(head * tokens.length, (head + 1) * tokens.length);
      expect([row[36], row[37]]).toEqual([0, 0]);
      expect(row.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 4);
    }
  });
});
