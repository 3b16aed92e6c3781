import { describe, expect, it } from "vitest";
import type { InlineEngine } from "../../src/engine/inline.js";
import type { Request } from "../../src/engine/request.js";
import { random } from "../../src/stats/random.js";
import {
  BRANCHING,
  fixturePath,
  GELU,
  largestAbsolute,
  largestDifference,
  openFixture,
  openPath,
  PLAIN,
  randomTokens,
  withQuietMlp,
} from "./models.js";

/** F32 weights and KV cache: what is left is rounding, in units of the largest |logit|. */
const TOLERANCE = 1e-5;
/** With GELU at full strength (see `GELU`): the unit of half precision. 5e-5 to 1.1e-4 were seen, by processor. */
const GELU_TOLERANCE = 2 ** -11;

/** The model in which sharing is held to the strict tolerance. */
function strictPath(architecture: string): string {
  return GELU.includes(architecture) ? withQuietMlp(architecture) : fixturePath(architecture);
}

/** A bush: a trunk with branches at many depths, some of them forked again. */
function bush(engine: InlineEngine, trunkLength: number, count: number): number[][] {
  const trunk = randomTokens(engine, trunkLength, 11);
  const draw = random(5, "bush");
  return Array.from({ length: count }, (_, i) => {
    const depth = draw.integer(1, trunkLength);
    const branch = randomTokens(engine, draw.integer(1, 6) + 1, 100 + Math.floor(i / 2)).slice(1);
    return [...trunk.slice(0, depth), ...branch];
  });
}

async function logitsOf(
  engine: InlineEngine,
  sequences: readonly number[][],
  mode: "forest" | "batch" | "alone",
) {
  const requests: Request[] = sequences.map((tokens) => ({
    tokens,
    logits: { positions: "all", full: true },
  }));
  const { results, stats } = await engine.evaluate(requests, { mode });
  return { rows: results.map(({ logits }) => logits!.full!), stats };
}

function expectClose(a: readonly Float32Array[], b: readonly Float32Array[], tolerance = TOLERANCE): void {
  const scale = Math.max(...b.map(largestAbsolute));
  for (let i = 0; i < a.length; i++) {
    expect(largestDifference(a[i]!, b[i]!) / scale).toBeLessThan(tolerance);
  }
}

describe.each(BRANCHING)("%s: shared against alone", (architecture) => {
  it("gives the same logits in chunks of 1, 7, 64 and 512 tokens, in any order", async () => {
    const path = strictPath(architecture);
    const reference = await openPath(path);
    const sequences = bush(reference, 30, 24);
    const alone = await logitsOf(reference, sequences, "alone");
    await reference.close();
    for (const chunkTokens of [1, 7, 64, 512]) {
      const engine = await openPath(path, { chunkTokens });
      const order = random(chunkTokens, "order").shuffle(sequences.map((_, i) => i));
      const { rows, stats } = await logitsOf(
        engine,
        order.map((i) => sequences[i]!),
        "forest",
      );
      expectClose(
        rows,
        order.map((i) => alone.rows[i]!),
      );
      expect(stats.tokensEvaluated).toBeLessThan(stats.tokensAsked / 2);
      await engine.close();
    }
  });

  it("gives the same logits in plain batches", async () => {
    const engine = await openFixture(architecture);
    const sequences = bush(engine, 20, 16);
    const [alone, batch] = [
      await logitsOf(engine, sequences, "alone"),
      await logitsOf(engine, sequences, "batch"),
    ];
    expectClose(batch.rows, alone.rows, GELU.includes(architecture) ? GELU_TOLERANCE : TOLERANCE);
    expect(batch.stats.tokensEvaluated).toBe(batch.stats.tokensAsked);
    expect(batch.stats.decodes).toBeLessThan(alone.stats.decodes);
    await engine.close();
  });
});

describe("more leaves than sequence ids", () => {
  it("evaluates over 1,000 branches of one trunk", async () => {
    const engine = await openFixture("llama");
    const trunk = randomTokens(engine, 12, 3);
    const sequences: number[][] = [];
    for (let a = 3; a < 37; a++) for (let b = 3; b < 37; b++) sequences.push([...trunk, a, b]);
    expect(sequences.length).toBeGreaterThan(1000);
    const requests = sequences.map((tokens) => ({ tokens, logits: { positions: [-1], full: true } }));
    const shared = await engine.evaluate(requests);
    expect(shared.stats.tokensEvaluated).toBe(12 + 34 + 34 * 34);
    const some = Array.from({ length: 40 }, (_, i) => (i * 29) % requests.length);
    const alone = await engine.evaluate(
      some.map((i) => requests[i]!),
      { mode: "alone" },
    );
    expectClose(
      some.map((i) => shared.results[i]!.logits!.full!),
      alone.results.map(({ logits }) => logits!.full!),
    );
    await engine.close();
  });
});

describe("sliding windows", () => {
  it.each(["gemma2", "gemma3"])(
    "%s: branches off a trunk longer than the window see what they should",
    async (architecture) => {
      const engine = await openPath(strictPath(architecture), { chunkTokens: 32 });
      const { slidingWindow } = engine.info;
      expect(slidingWindow).toBeGreaterThan(0);
      const trunk = randomTokens(engine, 4 * slidingWindow + 10, 7);
      // The deepest first, so that by the time the shallow branches come their trunk has long left the window.
      const depths = [
        trunk.length,
        trunk.length - 3,
        2 * slidingWindow,
        slidingWindow + 1,
        slidingWindow - 1,
        5,
        2,
      ];
      const sequences = depths.map((depth, i) => [
        ...trunk.slice(0, depth),
        ...randomTokens(engine, 20, 50 + i).slice(1),
      ]);
      const [shared, alone] = [
        await logitsOf(engine, sequences, "forest"),
        await logitsOf(engine, sequences, "alone"),
      ];
      expectClose(shared.rows, alone.rows);
      await engine.close();
    },
  );
});

describe.each(PLAIN)("%s: cannot branch", (architecture) => {
  it("falls back to plain sequences and says so", async () => {
    const engine = await openFixture(architecture);
    const sequences = bush(engine, 20, 6);
    const [forest, alone] = [
      await logitsOf(engine, sequences, "forest"),
      await logitsOf(engine, sequences, "alone"),
    ];
    expect(forest.stats.unshared).toMatch(/recurrent/);
    expect(forest.stats.tokensEvaluated).toBe(forest.stats.tokensAsked);
    expectClose(forest.rows, alone.rows);
    await engine.close();
  });
});

describe("edits stay on their branch", () => {
  it("leaves the other requests of the batch as they were", async () => {
    const engine = await openFixture("llama");
    const tokens = randomTokens(engine, 20, 1);
    const plain = { tokens, logits: { positions: [-1], full: true } };
    const rows = Float32Array.from({ length: engine.info.width }, (_, i) => Math.sin(i));
    const edited: Request = {
      ...plain,
      edits: [{ hook: { kind: "residPost", layer: 1 }, positions: [10], op: { type: "replace", rows } }],
    };
    const { results, stats } = await engine.evaluate([plain, edited, plain, edited]);
    const alone = await engine.evaluate([plain, edited], { mode: "alone" });
    expectClose(
      results.map(({ logits }) => logits!.full!),
      [0, 1, 0, 1].map((i) => alone.results[i]!.logits!.full!),
    );
    expect(largestDifference(results[0]!.logits!.full!, results[1]!.logits!.full!)).toBeGreaterThan(1e-3);
    // Before the first edited position everything is shared.
    expect(stats.tokensEvaluated).toBe(20 + 10 + 10);
    await engine.close();
  });
});
