import { describe, expect, it } from "vitest";
import { frequencyOf, keyOrder, parsePairFrequency } from "../../src/assays/memorisation-frequency.js";

describe("pair frequency", () => {
  it("looks up the ordered pair or both orders together", () => {
    const counts = new Map([
      ["2,3", 5],
      ["3,2", 1],
      ["4,4", 7],
    ]);
    expect(frequencyOf(counts, 2, 3, "ordered")).toBe(5);
    expect(frequencyOf(counts, 3, 2, "ordered")).toBe(1);
    expect(frequencyOf(counts, 3, 2, "symmetric")).toBe(6);
    expect(frequencyOf(counts, 4, 4, "symmetric")).toBe(7);
    expect(frequencyOf(counts, 9, 9, "symmetric")).toBe(0);
  });

  it("tells sorted keys from ordered ones", () => {
    const sorted = keyOrder(
      new Map([
        ["2,3", 1],
        ["3,10", 1],
        ["4,4", 1],
      ]),
    );
    expect(sorted).toEqual({ keys: 3, ascending: 2, descending: 0, equal: 1, unordered: true });
    expect(
      keyOrder(
        new Map([
          ["2,3", 1],
          ["10,3", 1],
        ]),
      ).unordered,
    ).toBe(false);
    expect(keyOrder(new Map([["4,4", 1]])).unordered).toBe(false);
    expect(keyOrder(new Map()).unordered).toBe(false);
    expect(() => keyOrder(new Map([["4x4", 1]]))).toThrow('keyOrder: key "4x4"');
  });

  it("reads a table of counts", () => {
    const text = "# training\nb,a,count,share\n3,2,41,0.1\r\n2,3,7,0.2\n\n";
    expect([...parsePairFrequency(text)]).toEqual([
      ["2,3", 41],
      ["3,2", 7],
    ]);
    expect(() => parsePairFrequency("a,b\n1,2")).toThrow(
      "parsePairFrequency: columns a,b; expected a, b and count",
    );
    expect(() => parsePairFrequency("")).toThrow("parsePairFrequency: columns ");
    expect(() => parsePairFrequency("a,b,count\n1,2,x")).toThrow('line "1,2,x"');
    expect(() => parsePairFrequency("a,b,count\n1,2,")).toThrow('line "1,2,"');
    expect(() => parsePairFrequency("a,b,count\n1,2,3\n1,2,3")).toThrow("the pair 1,2 stands twice");
  });
});
