import { describe, expect, it } from "vitest";
import { type FormatClass, formatClass, formatClasses, formatTable } from "../../src/tasks/format-class.js";

const context = {
  item: "a",
  delimiter: ", ",
  prompt:
    "Count the number of items in the following list. Return only the exact total as one integer.\n\na, a, a",
};

const cases: [string, FormatClass][] = [
  ["12", "clean"],
  [" 12\n", "clean"],
  ["12.", "clean"],
  ["**12**", "clean"],
  ["1,234", "clean"],
  ["-5", "clean"],
  ["１２", "clean"],
  ["12<|im_end|>", "clean"],
  ["", "blank"],
  [" \n\u00A0\u200B", "blank"],
  ["<|im_end|>", "blank"],
  ["There are 12 items in the list.", "prose"],
  ["The total is 12", "prose"],
  ["12 items", "prose"],
  ["共有12个字母", "prose"],
  ["12 13", "prose"],
  ["I cannot count that.", "noInteger"],
  ["twelve", "noInteger"],
  ["a", "noInteger"],
  ["a, a, a, a, a, a", "echo"],
  ["a,a,a,a,a 5", "echo"],
  ["Count the number of items in the following list. Return", "echo"],
  ["return only the EXACT total as one 12", "echo"],
  ["```python\nprint(12)\n```", "code"],
  ["```\n12\n```", "code"],
  ['{"count": 12}', "code"],
  ["[1, 2, 3]", "code"],
  ["count = 12", "code"],
  ["def count(xs):\n    return len(xs)", "code"],
  ["len(items);", "code"],
  ["<think>a a a is three</think>3", "reasoning"],
  ["<think>\n", "reasoning"],
  ["Let me count them: 12", "reasoning"],
  ["1. a\n2. a\n3. a\n4. a", "reasoning"],
  ["a (1), a (2), a (3), a (4)", "reasoning"],
  ["1 2 3 4 5 6", "reasoning"],
  [`${"The list is long and it has many items in it. ".repeat(6)}It has 12.`, "reasoning"],
];

describe("formatClass", () => {
  it.each(cases)("%j is %s", (text, format) => {
    expect(formatClass(text, context)).toBe(format);
  });

  it("covers every class with written answers", () => {
    expect(new Set(cases.map(([, format]) => format))).toEqual(new Set(formatClasses));
  });

  it("calls no echo without knowing the prompt", () => {
    expect(formatClass("a, a, a, a, a, a")).toBe("noInteger");
  });
});

describe("formatTable", () => {
  it("counts integers and right answers inside each class", () => {
    const rows = formatTable([
      { format: "clean", prediction: 3, target: 3 },
      { format: "clean", prediction: 4, target: 3 },
      { format: "echo", prediction: null, target: 3 },
      { format: "echo", prediction: 3, target: 3 },
    ]);
    expect(rows.map(({ format }) => format)).toEqual(formatClasses);
    expect(rows[0]).toEqual({ format: "clean", trials: 2, share: 0.5, parsed: 2, exact: 1 });
    expect(rows[2]).toEqual({ format: "echo", trials: 2, share: 0.5, parsed: 1, exact: 1 });
    expect(rows.reduce((sum, row) => sum + row.trials, 0)).toBe(4);
  });

  it("has shares of zero for no trials", () => {
    expect(formatTable([]).every(({ share, trials }) => share === 0 && trials === 0)).toBe(true);
  });
});
