import { describe, expect, it } from "vitest";
import { itemTokens, type Tokenizer } from "../../src/tasks/item-tokens.js";

/** Cuts by a pattern: a real, if simple, pre-tokenizer. */
const byPattern = (name: string, pattern: RegExp): Tokenizer => ({
  name,
  tokenize: async (texts) => texts.map((text) => (text.match(pattern) ?? []).map((_, i) => i)),
});

describe("itemTokens", () => {
  it("finds two tokens an item for letters after commas", async () => {
    const [row] = await itemTokens([byPattern("letters", / ?\w+|,/g)]);
    expect(row?.tokens[0]).toBe(1);
    expect(row?.tokens[127]).toBe(255);
    expect(row?.tokensPerItem).toBe(2);
    expect(row?.anomalies).toEqual([]);
  });

  it("finds where a tokenizer merges runs", async () => {
    const rows = await itemTokens([byPattern("runs of four", /a{4}|a{2}|a/g)], {
      motifs: [{ item: "a", delimiter: "" }, {}],
      counts: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    });
    expect(Array.from(rows[0]?.tokens ?? [])).toEqual([1, 1, 2, 1, 2, 2, 3, 2, 3]);
    expect(rows[0]?.tokensPerItem).toBe(0.25);
    expect(rows[0]?.anomalies.map(({ count }) => count)).toEqual([3, 4, 7, 8]);
    expect(rows[1]?.tokensPerItem).toBe(1);
  });

  it("has one row for each tokenizer and motif, and refuses counts that do not rise", async () => {
    const two = [byPattern("x", /\w/g), byPattern("y", /./g)];
    expect(await itemTokens(two, { motifs: [{ item: "b" }, { item: "c" }], counts: [1, 5] })).toHaveLength(4);
    await expect(itemTokens(two, { counts: [2, 2] })).rejects.toThrow(
      "itemTokens: counts 2,2; expected rising",
    );
  });
});
