import { describe, expect, it } from "vitest";
import { expandShorthand } from "../../kernels/shorthand.js";

describe("expandShorthand", () => {
  it.each([
    ["f({ model })", "f({ model: model })"],
    ["({ a, b: c, ...d, e })", "({ a: a, b: c, ...d, e: e })"],
    ["({ a = 1, b } = c)", "({ a: a = 1, b: b } = c)"],
    ["const { a, b } = c;", "const { a, b } = c;"],
    ['import { a } from "b";', 'import { a } from "b";'],
    ["`${ { a } }`; // { a }", "`${ { a: a } }`; // { a }"],
    ["", ""],
  ])("%s", (written, expanded) => {
    expect(expandShorthand(written).source).toBe(expanded);
  });

  it("keeps lines, and finds columns again", () => {
    const written = "f({ model, size });\ng({ x }); h(wrong);";
    const { source, column } = expandShorthand(written);
    const [first, second] = source.split("\n") as [string, string];
    for (const [line, expanded, original] of [
      [1, first, "f({ model, size });"],
      [2, second, "g({ x }); h(wrong);"],
    ] as const) {
      for (const word of ["f(", "model", "size", "g(", "h(", "wrong"].filter((w) => original.includes(w))) {
        expect(column(line, expanded.indexOf(word) + 1)).toBe(original.indexOf(word) + 1);
      }
    }
  });
});
