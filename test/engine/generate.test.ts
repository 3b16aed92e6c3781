import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import type { InlineEngine } from "../../src/engine/inline.js";
import type { GenerationBatch } from "../../src/engine/request.js";
import { openFixture, randomTokens } from "./models.js";

/** Generated tokens that were evaluated: of each answer all but the last. */
const generated = ({ generations }: GenerationBatch) =>
  generations.reduce((sum, { tokens }) => sum + Math.max(0, tokens.length - 1), 0);

describe("generate", () => {
  let engine: InlineEngine;
  beforeAll(async () => {
    engine = await openFixture("llama", { chunkTokens: 32 });
  });
  afterAll(() => engine.close());

  const prompts = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      tokens: [...randomTokens(engine, 10, 1), ...randomTokens(engine, 3, i + 2)],
    }));

  it("is what evaluating token by token gives", async () => {
    const [request] = prompts(1);
    const { generations } = await engine.generate([request!], { maxTokens: 12 });
    const tokens = [...request!.tokens];
    for (const generated of generations[0]!.tokens) {
      const { results } = await engine.evaluate([{ tokens, logits: { positions: [-1] } }]);
      expect(results[0]!.logits!.topIds[0]).toBe(generated);
      tokens.push(generated);
    }
    expect(generations[0]!.tokens.length).toBeGreaterThan(0);
  });

  it("gives many sequences at once what each gets alone", async () => {
    const requests = [...prompts(300), ...prompts(2)];
    const together = await engine.generate(requests, { maxTokens: 6 });
    const alone = await engine.generate(requests.slice(0, 20), { maxTokens: 6, mode: "alone" });
    expect(together.generations.slice(0, 20).map(({ tokens }) => [...tokens])).toEqual(
      alone.generations.map(({ tokens }) => [...tokens]),
    );
    // The last two are the first two once more.
    expect(together.generations[300]!.tokens).toEqual(together.generations[0]!.tokens);
    expect(together.stats.tokensEvaluated).toBeLessThan(together.stats.tokensAsked);
  });

  it("edited prompts, whose tokens are their own, go in small groups; shared ones stay together", async () => {
    const tokens = randomTokens(engine, 60, 5);
    const edited = Array.from({ length: 40 }, (_, i) => ({
      tokens,
      edits: [{ hook: residPost(0), positions: [2], op: { type: "scale" as const, factor: 1 + i / 10 } }],
    }));
    const options = { maxTokens: 3 };
    const together = await engine.generate(edited, options);
    const alone = await engine.generate(edited, { ...options, mode: "alone" });
    expect(together.generations.map((one) => [...one.tokens])).toEqual(
      alone.generations.map((one) => [...one.tokens]),
    );
    // 58 tokens each of their own, at most 192 beyond the first prompt: 4 prompts in a group, ten groups that read the two shared tokens.
    expect(together.stats.tokensEvaluated).toBe(10 * 2 + 40 * 58 + generated(together));
    const plain = await engine.generate(
      edited.map(() => ({ tokens })),
      options,
    );
    expect(plain.stats.tokensEvaluated).toBe(60 + generated(plain));
  });

  it("stops at a token, at a string and at the limit, and says which", async () => {
    const [request] = prompts(1);
    const { generations } = await engine.generate([request!], { maxTokens: 8 });
    const [free] = generations;
    expect(free!.stop).toBe("length");
    const stopToken = free!.tokens[3]!;
    const byToken = (await engine.generate([request!], { maxTokens: 8, stopTokens: [stopToken] }))
      .generations[0]!;
    expect([byToken.stop, byToken.endToken]).toEqual(["stopToken", stopToken]);
    expect([...byToken.tokens]).toEqual([...free!.tokens].slice(0, free!.tokens.indexOf(stopToken)));
    const stopString = free!.text.slice(2, 4);
    const byString = (await engine.generate([request!], { maxTokens: 8, stopStrings: [stopString] }))
      .generations[0]!;
    expect(byString.stop).toBe("stopString");
    expect(byString.text).toBe(free!.text.slice(0, free!.text.indexOf(stopString)));
  });

  it("draws by seed: the same again, another with another seed", async () => {
    const [request] = prompts(1);
    const draw = async (seed: number) =>
      [
        ...(await engine.generate([request!], { maxTokens: 16, temperature: 2, seed })).generations[0]!
          .tokens,
      ].join();
    const [a, again, b] = [await draw(1), await draw(1), await draw(2)];
    expect(a).toBe(again);
    expect(a).not.toBe(b);
  });

  it("draws from what topK leaves: 1 is greedy at any temperature", async () => {
    const [request] = prompts(1);
    const greedy = (await engine.generate([request!], { maxTokens: 8 })).generations[0]!;
    const narrow = (await engine.generate([request!], { maxTokens: 8, temperature: 3, topK: 1, seed: 5 }))
      .generations[0]!;
    expect(narrow.tokens).toEqual(greedy.tokens);
    const nucleus = (await engine.generate([request!], { maxTokens: 8, temperature: 1, topP: 1e-9, seed: 5 }))
      .generations[0]!;
    expect(nucleus.tokens).toEqual(greedy.tokens);
  });

  it("keeps an edit on while generating only when asked to", async () => {
    const [request] = prompts(1);
    const seen: number[] = [];
    const hook = { kind: "residPost", layer: 0 } as const;
    const apply = (_: Float32Array, positions: Int32Array) => {
      seen.push(...positions);
    };
    const edit = { hook, positions: [-1], op: { type: "custom", apply } } as const;
    await engine.generate([{ ...request!, edits: [edit] }], { maxTokens: 4 });
    expect(seen).toEqual([request!.tokens.length - 1]);
    seen.length = 0;
    await engine.generate([{ ...request!, edits: [{ ...edit, generated: true }] }], { maxTokens: 4 });
    // The fourth token is chosen but never fed back.
    expect(seen).toEqual([0, 1, 2, 3].map((i) => request!.tokens.length - 1 + i));
  });

  it("steering every generated token is the same as steering those tokens in one evaluation", async () => {
    const [request] = prompts(1);
    const hook = { kind: "residPost", layer: 1 } as const;
    const rows = Float32Array.from({ length: engine.info.width }, (_, i) => Math.sin(5 * i));
    const edits = [{ hook, positions: [-1], op: { type: "add", rows }, generated: true }] as const;
    const { generations } = await engine.generate([{ ...request!, edits }], { maxTokens: 5 });
    const tokens = [...request!.tokens, ...generations[0]!.tokens];
    const from = request!.tokens.length - 1;
    const positions = Array.from({ length: 5 }, (_, i) => from + i);
    const { results } = await engine.evaluate([
      {
        tokens: tokens.slice(0, -1),
        logits: { positions },
        edits: [{ hook, positions, op: { type: "add", rows } }],
      },
    ]);
    const { topIds, k } = results[0]!.logits!;
    expect(positions.map((_, i) => topIds[i * k])).toEqual([...generations[0]!.tokens]);
  });

  it("refuses options out of range before anything runs", async () => {
    const [request] = prompts(1);
    await expect(engine.generate([request!], { maxTokens: 0 })).rejects.toThrow(
      /maxTokens is 0; expected a whole number from 1/,
    );
    await expect(engine.generate([request!], { topP: 0 })).rejects.toThrow(/topP/);
    await expect(engine.generate([{ tokens: [] }])).rejects.toThrow(/no tokens/);
  });
});
