import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ladder } from "../../src/assays/ladder.js";
import { importedCapacities, importTrials, readScores } from "../../src/assays/trial-log-import.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-import-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const csv = `model_id,true_count,raw,L,tokens_in,hidden
alpha,30,30,32,70,
alpha,35,"I count 1,035 items.",32,80,12
"beta, large",31,"no idea
at all",32,72,0
`;

describe("importTrials", () => {
  it("reads a CSV with its columns named, quotes and line breaks in fields", async () => {
    const { trials, skipped } = await importTrials(file("a.csv", csv), {
      model: "model_id",
      target: "true_count",
      response: "raw",
      tier: "L",
      inputTokens: "tokens_in",
      reasoningTokens: "hidden",
    });
    expect(skipped).toBe(0);
    expect(
      trials.map(({ model, tier, k, target, prediction, format }) => [
        model,
        tier,
        k,
        target,
        prediction,
        format,
      ]),
    ).toEqual([
      ["alpha", 32, 0, 30, 30, "clean"],
      ["alpha", 32, 1, 35, 1035, "prose"],
      ["beta, large", 32, 0, 31, null, "noInteger"],
    ]);
    expect(trials[0]).toMatchObject({
      exact: true,
      error: 0,
      inputTokens: 70,
      outputTokens: null,
      reasoningTokens: null,
    });
    expect(trials[1]).toMatchObject({ exact: false, error: 1000, reasoningTokens: 12 });
  });

  it.each([
    ["b.tsv", "n\tsaid\n3\t3\n4\t5\n"],
    ["b.jsonl", '{"n": 3, "said": 3, "more": [1]}\n{"n": 4, "said": 5}\n'],
    ["b.json", '[{"n": 3, "said": "3"}, {"n": 4, "said": "5"}]'],
  ])("reads %s the same", async (name, text) => {
    const { trials } = await importTrials(
      file(name, text),
      { target: "n", prediction: "said" },
      { model: "x" },
    );
    expect(
      trials.map(({ model, target, prediction, exact, tier, k }) => [
        model,
        target,
        prediction,
        exact,
        tier,
        k,
      ]),
    ).toEqual([
      ["x", 3, 3, true, null, null],
      ["x", 4, 5, false, null, null],
    ]);
  });

  it("takes the file's own prediction before it parses, and parses where there is none", async () => {
    const path = file("c.csv", "n,raw,parsed\n3,maybe 4,3\n3,maybe 4,\n");
    const { trials } = await importTrials(path, { target: "n", response: "raw", prediction: "parsed" });
    expect(trials.map(({ prediction }) => prediction)).toEqual([3, 4]);
  });

  it("names what is wrong with a file", async () => {
    const path = file("d.csv", "n,raw\nmany,3\n4,4\n");
    const columns = { target: "n", response: "raw" };
    await expect(importTrials(path, columns)).rejects.toThrow(
      'importTrials: row 1 has "many" at n; expected a whole number',
    );
    expect((await importTrials(path, columns, { skip: 1 })).skipped).toBe(1);
    await expect(importTrials(path, { ...columns, model: "who" })).rejects.toThrow(
      "has no column who; it has n, raw",
    );
    await expect(importTrials(path, { target: "n" })).rejects.toThrow("neither response nor prediction");
    await expect(importTrials(join(folder, "none.csv"), columns)).rejects.toThrow("importTrials: no file");
    await expect(importTrials(file("e.txt", ""), columns)).rejects.toThrow("has no known ending");
  });
});

describe("importedCapacities", () => {
  it("gives back the ladder whose log it is, for each model", async () => {
    const run = (exactTo: number, seed: number) =>
      ladder(async (trials) => trials.map(({ target }) => ({ prediction: target <= exactTo ? target : 7 })), {
        seed,
      });
    const results = { short: await run(20, 1), long: await run(300, 2) };
    const rows = Object.entries(results).flatMap(([name, { tiers }]) =>
      tiers.flatMap(({ length, trials }) =>
        trials.map(({ target, prediction }) => `${name},${length},${target},${prediction}`),
      ),
    );
    const { trials } = await importTrials(file("f.csv", `who,L,n,said\n${rows.join("\n")}\n`), {
      model: "who",
      target: "n",
      prediction: "said",
      tier: "L",
    });
    const [short, long] = importedCapacities(trials);
    expect(short).toMatchObject({ model: "short", label: "<32", plotted: 0, end: "belowStart" });
    expect(long).toMatchObject({
      model: "long",
      label: results.long.label,
      bracket: results.long.bracket,
      end: "bracketed",
    });
    expect(long?.tiers.map(({ length }) => length)).toEqual(
      results.long.tiers.map(({ length }) => length).sort((a, b) => a - b),
    );
    const cut = importedCapacities(trials.filter(({ model, tier }) => model === "long" && (tier ?? 0) <= 64));
    expect(cut[0]).toMatchObject({ label: ">=64", end: "unfinished", bracket: [64, null] });
  });
});

describe("readScores", () => {
  it("leaves out rows without a number", async () => {
    const path = file(
      "g.csv",
      "name,acc,released\nalpha,0.5,2025-03-01T00:00\nbeta,,2024-01-01\n gamma ,0.7,\n",
    );
    expect(await readScores(path, { model: "name", score: "acc", date: "released" })).toEqual([
      { model: "alpha", score: 0.5, date: "2025-03-01" },
      { model: "gamma", score: 0.7 },
    ]);
  });
});
