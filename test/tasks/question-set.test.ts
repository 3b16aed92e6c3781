import { describe, expect, it } from "vitest";
import { readQuestions, shippedQuestions } from "../../src/tasks/question-set.js";

const kinds = ["coding", "knowledge", "math", "reasoning"];
const byKind = (kind: string, set: "short" | "full") =>
  shippedQuestions(set).filter((row) => row.kind === kind);

describe("the sets that ship", () => {
  it.each(["short", "full"] as const)("%s: the paper's four kinds, no question twice", (name) => {
    const rows = shippedQuestions(name);
    expect([...new Set(rows.map(({ kind }) => kind))].sort()).toEqual(kinds);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(new Set(rows.map(({ question }) => question)).size).toBe(rows.length);
    // A list of items in a question would be counted too.
    expect(rows.every(({ question }) => !/\ba, a\b/.test(question))).toBe(true);
  });

  it("full: forty of each, and no answer so frequent that it can be guessed", () => {
    for (const kind of kinds) {
      const answers = byKind(kind, "full").map(({ answer }) => answer);
      expect(answers).toHaveLength(40);
      const most = Math.max(...answers.map((a) => answers.filter((b) => b === a).length));
      expect(most).toBeLessThanOrEqual(kind === "knowledge" ? 16 : 10);
    }
  });

  it("full: walks end where they say", () => {
    const walks = byKind("reasoning", "full").filter(({ question }) => question.startsWith("Walk"));
    expect(walks).toHaveLength(8);
    for (const { question, answer } of walks) {
      let [x, y] = [0, 0];
      for (const [, n, way] of question.matchAll(/(\d+) steps? (\w+)/g)) {
        x += Number(n) * ({ east: 1, west: -1 }[way ?? ""] ?? 0);
        y += Number(n) * ({ north: 1, south: -1 }[way ?? ""] ?? 0);
      }
      expect(answer).toBe(x === 0 && y === 0 ? "yes" : "no");
    }
  });

  it("full: races have one order, and it has the answer in its place", () => {
    const races = byKind("reasoning", "full").filter(({ question }) => question.startsWith("Five"));
    expect(races).toHaveLength(8);
    for (const { question, answer } of races) {
      const before = [...question.matchAll(/(\w+) finished before (\w+)\./g)].map(
        ([, a, b]) => [a, b] as const,
      );
      const who = [...new Set(before.flat())];
      // Longest chain of clues below each: in a full order these are 4, 3, 2, 1, 0.
      const below = (name: string | undefined): number =>
        Math.max(0, ...before.filter(([a]) => a === name).map(([, b]) => 1 + below(b)));
      const order = [...who].sort((a, b) => below(b) - below(a));
      expect(order.map(below)).toEqual([4, 3, 2, 1, 0]);
      const place = { first: 0, second: 1, third: 2, fourth: 3, last: 4 }[
        /finished (\w+)\?/.exec(question)?.[1] ?? ""
      ];
      expect(order[place ?? -1]).toBe(answer);
    }
  });

  it("short: sums and lengths are right", () => {
    for (const { question, answer } of byKind("math", "short")) {
      const [a, b] = (question.match(/\d+/g) ?? []).map(Number);
      expect(Number(answer)).toBe((a ?? 0) + (b ?? 0));
    }
    for (const { question, answer } of byKind("coding", "short"))
      expect(/"(\w+)"/.exec(question)?.[1]).toHaveLength(Number(answer));
  });
});

describe("readQuestions", () => {
  it("takes other keys, numbers and options", () => {
    const text =
      '{"problem": "1+1?", "solution": 2}\n\n{"problem": "Sky?", "solution": "A", "choices": ["blue", "red"]}\n';
    expect(
      readQuestions(text, {
        question: "problem",
        answer: "solution",
        kind: { always: "math" },
        options: "choices",
      }),
    ).toEqual([
      { id: "1", kind: "math", question: "1+1?", answer: "2" },
      { id: "3", kind: "math", question: "Sky?\nA. blue\nB. red", answer: "A" },
    ]);
  });

  it.each([
    ["{}", "line 1 has no text at question; it has the keys "],
    ['{"question": "x"}', "line 1 has no text at answer; it has the keys question"],
    ['{"question": "x", "answer": "y"}\nnot json', "line 2 is not a JSON object"],
    ["[1]", "line 1 is not a JSON object"],
  ])("refuses %j", (text, message) => {
    expect(() => readQuestions(text)).toThrow(`readQuestions: ${message}`);
  });

  it("has nothing for an empty file", () => {
    expect(readQuestions("\n")).toEqual([]);
  });
});
