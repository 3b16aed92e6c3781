import { describe, expect, it } from "vitest";
import { random } from "../../src/stats/random.js";
import { wordReader } from "../../src/tasks/word-reader.js";

const reader = wordReader(["Yes", "No"]);

describe("wordReader", () => {
  it.each([
    ["Yes", "Yes"],
    ["yes.", "Yes"],
    [" **No**, it is not", "No"],
    ["NO", "No"],
    ["Not balanced", undefined],
    ["Nope", undefined],
    ["", undefined],
    ["The answer is Yes", undefined],
    ["Noé", undefined],
  ])("reads %j as %j", (text, word) => {
    expect(reader.parse(text)).toBe(word);
  });

  it("settles the other word at once and its own only when the word has ended", () => {
    expect(reader.settle("N", "Yes")).toBe("wrong");
    expect(reader.settle("Yes", "Yes")).toBe("open");
    expect(reader.settle("Yes.", "Yes")).toBe("right");
    expect(reader.settle("No ", "Yes")).toBe("wrong");
    expect(reader.settle(" ", "Yes")).toBe("open");
    expect(reader.settle("Not", "No")).toBe("wrong");
  });

  it("settles nothing that a continuation could change", () => {
    const draw = random(1, "words");
    const broken: string[][] = [];
    const parts = ["Yes", "No", "yes", "Y", "es", "N", "o", " ", ".", "**", "t", "\n", "maybe", "1"];
    for (let i = 0; i < 5_000; i++) {
      const text = Array.from({ length: draw.integer(1, 5) }, () => draw.choice(parts)).join("");
      const cut = draw.integer(0, text.length);
      for (const answer of ["Yes", "No"]) {
        const before = reader.settle(text.slice(0, cut), answer);
        if (before === "open") continue;
        if ((reader.parse(text) === answer) !== (before === "right"))
          broken.push([answer, text, text.slice(0, cut)]);
      }
    }
    expect(broken).toEqual([]);
  });

  it("refuses no words", () => {
    expect(() => wordReader([])).toThrow("wordReader: no words; expected at least one");
  });
});
