import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fillerText, fillerWords } from "../../src/tasks/filler.js";

const promptsFile = new URL("../../data/organisms/prompts.json", import.meta.url);

describe("fillerText", () => {
  it.each([0, 1, 2, 8, 9, 40, 123])("has exactly %i words and is fixed by its seed", (words) => {
    const text = fillerText(words, 3);
    expect(text.split(" ").filter(Boolean)).toHaveLength(words);
    expect(fillerText(words, 3)).toBe(text);
    if (words > 0) expect(text).toMatch(/[^.]\.$/);
  });

  it("differs between seeds and refuses a broken number", () => {
    expect(fillerText(40, 1)).not.toBe(fillerText(40, 2));
    expect(() => fillerText(-1, 0)).toThrow("fillerText: -1 words; expected a whole number from 0");
  });

  it("uses the words the organisms were trained on", () => {
    const { filler } = JSON.parse(readFileSync(promptsFile, "utf8"));
    expect(filler).toMatchObject(fillerWords);
  });
});
