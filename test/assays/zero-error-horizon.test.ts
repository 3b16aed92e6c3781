import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HorizonResult, horizonAtMargin } from "../../src/assays/horizon-result.js";
import { limiterTransfer, promptStability } from "../../src/assays/prompt-stability.js";
import { VERIFICATION_MODES, type VerificationMode } from "../../src/assays/verification/modes.js";
import { type HorizonOptions, zeroErrorHorizon } from "../../src/assays/zero-error-horizon.js";
import { gridOf, summariseGrid } from "../../src/assays/zero-error-horizon-grid.js";
import { openEndpoint } from "../../src/endpoints/endpoint.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { projectRoot } from "../../src/store/project-root.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { parentheses } from "../../src/tasks/parentheses.js";
import { parity } from "../../src/tasks/parity.js";
import type { Task } from "../../src/tasks/task.js";
import { type LocalServer, openWriter, startServer } from "../endpoints/local-server.js";
import { testModel } from "../endpoints/test-model.js";

const MODES = Object.keys(VERIFICATION_MODES) as VerificationMode[];
/** `COUNTLENS_FULL=1` verifies whole grids in every mode: minutes on a quiet machine. Without it, their beginnings. */
const FULL = process.env.COUNTLENS_FULL === "1";
const ORGANISMS = ["tally-25k", "tally-100k", "tally-400k", "tally-1m6"].map((name) =>
  join(projectRoot(), "data", "organisms", `${name}.gguf`),
);

const opened = (path: string) => open(path, { isolated: false, threads: 1 });

/** What must not depend on the mode. */
function essence(result: HorizonResult) {
  const { horizon, reached, limiters, errors, sizes } = result;
  return {
    horizon,
    reached,
    limiters: limiters.map(({ key, text, read, expected }) => [key, text, read, expected]),
    errors: errors.map(({ key }) => key),
    sizes: sizes.map(({ size, instances, wrong }) => [size, instances, wrong]),
  };
}

async function allModes(model: Model, task: Task<never>, options: HorizonOptions): Promise<HorizonResult[]> {
  const results: HorizonResult[] = [];
  for (const mode of MODES) {
    results.push(await zeroErrorHorizon(model, task, { ...options, mode, texts: "limiters" }));
  }
  for (const result of results)
    expect([result.mode, essence(result)]).toEqual([result.mode, essence(results[0]!)]);
  return results;
}

describe.each(ORGANISMS)("%s: all modes give one result", (path) => {
  let model: Model;
  beforeAll(async () => {
    model = await opened(path);
  });
  afterAll(async () => model?.close());

  it.each([
    [multiplication(), 6, 99],
    [parity(), 3, 10],
    [parentheses(), 3, 10],
  ] as [Task<never>, number, number][])(
    "$name",
    async (task, some, all) => {
      const results = await allModes(model, task, { upTo: FULL ? all : some, wholeGrid: true });
      const counts = Object.fromEntries(results.map((result) => [result.mode, result.counts]));
      expect(counts.trie!.tokensEvaluated).toBeLessThan(counts.prefix!.tokensEvaluated);
      expect(counts.prefix!.tokensEvaluated).toBeLessThan(counts["look-ahead"]!.tokensEvaluated);
      if (FULL)
        console.log(basename(path), task.name, results[0]!.horizon, results[0]!.accuracy, counts.trie);
    },
    3_600_000,
  );
});

// A model that does not ship: fetched with `npm run models -- get smollm2-135m-instruct`, or named by COUNTLENS_SMOLLM2.
const smollm2 = process.env.COUNTLENS_SMOLLM2;
describe.skipIf(smollm2 === undefined || !existsSync(smollm2))(
  "SmolLM2 (COUNTLENS_SMOLLM2 names the file)",
  () => {
    it("all modes give one result for sizes up to 12", async () => {
      const model = await opened(smollm2!);
      try {
        const results = await allModes(model, multiplication() as Task<never>, {
          upTo: 12,
          wholeGrid: true,
          maxTokens: 16,
        });
        console.log(results.map(({ mode, horizon, counts }) => [mode, horizon, counts]));
      } finally {
        await model.close();
      }
    }, 3_600_000);
  },
);

