import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { countingInstruction, countingPrompt, itemList } from "../../src/tasks/counting.js";

const promptsFile = new URL("../../data/organisms/prompts.json", import.meta.url);
const cut = (text: string, ranges: readonly (readonly [number, number])[] = []) =>
  ranges.map(([start, end]) => text.slice(start, end));

describe("countingPrompt", () => {
  it("is the baseline of the paper by default", () => {
    expect(countingPrompt(3).user).toBe(`${countingInstruction}\n\na, a, a`);
    expect(itemList(4)).toBe("a, a, a, a");
  });

  it.each([
    ["before", "a", ", "],
    ["after", "dog", " / "],
    ["Here: {list}\n{instruction} Thanks.", "#", "\n"],
    ["{list}", "🙂", ""],
  ])("names the ranges of items and delimiters (%s, %j, %j)", (place, item, delimiter) => {
    for (const count of [1, 2, 26]) {
      const { user, spans } = countingPrompt(count, { place, item, delimiter });
      expect(cut(user, spans?.items)).toEqual(new Array(count).fill(item));
      expect(cut(user, spans?.delimiters)).toEqual(new Array(delimiter ? count - 1 : 0).fill(delimiter));
      expect(cut(user, spans?.list)).toEqual([itemList(count, { item, delimiter })]);
      const said = place !== "{list}" ? [countingInstruction] : [];
      expect(cut(user, spans?.instruction)).toEqual(said);
    }
  });

  it("puts filler first", () => {
    const { user, spans } = countingPrompt(2, { filler: "The road runs past.", system: "Be brief." });
    expect(user).toBe(`The road runs past.\n\n${countingInstruction}\n\na, a`);
    expect(cut(user, spans?.filler)).toEqual(["The road runs past."]);
    expect(countingPrompt(2, { system: "Be brief." }).system).toBe("Be brief.");
  });

  it("is a prefix of the next count's prompt while the instruction stands before the list", () => {
    for (let n = 1; n < 40; n += 1)
      expect(countingPrompt(n + 1).user.startsWith(countingPrompt(n).user)).toBe(true);
  });

  it.each([
    [0, {}, "count 0; expected a whole number from 1"],
    [2.5, {}, "count 2.5; expected"],
    [Number.NaN, {}, "count NaN; expected"],
    [3, { item: "" }, 'item "" with delimiter ", "; expected an item'],
    [3, { item: ",", delimiter: ", " }, 'item "," with delimiter ", "; expected'],
    [3, { place: "no list" }, 'place "no list"; expected one {list}'],
  ])("refuses count %s with %j", (count, options, message) => {
    expect(() => countingPrompt(count, options)).toThrow(`countingPrompt: ${message}`);
  });

  it("has the wording the organisms were trained on", () => {
    const { counting } = JSON.parse(readFileSync(promptsFile, "utf8"));
    expect(countingInstruction).toBe(counting.instruction);
    for (const place of ["before", "after"]) {
      const trained = counting.places[place]
        .replace("{instruction}", counting.instruction)
        .replace("{list}", "a, a");
      expect(countingPrompt(2, { place }).user).toBe(trained);
    }
    const trained = counting.places.filler
      .replace("{filler}", "x.")
      .replace("{instruction}", counting.instruction)
      .replace("{list}", "a, a");
    expect(countingPrompt(2, { filler: "x." }).user).toBe(trained);
  });
});
