import { describe, expect, it } from "vitest";
import { integerReader } from "../../src/tasks/integer-reader.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { parity } from "../../src/tasks/parity.js";
import { reader } from "../../src/tasks/reader.js";
import { itemsOf, type Task, templateOf } from "../../src/tasks/task.js";

const addition: Task<readonly [number, number]> = {
  name: "addition",
  order: "a ascending",
  templates: [{ name: "plain", user: "{a}+{b}=" }],
  *instances(n) {
    for (let a = 1; a <= n; a++) yield [a, n];
  },
  fields: ([a, b]) => ({ a: `${a}`, b: `${b}` }),
  answer: ([a, b]) => `${a + b}`,
  reader: integerReader(),
};

describe("itemsOf", () => {
  it("asks a task of one's own", () => {
    expect(itemsOf(addition, 2).map((item) => [item.key, item.prompt, item.answer])).toEqual([
      ["1,2", { user: "1+2=" }, "3"],
      ["2,2", { user: "2+2=" }, "4"],
    ]);
  });

  it("fills system and user of the chosen template", () => {
    const [first] = itemsOf(multiplication(), 28, "compute");
    expect(first!.prompt).toEqual({
      system: "You are a calculator. Output only the result.",
      user: "Compute 1 × 28",
    });
    expect(itemsOf(multiplication(), 1, { name: "own", user: "{b} by {a}, {a}?" })[0]!.prompt.user).toBe(
      "1 by 1, 1?",
    );
  });

  it.each([0, -3, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses size %s", (size) => {
    expect(() => itemsOf(parity(), size)).toThrow(`parity: size ${size}; expected a whole number from 1`);
  });

  it("refuses templates that do not fit", () => {
    expect(() => itemsOf(multiplication(), 1, { name: "t", user: "{a} squared" })).toThrow(
      'template: "t" has no {b}; multiplication needs {a} and {b} in it',
    );
    expect(() => itemsOf(multiplication(), 1, { name: "t", user: "{a}{b}{c}" })).toThrow(
      'template: "t" has {c}, which multiplication does not fill; it fills {a} and {b}',
    );
    expect(() => templateOf(multiplication(), "compote")).toThrow(
      'template: multiplication has no template "compote"; it has baseline, compute, product, eval, answer',
    );
  });

  it("refuses a size without instances, and answers the reader cannot read back", () => {
    expect(() => itemsOf({ ...addition, instances: () => [] }, 3)).toThrow(
      "addition: no instances of size 3",
    );
    expect(() => itemsOf({ ...addition, answer: () => "1,000" }, 1)).toThrow(
      'addition: the reader (integer at the start) reads the right answer "1,000" as "1000"',
    );
    expect(() => itemsOf({ ...addition, reader: reader("letter", (t) => /[A-D]/.exec(t)?.[0]) }, 1)).toThrow(
      'reads the right answer "2" as "nothing"',
    );
  });
});
