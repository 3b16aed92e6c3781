import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import { open } from "../../src/model/open.js";
import { fixturePath, randomTokens } from "../engine/models.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-open-"));
const cpu = { gpu: false, threads: 1, isolated: false } as const;

function file(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

describe("what open() refuses, in one line", () => {
  const whole = readFileSync(fixturePath("llama"));
  const unknown = Buffer.from(whole);
  unknown.write(
    "llamo",
    unknown.indexOf("general.architecture") + "general.architecture".length + 12,
    "latin1",
  );

  it.each<[string, string, RegExp]>([
    ["no such file", join(folder, "none.gguf"), /none\.gguf/],
    ["not a GGUF", file("text.gguf", Buffer.from("hello, this is text and no model")), /GGUF/],
    ["empty", file("empty.gguf", new Uint8Array(0)), /empty/],
    ["truncated", file("short.gguf", whole.subarray(0, whole.length - 1000)), /truncated|ends|beyond|short/i],
    ["unknown architecture", file("unknown.gguf", unknown), /llamo/],
    ["unknown name", "tally-999", /no model named tally-999/],
  ])("%s", async (_, spec, message) => {
    const error = await open(spec, cpu).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).toMatch(message);
    expect(error?.message).not.toContain("\n");
  });

  it.each<[object, RegExp]>([
    [{ context: 0 }, /context is 0; expected a whole number from 1/],
    [{ threads: 1.5 }, /threads is 1.5/],
    [{ chunkTokens: -1 }, /chunkTokens is -1/],
  ])("%o", async (options, message) => {
    await expect(open(fixturePath("llama"), { ...cpu, ...options })).rejects.toThrow(message);
  });
});

describe("an opened model", () => {
  const restore = process.env.COUNTLENS_THREADS;
  afterEach(() => {
    process.env.COUNTLENS_THREADS = restore ?? "";
  });

  it("describes itself and its hook points", async () => {
    const model = await open(fixturePath("gemma3"), cpu);
    expect(model.describe()).toMatchObject({ architecture: "gemma3", prefixes: "shared" });
    expect(model.describe().context).toMatch(/sliding window \d+/);
    expect(model.hookPoints().residPost).toMatch(/^layers 0\.\.\d+, width \d+$/);
    await model.close();
  });

  it("streams captures in groups of bounded size, equal to those held at once", async () => {
    const model = await open(fixturePath("llama"), cpu);
    const requests = Array.from({ length: 30 }, (_, i) => ({
      tokens: randomTokens(model.engine as never, 20, i),
      captures: [{ hook: residPost(1), positions: "all" as const }],
    }));
    const { results } = await model.evaluate(requests);
    const seen: number[] = [];
    for await (const { index, result } of model.stream(requests, { bytes: 20 * 32 * 4 * 4 })) {
      seen.push(index);
      const [a, b] = [result.captures[0]!.data, results[index]!.captures[0]!.data];
      expect(a.every((value, i) => Math.abs(value - b[i]!) < 1e-4)).toBe(true);
    }
    expect(seen).toEqual(requests.map((_, i) => i));
    await model.close();
  });

  it("takes the number of threads from the environment, checked", async () => {
    process.env.COUNTLENS_THREADS = "two";
    await expect(open(fixturePath("llama"), { gpu: false })).rejects.toThrow(/COUNTLENS_THREADS is "two"/);
    process.env.COUNTLENS_THREADS = "1";
    const model = await open(fixturePath("llama"), { gpu: false });
    expect(model.info.settings.threads).toBe(1);
    await model.close();
  });

  it("after close() says so", async () => {
    const model = await open(fixturePath("llama"), cpu);
    await model.close();
    await expect(model.evaluate([{ tokens: [5] }])).rejects.toThrow(/closed; open the model again/);
  });
});
