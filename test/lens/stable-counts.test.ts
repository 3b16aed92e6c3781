import { describe, expect, it } from "vitest";
import { checkCounts, stableCounts } from "../../src/lens/stable-counts.js";

describe("stableCounts", () => {
  it("ends below the first error, and lucky hits beyond it do not count", () => {
    expect(stableCounts([1, 2, 3, 4, 5], [true, true, false, true, true])).toEqual({ to: 2, firstError: 3 });
    expect(stableCounts([5, 3, 1], [true, true, true])).toEqual({ to: 5, firstError: null });
    expect(stableCounts([4, 7], [false, true])).toEqual({ to: null, firstError: 4 });
  });

  it("takes a count asked twice as right only if both answers are", () => {
    expect(stableCounts([1, 2, 2, 3], [true, true, false, true])).toEqual({ to: 1, firstError: 2 });
  });

  it("refuses no counts and other numbers of answers", () => {
    expect(() => stableCounts([], [])).toThrow(/0 counts and 0 answers/);
    expect(() => stableCounts([1], [true, true])).toThrow(/1 counts and 2 answers/);
  });
});

describe("checkCounts", () => {
  it("sorts, and refuses zero items, repeats and no counts", () => {
    expect(checkCounts("f", [3, 1, 2])).toEqual([1, 2, 3]);
    expect(() => checkCounts("f", [0, 1])).toThrow("f: count 0; expected whole numbers from 1, each once");
    expect(() => checkCounts("f", [2, 2])).toThrow(/count 2/);
    expect(() => checkCounts("f", [1.5])).toThrow(/count 1.5/);
    expect(() => checkCounts("f", [])).toThrow(/no counts/);
  });
});
