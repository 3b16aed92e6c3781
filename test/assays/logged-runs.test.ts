import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answerer, fromModel } from "../../src/assays/answerer.js";
import { countingCapacity } from "../../src/assays/counting-capacity.js";
import { denseSweep } from "../../src/assays/dense-sweep.js";
import { dualTask } from "../../src/assays/dual-task.js";
import type { HorizonTrial } from "../../src/assays/logged-checker.js";
import { motifCapacities } from "../../src/assays/motifs.js";
import { seededCapacities } from "../../src/assays/seeded-capacities.js";
import { type HorizonOptions, zeroErrorHorizon } from "../../src/assays/zero-error-horizon.js";
import { openEndpoint } from "../../src/endpoints/endpoint.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { canonicalLog, mergeRunLogs } from "../../src/store/merge-logs.js";
import { readRunLog } from "../../src/store/run-log-file.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { parity } from "../../src/tasks/parity.js";
import { shippedQuestions } from "../../src/tasks/question-set.js";
import { startServer } from "../endpoints/local-server.js";
import { testModel } from "../endpoints/test-model.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-runs-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newLog = () => join(folder, `${files++}.jsonl`);

let model: Model;
beforeAll(async () => {
  model = await open(testModel, { isolated: false, threads: 1 });
});
afterAll(async () => model?.close());

/** A result without when, how fast, at what cost and under which name it was found. */
function found(result: object): string {
  const volatile = new Set(["provenance", "counts", "cost", "ms", "date", "tokensSaved"]);
  return JSON.stringify(result, (key, value) => (volatile.has(key) ? undefined : value));
}

/** What a run on `shards` logs, one after the other, then on all of them together. */
async function inShards(
  of: number,
  run: (options: { log: string; shard?: { index: number; of: number } }) => Promise<object>,
): Promise<{
  whole: string;
  merged: string;
  wholeLog: string;
  mergedLog: string;
  shards: object[];
  asked: number;
}> {
  const whole = newLog();
  const one = await run({ log: whole });
  const logs = Array.from({ length: of }, newLog);
  const shards: object[] = [];
  for (const [i, log] of logs.entries()) shards.push(await run({ log, shard: { index: i + 1, of } }));
  const merged = newLog();
  const { trials } = await mergeRunLogs(merged, logs);
  const together = await run({ log: merged });
  return {
    whole: found(one),
    merged: found(together),
    wholeLog: canonicalLog(await readRunLog(whole)),
    mergedLog: canonicalLog(await readRunLog(merged)),
    shards,
    asked: (await readRunLog(merged)).length - trials,
  };
}

