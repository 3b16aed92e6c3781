import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromModel } from "../../src/assays/answerer.js";
import { capacityAgainstTokens, type MotifCapacity, motifCapacities } from "../../src/assays/motifs.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";

const organism = fileURLToPath(new URL("../../data/organisms/tally-25k.gguf", import.meta.url));

describe.skipIf(!existsSync(organism))("motifCapacities on an organism", () => {
  let model: Model;
  let rows: MotifCapacity[];
  const seen: string[] = [];
  beforeAll(async () => {
    model = await open(organism, { threads: 1, isolated: false });
    rows = await motifCapacities(fromModel(model, { maxTokens: 16 }), {
      items: ["a", "dog"],
      delimiters: [", ", "\n"],
      ceiling: 64,
      tokenizer: { name: "tally", tokenize: (texts) => model.engine.tokenize(texts, false) },
      onMotif: ({ item, delimiter }, done, total) => seen.push(`${item}${delimiter}${done}/${total}`),
    });
  });
  afterAll(() => model.close());

  it("has a row for each character and delimiter, in order", () => {
    expect(rows.map(({ item, delimiter }) => item + delimiter)).toEqual(["a, ", "a\n", "dog, ", "dog\n"]);
    expect(seen).toEqual(["a, 1/4", "a\n2/4", "dog, 3/4", "dog\n4/4"]);
  });

  it("asks every motif for the same counts", () => {
    const targets = rows.map(({ result }) => result.tiers[0]?.trials.map(({ target }) => target));
    expect(new Set(targets.map((list) => JSON.stringify(list))).size).toBe(1);
  });

  it("has tokens per item beside the capacity", () => {
    expect(rows[0]?.tokensPerItem).toBe(2);
    expect(rows[2]?.tokensPerItem).toBeGreaterThan(2);
    expect(rows[0]?.relative).toBe(1);
    for (const { capacity, relative, result } of rows) {
      expect(capacity).toBe(result.plotted);
      expect(relative).toBe(capacity / (rows[0]?.capacity ?? 0));
    }
  });

  it("counts the baseline motif", () => {
    expect(rows[0]?.capacity).toBeGreaterThanOrEqual(32);
  });

  it("refuses a motif that cannot be counted before any ladder runs", async () => {
    const before = seen.length;
    const run = motifCapacities(fromModel(model), { items: ["a", ","], delimiters: [", "] });
    await expect(run).rejects.toThrow('countingPrompt: item "," with delimiter ", "');
    expect(seen).toHaveLength(before);
    await expect(motifCapacities(fromModel(model), { items: [], delimiters: ["x"] })).rejects.toThrow(
      "motifCapacities: 0 items and 1 delimiters; expected at least one of each",
    );
  });
});

describe("capacityAgainstTokens", () => {
  it("is Spearman over motifs with tokens per item", () => {
    const rows = [
      { capacity: 128, tokensPerItem: 1 },
      { capacity: 96, tokensPerItem: 2 },
      { capacity: 64, tokensPerItem: 3 },
      { capacity: 0, tokensPerItem: 4 },
      { capacity: 500 },
    ];
    expect(capacityAgainstTokens(rows)).toMatchObject({ r: expect.closeTo(-1, 12), n: 4 });
    expect(() => capacityAgainstTokens(rows.slice(2))).toThrow(
      "2 motifs with tokens per item; expected at least 4",
    );
  });
});