describe("the assay", () => {
  let model: Model;
  beforeAll(async () => {
    model = await opened(testModel);
  });
  afterAll(async () => model?.close());

  it("stops at the first error, with every limiter, its answer, its margin and its commands", async () => {
    const grid = await zeroErrorHorizon(model, multiplication(), { upTo: 40, wholeGrid: true });
    const result = await zeroErrorHorizon(model, multiplication());
    expect(result.reached).toBe(true);
    expect(result.horizon).toBe(grid.horizon);
    expect(result.sizes.at(-1)!.size).toBe(result.horizon + 1);
    expect(result.limiters.map(({ key }) => key)).toEqual(grid.limiters.map(({ key }) => key));
    expect(result.limiters).toHaveLength(result.sizes.at(-1)!.wrong);
    for (const { text, margin, commands, expected, read, fields } of result.limiters) {
      expect(text).toBeTypeOf("string");
      expect(read).not.toBe(expected);
      expect(margin).toBeLessThanOrEqual(0);
      expect(commands!.ask).toContain(`--user '${fields.a}*${fields.b}='`);
    }
    expect(summariseGrid(gridOf(grid))).toMatchObject({ horizon: grid.horizon, accuracy: grid.accuracy });
    expect(result.provenance.model!.sha256).toBe(model.sha256);
    expect(JSON.parse(JSON.stringify(result))).toBeTypeOf("object");
  });

  it("the limiters really are answered so: asked alone, greedily", async () => {
    const { limiters, template } = await zeroErrorHorizon(model, multiplication());
    for (const { fields, text } of limiters.slice(0, 5)) {
      const prompt = await model.prompt({ system: template.system!, user: `${fields.a}*${fields.b}=` });
      const { generations } = await model.generate([prompt], { mode: "alone", maxTokens: 64 });
      expect(generations[0]!.text).toBe(text);
    }
  });

  it("a margin asked for makes the horizon smaller, and every close verdict goes to the referee", async () => {
    const result = await zeroErrorHorizon(model, parity(), { upTo: 3, wholeGrid: true });
    const margins = result.sizes.map(({ margin }) => margin).filter((m) => !Number.isNaN(m));
    expect(horizonAtMargin(result, 0)).toBe(result.horizon);
    expect(horizonAtMargin(result, Math.max(0, ...margins) + 1)).toBe(0);
    const strict = await zeroErrorHorizon(model, parity(), { upTo: 3, wholeGrid: true, noiseFloor: 1e6 });
    expect(strict.counts.refereed).toBeGreaterThanOrEqual(14);
    expect(essence(strict)).toEqual(essence(result));
  });

  it("asks under a template of one's own, and a task of one's own", async () => {
    const own = { name: "own", system: "Answer with only the integer.", user: "{b}*{a}=" };
    const turned = await zeroErrorHorizon(model, multiplication(), {
      template: own,
      upTo: 3,
      wholeGrid: true,
    });
    const plain = await zeroErrorHorizon(model, multiplication(), { upTo: 3, wholeGrid: true });
    const swap = (key: string) => key.split(",").reverse().join(",");
    expect(turned.errors.map(({ key }) => swap(key)).sort()).toEqual(
      plain.errors.map(({ key }) => key).sort(),
    );
    const { reader } = multiplication();
    const doubling: Task<number> = {
      name: "doubling",
      order: "the number",
      templates: [{ name: "plain", system: "Answer with only the integer.", user: "2*{n}=" }],
      instances: (size) => [size],
      fields: (n) => ({ n: String(n) }),
      answer: (n) => String(2 * n),
      reader,
    };
    const doubled = await zeroErrorHorizon(model, doubling, { upTo: 9, wholeGrid: true });
    const times = await zeroErrorHorizon(model, multiplication(), { upTo: 9, wholeGrid: true });
    const wrong = times.errors.filter(({ fields }) => fields.a === "2").map(({ fields }) => fields.b);
    expect(doubled.errors.map(({ fields }) => fields.n).filter((n) => Number(n) >= 1)).toEqual(wrong);
  });

  it("compares templates, and tries limiters under the others", async () => {
    const templates = ["baseline", "answer"];
    const stability = await promptStability(model, multiplication(), { templates, upTo: 9 });
    expect(stability.rows.map(({ template }) => template)).toEqual(templates);
    expect(stability.minimum).toBe(Math.min(...stability.rows.map(({ horizon }) => horizon)));
    const rows = await limiterTransfer(model, multiplication(), stability.results);
    const limiters = stability.results.reduce((sum, { limiters }) => sum + limiters.length, 0);
    expect(rows).toHaveLength(limiters);
    for (const { right, text } of rows) expect(text === undefined).toBe(right);
  });

  it("an interrupted run gives nothing", async () => {
    const stop = new AbortController();
    const run = zeroErrorHorizon(model, multiplication(), {
      upTo: 9,
      wholeGrid: true,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error("interrupted")),
    });
    await expect(run).rejects.toThrow();
  });

  it("refuses what it cannot do", async () => {
    const refused = (options: HorizonOptions) => zeroErrorHorizon(model, multiplication(), options);
    await expect(refused({ upTo: 0 })).rejects.toThrow("zeroErrorHorizon: upTo: size 0");
    await expect(refused({ upTo: -1 })).rejects.toThrow("size -1; expected a whole number from 1");
    await expect(refused({ mode: "fast" as "trie" })).rejects.toThrow(
      'mode "fast"; expected naive, teacher forcing',
    );
    await expect(refused({ template: { name: "t", user: "{a}?" } })).rejects.toThrow('"t" has no {b}');
    await expect(refused({ mostInstances: 0 })).rejects.toThrow("mostInstances 0");
    const none: Task<number> = { ...parity(), instances: () => [] } as never;
    await expect(zeroErrorHorizon(model, none)).rejects.toThrow("parity: no instances of size 1");
  });
});

