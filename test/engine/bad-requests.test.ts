import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attnPattern, residPost } from "../../src/engine/hooks.js";
import type { InlineEngine } from "../../src/engine/inline.js";
import type { EditOp, Request } from "../../src/engine/request.js";
import { openFixture } from "./models.js";

describe("what cannot be done is refused before anything runs", () => {
  let engine: InlineEngine;
  beforeAll(async () => {
    engine = await openFixture("llama", { context: 64 });
  });
  afterAll(() => engine.close());

  const tokens = [5, 6, 7, 8];
  const edit = (op: EditOp, positions: readonly number[] = [1]): Request => ({
    tokens,
    edits: [{ hook: residPost(0), positions, op }],
  });
  const vector = (length: number, value = 1) => new Float32Array(length).fill(value);
  const width = 32;

  it.each<[string, Request, RegExp]>([
    ["no tokens", { tokens: [] }, /request 0: no tokens; expected at least one/],
    [
      "too many",
      { tokens: Array.from({ length: 65 }, () => 5) },
      /65 tokens; the context of .* is 64; shorten/,
    ],
    ["an id that is none", { tokens: [5, 1e6] }, /token 1000000 at position 1; expected ids from 0 to/],
    ["half an id", { tokens: [5.5] }, /token 5.5 at position 0/],
    [
      "a position beyond",
      { tokens, logits: { positions: [4] } },
      /position 4 out of range; there are 4 tokens/,
    ],
    [
      "a layer beyond",
      { tokens, captures: [{ hook: residPost(99), positions: "all" }] },
      /layer 99 out of range; .* has residPost at layers 0\.\./,
    ],
    [
      "no such hook",
      { tokens, captures: [{ hook: { kind: "heads", layer: -1 }, positions: "all" }] },
      /layer -1 out of range/,
    ],
    [
      "a patch of the wrong width",
      edit({ type: "replace", rows: vector(7) }),
      /7 numbers; expected \d+ \(one vector\)/,
    ],
    [
      "NaN",
      edit({ type: "add", rows: vector(width, Number.NaN) }),
      /rows holds NaN at 0; expected finite numbers/,
    ],
    ["no direction", edit({ type: "projectOut", direction: vector(width, 0) }), /the direction is zero/],
    [
      "values for other positions",
      edit({ type: "moveTo", direction: vector(width), value: vector(3) }),
      /3 values for 1 positions/,
    ],
    ["knockout elsewhere", edit({ type: "knockout", keys: [0] }), /knockout works at attnPattern/],
    [
      "a pattern replaced",
      { tokens, edits: [{ hook: attnPattern(0), positions: [1], op: { type: "scale", factor: 0 } }] },
      /knockout edit only/,
    ],
    ["no top", { tokens, logits: { positions: [0], top: 0 } }, /top is 0; expected a whole number from 1/],
  ])("%s", async (_, request, message) => {
    expect(engine.info.width).toBe(width);
    await expect(engine.evaluate([request])).rejects.toThrow(message);
  });

  it("a capture larger than the limit: its size and what to do", async () => {
    const captures = [{ hook: residPost(0), positions: "all" as const }];
    const limited = engine.evaluate([{ tokens, captures }], { captureLimit: 100 } as never);
    await expect(limited).rejects.toThrow(
      /would hold 1 kB of activations in memory; the limit is 1 kB; .*model\.stream/,
    );
  });

  it("an architecture's missing hook point is named, with those it has", async () => {
    const mamba = await openFixture("mamba");
    const wish = mamba.evaluate([{ tokens, captures: [{ hook: attnPattern(0), positions: "all" }] }]);
    await expect(wish).rejects.toThrow(/has no attnPattern; it has .*residPost/);
    await mamba.close();
  });

  it("a cancelled run throws and leaves the engine usable", async () => {
    const controller = new AbortController();
    controller.abort();
    await expect(engine.evaluate([{ tokens }], { signal: controller.signal })).rejects.toThrow(/abort/i);
    const { results } = await engine.evaluate([{ tokens, logits: { positions: [-1] } }]);
    expect(results[0]!.logits!.topIds.length).toBe(2);
  });

  it("a function that throws inside an edit throws here, and the engine goes on", async () => {
    const apply = () => {
      throw new Error("mine");
    };
    await expect(engine.evaluate([edit({ type: "custom", apply })])).rejects.toThrow("mine");
    const { results } = await engine.evaluate([{ tokens, logits: { positions: [-1] } }]);
    expect(results[0]!.logits!.topLogits.every(Number.isFinite)).toBe(true);
  });
});
