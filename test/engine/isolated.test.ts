import { AsyncLocalStorage } from "node:async_hooks";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseBackend } from "../../src/engine/backend.js";
import type { Engine } from "../../src/engine/engine.js";
import { residPost } from "../../src/engine/hooks.js";
import type { InlineEngine } from "../../src/engine/inline.js";
import { openIsolated } from "../../src/engine/isolated.js";
import { fixturePath, largestDifference, openFixture, randomTokens } from "./models.js";

function children(): number[] {
  try {
    return execFileSync("pgrep", ["-P", String(process.pid), "-f", "engine/child.js"], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map(Number);
  } catch {
    return [];
  }
}

function exchangeFolders(): string[] {
  return existsSync("/dev/shm")
    ? readdirSync("/dev/shm").filter((name) => name.startsWith("countlens-"))
    : [];
}

describe("an engine in a process of its own", () => {
  let inline: InlineEngine;
  let isolated: Engine;
  let tokens: number[];

  beforeAll(async () => {
    inline = await openFixture("llama");
    isolated = await openIsolated({
      path: fixturePath("llama"),
      backend: await chooseBackend(false),
      threads: 1,
    });
    tokens = randomTokens(inline, 20, 1);
  });
  afterAll(async () => {
    await inline.close();
    await isolated.close();
  });

  it("answers as the one in this process does, bit for bit", async () => {
    const requests = Array.from({ length: 200 }, (_, i) => ({
      tokens: [...tokens, 5 + (i % 50), 5 + Math.floor(i / 50)],
      logits: { positions: [-1, -2], full: true },
      captures: [{ hook: residPost(0), positions: "all" as const }],
    }));
    const [a, b] = [await inline.evaluate(requests), await isolated.evaluate(requests)];
    // More than fits a message: it came through a file.
    expect(a.results.reduce((sum, { logits }) => sum + logits!.full!.byteLength, 0)).toBeGreaterThan(300_000);
    a.results.forEach((result, i) => {
      expect(largestDifference(result.logits!.full!, b.results[i]!.logits!.full!)).toBe(0);
      expect(largestDifference(result.captures[0]!.data, b.results[i]!.captures[0]!.data)).toBe(0);
      expect(b.results[i]!.logits!.topIds).toEqual(result.logits!.topIds);
    });
    expect(isolated.info).toEqual(inline.info);
  });

  it("generates and tokenizes as the one in this process does", async () => {
    const options = { maxTokens: 10, temperature: 1, seed: 3 };
    const [a, b] = [
      await inline.generate([{ tokens }], options),
      await isolated.generate([{ tokens }], options),
    ];
    expect(b.generations).toEqual(a.generations);
    const texts = ["one two", "<|im_start|>user", "é 漢"];
    expect(await isolated.tokenize(texts, true)).toEqual(await inline.tokenize(texts, true));
    expect(await isolated.pieces(tokens)).toEqual(await inline.pieces(tokens));
    expect(await isolated.detokenize(tokens)).toBe(await inline.detokenize(tokens));
  });

  it("carries custom edits over and back, and what they throw", async () => {
    const edit = (apply: (rows: Float32Array, positions: Int32Array) => void) => ({
      tokens,
      logits: { positions: [-1], full: true },
      edits: [{ hook: residPost(0), positions: [3, 4, 9], op: { type: "custom" as const, apply } }],
    });
    const negate = (rows: Float32Array) =>
      rows.forEach((value, i) => {
        rows[i] = -value;
      });
    const [a, b] = [await inline.evaluate([edit(negate)]), await isolated.evaluate([edit(negate)])];
    expect(largestDifference(a.results[0]!.logits!.full!, b.results[0]!.logits!.full!)).toBe(0);
    const fail = () => {
      throw new Error("not today");
    };
    await expect(isolated.evaluate([edit(fail)])).rejects.toThrow(/not today/);
    await expect(isolated.evaluate([{ tokens }])).resolves.toBeDefined();
  });

  it("stops when cancelled, and answers the next call", async () => {
    const controller = new AbortController();
    const requests = Array.from({ length: 3000 }, (_, i) => ({
      tokens: [5 + (i % 90), ...randomTokens(inline, 100, i)],
    }));
    let progress = 0;
    const running = isolated.evaluate(requests, {
      signal: controller.signal,
      onProgress: () => {
        progress++;
        controller.abort();
      },
    });
    await expect(running).rejects.toThrow(/abort/i);
    expect(progress).toBe(1);
    const { stats } = await isolated.evaluate([{ tokens }]);
    expect(stats.tokensEvaluated).toBe(20);
  });

  it("runs calls that overlap in time one after another", async () => {
    const request = (seed: number) => ({
      tokens: randomTokens(inline, 12, seed),
      logits: { positions: [-1] },
    });
    const seeds = Array.from({ length: 12 }, (_, i) => i);
    const together = await Promise.all(seeds.map((seed) => isolated.evaluate([request(seed)])));
    for (const seed of seeds) {
      const { results } = await inline.evaluate([request(seed)]);
      expect(together[seed]!.results[0]!.logits).toEqual(results[0]!.logits);
    }
  });

  it("an abort in it is an error here, the next call starts it again, and nothing is left behind", async () => {
    const before = children();
    const folders = exchangeFolders();
    expect(before.length).toBe(1);
    const requests = Array.from({ length: 3000 }, (_, i) => ({ tokens: randomTokens(inline, 100, i) }));
    const running = isolated.evaluate(requests, { onProgress: () => process.kill(before[0]!, "SIGABRT") });
    await expect(running).rejects.toThrow(
      /the engine's process ended \(SIGABRT\).*next call starts it again/,
    );
    const { results } = await isolated.evaluate([{ tokens, logits: { positions: [-1] } }]);
    expect(results[0]!.logits!.topIds).toEqual(
      (await inline.evaluate([{ tokens, logits: { positions: [-1] } }])).results[0]!.logits!.topIds,
    );
    expect(children()).not.toEqual(before);
    expect(exchangeFolders().filter((folder) => !folders.includes(folder)).length).toBeLessThanOrEqual(1);
  });

  it("an error says which line asked", async () => {
    const asksForNothing = async () => void (await isolated.evaluate([{ tokens: [] }]));
    const error = (await asksForNothing().catch((thrown: unknown) => thrown)) as Error;
    expect(error.stack).toContain("asksForNothing");
  });

  it("progress runs in the caller's async context, not in that of whoever opened the child", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen = new Set<string | undefined>();
    const requests = Array.from({ length: 100 }, (_, i) => ({ tokens: randomTokens(inline, 100, i) }));
    await storage.run("caller", () =>
      isolated.evaluate(requests, { onProgress: () => seen.add(storage.getStore()) }),
    );
    expect([...seen]).toEqual(["caller"]);
  });

  it("refuses what the engine refuses, with its words", async () => {
    await expect(isolated.evaluate([{ tokens: [] }])).rejects.toThrow(/no tokens; expected at least one/);
  });
});