describe("a server", () => {
  let writer: Awaited<ReturnType<typeof openWriter>>;
  let server: LocalServer;
  beforeAll(async () => {
    writer = await openWriter(testModel);
  }, 240_000);
  afterAll(async () => {
    await server?.close();
    await writer?.close();
  });
  const ask = (url: string) =>
    openEndpoint({ url, model: "local", backoffMs: 1, keyVariable: "NO_KEY", maxTokens: 16 });

  it("gives what the same weights give behind the door, through its faults", async () => {
    server = await startServer(writer.write, [
      "429",
      "none",
      "500",
      "broken JSON",
      "truncated body",
      "wrong shape",
    ]);
    const endpoint = ask(server.url);
    const result = await zeroErrorHorizon(endpoint, multiplication(), { upTo: 4, wholeGrid: true });
    const model = await opened(testModel);
    const local = await zeroErrorHorizon(model, multiplication(), {
      upTo: 4,
      wholeGrid: true,
      maxTokens: 16,
    });
    await model.close();
    expect(essence(result)).toEqual(essence(local));
    expect(result.endpoint).toMatchObject({ repeats: 1, unstable: [], fingerprints: ["local-1"] });
    expect(result.endpoint!.usage).toMatchObject({ answers: 16, retries: 5 });
    if (result.reached) expect(result.limiters[0]!.commands!.curl).toContain("/v1/chat/completions");
    await server.close();
  });

  it("asked three times, a contradiction is reported and counts as wrong", async () => {
    // The second of three answers is empty: what an unreliable server looks like.
    server = await startServer(writer.write, ["none", "null content", "none"]);
    const endpoint = openEndpoint({ url: server.url, model: "local", concurrency: 1, keyVariable: "NO_KEY" });
    const result = await zeroErrorHorizon(endpoint, multiplication(), { upTo: 1, repeats: 3 });
    const { right, asked } = result.endpoint!.unstable[0]!;
    expect([right, asked, result.horizon, result.limiters[0]!.rightOf]).toEqual([2, 3, 0, [2, 3]]);
    await server.close();
  });

  it("one that answers nonsense is an error, not a horizon", async () => {
    server = await startServer(
      writer.write,
      Array.from({ length: 99 }, () => "HTML" as const),
    );
    const endpoint = openEndpoint({
      url: server.url,
      model: "local",
      backoffMs: 1,
      retries: 2,
      keyVariable: "NO_KEY",
    });
    await expect(zeroErrorHorizon(endpoint, multiplication())).rejects.toThrow(
      "broken JSON after 3 attempts",
    );
  });
});