describe("the horizon with a log", () => {
  const task = multiplication();
  const options: HorizonOptions = { upTo: 14, wholeGrid: true };

  it("finds what it finds without one, and nothing is computed twice", async () => {
    const log = newLog();
    const plain = await zeroErrorHorizon(model, task, options);
    const first = await zeroErrorHorizon(model, task, { ...options, log });
    const again = await zeroErrorHorizon(model, task, { ...options, log });
    const verdicts = ({ horizon, instances, limiters }: typeof plain) => ({
      horizon,
      right: instances.map(({ key, right }) => [key, right]),
      limiters: limiters.map(({ key, text, read }) => [key, text, read]),
    });
    expect(verdicts(first)).toEqual(verdicts(plain));
    expect(found(again)).toBe(found(first));
    expect(first.counts.tokensEvaluated).toBeGreaterThan(0);
    expect(again.counts).toMatchObject({ tokensEvaluated: 0, instances: 0 });
    const lines = await readRunLog(log);
    const trials = lines.map(({ trial }) => trial as unknown as HorizonTrial);
    expect(trials.filter(({ stage }) => stage === "verdict").length).toBe(14 ** 2);
    expect(trials.filter(({ stage }) => stage === "answer").length).toBe(first.errors.length);
    expect(trials[0]).toMatchObject({
      task: "multiplication",
      instance: "1,1",
      prompt: { user: "1*1=" },
      expected: "1",
    });
  });

  it("a larger run computes only what is new; another template, mode or task is another trial", async () => {
    const log = newLog();
    const small = await zeroErrorHorizon(model, task, { upTo: 5, wholeGrid: true, log });
    const large = await zeroErrorHorizon(model, task, { upTo: 8, wholeGrid: true, log });
    expect(small.counts.instances).toBe(25);
    expect(large.counts.instances).toBe(64 - 25);
    expect(large.instances.slice(0, 25)).toEqual(small.instances);
    for (const other of [{ template: "eval" }, { mode: "teacher forcing" as const }, { maxTokens: 32 }])
      expect(
        (await zeroErrorHorizon(model, task, { upTo: 3, wholeGrid: true, log, ...other })).counts.instances,
      ).toBe(9);
    expect(
      (await zeroErrorHorizon(model, parity(), { upTo: 3, wholeGrid: true, log })).counts.instances,
    ).toBe(14);
  });

  it("four shards merged are one run, byte for byte: a grid", async () => {
    const run = await inShards(4, (more) => zeroErrorHorizon(model, task, { ...options, upTo: 30, ...more }));
    expect(run.merged).toBe(run.whole);
    expect(run.mergedLog).toBe(run.wholeLog);
    expect(run.asked).toBe(0);
    for (const shard of run.shards as { horizon: number; reached: boolean; stopped: string }[]) {
      expect(shard.horizon).toBeNaN();
      expect(shard).toMatchObject({
        reached: false,
        stopped: expect.stringMatching(/^shard \d of 4: merge/),
      });
    }
  });

  it("and a search that stops at the first error", async () => {
    const run = await inShards(4, (more) => zeroErrorHorizon(model, parity(), { upTo: 10, ...more }));
    expect(run.merged).toBe(run.whole);
    expect(run.asked).toBe(0);
  });

  it("a server is asked once for each trial, whatever was in the log", async () => {
    let asked = 0;
    const server = await startServer(async (_system, user) => {
      asked++;
      const [a, b] = user.replace("=", "").split("*").map(Number);
      return { text: a! * b! > 20 ? "7" : String(a! * b!), ended: true, input: 9, output: 2 };
    });
    try {
      const endpoint = openEndpoint({ url: server.url, model: "m" });
      const log = newLog();
      const first = await zeroErrorHorizon(endpoint, task, { log });
      expect(asked).toBe((first.horizon + 1) ** 2);
      const again = await zeroErrorHorizon(endpoint, task, { log });
      expect(asked).toBe((first.horizon + 1) ** 2);
      expect(again.limiters).toEqual(first.limiters);
    } finally {
      await server.close();
    }
  });

  it("a shard without a log is refused before anything runs", async () => {
    await expect(zeroErrorHorizon(model, task, { shard: { index: 1, of: 2 } })).rejects.toThrow(
      /shard 1\/2 without a log/,
    );
  });
});

describe("assays of answers with a log", () => {
  let answerer: Answerer;
  beforeAll(() => {
    answerer = fromModel(model, { maxTokens: 16 });
  });

  it("a ladder: found again with its dates, nothing asked twice", async () => {
    const log = newLog();
    const first = await countingCapacity(answerer, { seed: 3, ceiling: 64, log });
    const again = await countingCapacity(answerer, { seed: 3, ceiling: 64, log });
    expect(again.trials).toEqual(first.trials);
    expect(again.cost).toMatchObject({ tokensEvaluated: 0 });
    expect(first.label).toBe((await countingCapacity(answerer, { seed: 3, ceiling: 64 })).label);
  });

  it.each([
    ["dense sweep", (more) => denseSweep(answerer, { to: 50, batch: 8, ...more })],
    [
      "ladders over seeds",
      (more) => seededCapacities(answerer, { seeds: [1, 2, 3, 4, 5], ceiling: 32, ...more }),
    ],
    [
      "motifs",
      async (more) =>
        (
          await motifCapacities(answerer, {
            items: ["a", "b"],
            delimiters: [", ", " "],
            ceiling: 32,
            ...more,
          })
        ).map(({ relative: _relative, ...row }) => row),
    ],
    [
      "dual task",
      async (more) => {
        const questions = (await shippedQuestions("short")).slice(0, 4);
        return dualTask(answerer, { questions, counts: [4, 6, 8, 10, 12], trials: 2, ...more });
      },
    ],
  ] as [string, (more: { log: string; shard?: { index: number; of: number } }) => Promise<object>][])(
    "four shards merged are one run, byte for byte: %s",
    async (_name, run) => {
      const result = await inShards(4, run);
      expect(result.merged).toBe(result.whole);
      expect(result.mergedLog).toBe(result.wholeLog);
      expect(result.asked).toBe(0);
    },
  );
});
