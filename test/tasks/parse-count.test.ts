import { describe, expect, it } from "vitest";
import { parseCount } from "../../src/tasks/parse-count.js";

const cases: [group: string, text: string, value: number | null][] = [
  ["plain", "12", 12],
  ["plain", "  12\n", 12],
  ["plain", "12.", 12],
  ["plain", "0", 0],
  ["plain", "007", 7],
  ["sentence", "The total is 12.", 12],
  ["sentence", "There are 12 items in the list", 12],
  ["sentence", "Answer:12", 12],
  ["sentence", "total=12;", 12],
  ["sentence", "I count (12)", 12],
  ["sentence", "I think it's ~50", 50],
  ["sentence", "#12", 12],
  ["thousands", "1,234", 1234],
  ["thousands", "12,345,678", 12345678],
  ["thousands", "1'234", 1234],
  ["thousands", "1’234", 1234],
  ["thousands", "1_234", 1234],
  ["thousands", "1\u202F234", 1234],
  ["thousands", "1\u00A0234 items", 1234],
  ["thousands", "1.234.567", 1234567],
  ["thousands", "1{,}234", 1234],
  ["thousands", "$1\\,234$", 1234],
  ["thousands", "1,234.00", 1234],
  ["thousands, badly grouped: a list", "1,2,3", 3],
  ["thousands, badly grouped: a list", "98,99,100,101", 101],
  ["thousands, badly grouped: a list", "1,23", 23],
  ["thousands, badly grouped: a list", "0,123", 123],
  ["ordinary space does not join", "100 200", 200],
  ["words", "twelve", null],
  ["words", "There are twelve (12) items", 12],
  ["words", "One, two, three: 3 in all", 3],
  ["markdown", "**12**", 12],
  ["markdown", "_12_", 12],
  ["markdown", "`12`", 12],
  ["markdown", "### Total\n\n- 12", 12],
  ["markdown", "```\n12\n```", 12],
  ["markdown", "1. a\n2. a\n3. a", 3],
  ["latex", "\\boxed{12}", 12],
  ["latex", "$12$", 12],
  ["json", '{"count": 12}', 12],
  ["json", "[12]", 12],
  ["range", "10-20", 20],
  ["range", "10–20", 20],
  ["range", "between 10 and 20", 20],
  ["negative", "-5", -5],
  ["negative", "The count is \u22125", -5],
  ["negative", "- 5", 5],
  ["negative", "-0", 0],
  ["negative", "item-5", 5],
  ["negative", "3 - 5 = -2", -2],
  ["decimal", "12.0", 12],
  ["decimal", "12.5", null],
  ["decimal", "about 12.5, so 13", 13],
  ["decimal", "13, or 12.5 on average", 13],
  ["decimal", "1.234", null],
  ["decimal", ".5", null],
  ["decimal", "1.2.3", null],
  ["decimal", "ends.12", 12],
  ["decimal", "...12", 12],
  ["percentage", "12 (I am 100% sure)", 12],
  ["percentage", "50 %", null],
  ["name", "a12", null],
  ["name", "gpt4 says 12", 12],
  ["name", "12 in the 3rd list", 12],
  ["name", "1e3", null],
  ["name", "0x1F", null],
  ["name", "x_12", null],
  ["name", "12items", null],
  ["two integers", "12 or 13", 13],
  ["two integers", "I counted 12, no, 13.", 13],
  ["two integers", "1, 2, 3, 4, 5", 5],
  ["two integers", "12/13", 13],
  ["echo", "a, a, a, a, a", null],
  ["echo", "Count the number of items in the following list.", null],
  ["echo", "a, a, a\n\n3", 3],
  ["reasoning", "<think>1 2 3 4</think>\n4", 4],
  ["reasoning", "<think>1 2 3 4 5 6", 6],
  ["control tokens", "12<|im_end|>", 12],
  ["digits of other scripts", "١٢", 12],
  ["digits of other scripts", "۱۲", 12],
  ["digits of other scripts", "१२", 12],
  ["digits of other scripts", "１２", 12],
  ["digits of other scripts", "๑๒", 12],
  ["digits of other scripts", "১২", 12],
  ["digits of other scripts", "𝟏𝟐", 12],
  ["digits of other scripts", "١٬٢٣٤", 1234],
  ["digits of other scripts", "١٢٫٥", null],
  ["other scripts around", "共有12个字母", 12],
  ["other scripts around", "合計は12です。", 12],
  ["other scripts around", "총 12개", 12],
  ["other scripts around", "Всего 12 букв", 12],
  ["superscripts are not digits", "12²", 12],
  ["number words of other scripts", "十二", null],
  ["empty", "", null],
  ["empty", " \n\t", null],
  ["no digits", "I cannot count that.", null],
  ["too long to be exact", "9007199254740991", 9007199254740991],
  ["too long to be exact", "9007199254740992", null],
  ["too long to be exact", `12 ${"1".repeat(400)}`, 12],
];

describe("parseCount", () => {
  it.each(cases)("%s: %j is %j", (_group, text, value) => {
    const parsed = parseCount(text);
    expect(parsed.value).toBe(value);
    expect(parsed.range === null).toBe(value === null);
  });

  it("has at least sixty written cases", () => {
    expect(new Set(cases.map(([, text]) => text)).size).toBeGreaterThanOrEqual(60);
  });

  it("says where the integer stands and how many there are", () => {
    const text = "first 3, then -1,234!";
    const { range, integers } = parseCount(text);
    expect(text.slice(...(range as [number, number]))).toBe("-1,234");
    expect(integers).toBe(2);
  });

  it("reads every integer it can print, with and without separators", () => {
    for (let n = -2000; n <= 200_000; n += 37) {
      expect(parseCount(`So: ${n}`).value).toBe(n);
      expect(parseCount(`So: ${n.toLocaleString("en")}.`).value).toBe(n);
    }
  });
});
