import { describe, expect, it } from "vitest";
import { didYouMean } from "../../src/store/did-you-mean.js";

describe("didYouMean", () => {
  const names = ["smollm2-135m-instruct", "gemma-3-270m", "tally-400k"];

  it.each([
    ["smolm2", "smollm2-135m-instruct"],
    ["gemma3-270m", "gemma-3-270m"],
    ["tally-40k", "tally-400k"],
    ["270m", "gemma-3-270m"],
  ])("%s -> %s", (given, meant) => expect(didYouMean(given, names)).toBe(`did you mean ${meant}?`));

  it("lists all where none is near, and says when there are none", () => {
    expect(didYouMean("zzzzzz", names)).toBe(`there are ${names.join(", ")}`);
    expect(didYouMean("x", [])).toBe("there are none");
  });
});
