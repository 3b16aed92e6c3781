import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  codePrompt,
  dualInstruction,
  irrelevantCode,
  isSecondRight,
  plainPrompt,
  questionPrompt,
  readDual,
  secondCountFor,
  secondCountPrompt,
  secondCountQuestion,
} from "../../src/tasks/dual-task.js";

const promptsFile = new URL("../../data/organisms/prompts.json", import.meta.url);
const question = { id: "1", kind: "math", question: "What is 2 + 3?", answer: "5" };

describe("prompts of the dual task", () => {
  it("end with the list in every condition, and say where it stands", () => {
    for (const { parts } of [
      plainPrompt(5),
      questionPrompt(5, question),
      secondCountPrompt(5, 7),
      codePrompt(5, "x = 1"),
    ]) {
      const [start, end] = parts.spans?.list?.[0] ?? [0, 0];
      expect(parts.user.slice(start, end)).toBe("a, a, a, a, a");
      expect(end).toBe(parts.user.length);
    }
  });

  it("ask for JSON only where there is a second answer", () => {
    expect(plainPrompt(5).parts.system).toBeUndefined();
    expect(codePrompt(5, "x").parts.system).toBeUndefined();
    expect(questionPrompt(5, question)).toMatchObject({ answer: "5", parts: { system: dualInstruction } });
    expect(secondCountPrompt(5, 3)).toMatchObject({ answer: "3", parts: { system: dualInstruction } });
    expect(secondCountPrompt(5, 3).parts.user).toBe(`${secondCountQuestion}\n\nb, b, b\n\na, a, a, a, a`);
  });

  it("have the wording the organisms were trained on", () => {
    const { dual } = JSON.parse(readFileSync(promptsFile, "utf8"));
    expect(dualInstruction).toBe(dual.system);
    expect(secondCountQuestion).toBe(dual.second);
    expect(questionPrompt(2, question).parts.user).toBe(
      dual.user.replace("{question}", question.question).replace("{list}", "a, a"),
    );
  });
});

describe("irrelevantCode", () => {
  const measure = (texts: readonly string[]) => texts.map((text) => text.split(/\s+/).length);

  it.each([8, 30, 100])("is about as long as asked, in the unit it is measured in (%i)", async (tokens) => {
    const code = await irrelevantCode(tokens, 1, measure);
    expect(Math.abs((measure([code])[0] ?? 0) - tokens)).toBeLessThanOrEqual(4);
    expect(await irrelevantCode(tokens, 1, measure)).toBe(code);
    expect(await irrelevantCode(tokens, 2, measure)).not.toBe(code);
  });

  it("refuses a length that is none", async () => {
    await expect(irrelevantCode(0, 1, measure)).rejects.toThrow("irrelevantCode: 0 tokens; expected above 0");
  });

  it("matches a second list by its tokens per item", () => {
    expect(secondCountFor(40, 2)).toBe(20);
    expect(secondCountFor(0.1, 2)).toBe(1);
  });
});

describe("readDual", () => {
  it.each([
    ['{"answer": "5", "count": 12}', 12, "5", true],
    ['Sure!\n```json\n{"answer": "B", "count": 12}\n```', 12, "B", true],
    ['{"answer": 5, "count": "1,234"}', 1234, "5", true],
    ['{"count": 12}', 12, null, true],
    ['{"answer": "x", "count": 12.5}', null, "x", true],
    ['{"answer": "x", "count": null}', null, "x", true],
    ['{"answer": "1", "count": 3} {"answer": "2", "count": 4}', 4, "2", true],
    ['{"answer": true, "count": 3}', 3, "true", true],
    ['{"answer": "Tom", "count": 12', 12, "Tom", false],
    ["{'answer': 'Tom', 'count': 12}", 12, "Tom", false],
    ["count: 12, answer: 5", 12, null, false],
    ["The answer is 5 and there are 12 items", 12, null, false],
    ["I cannot.", null, null, false],
    ["", null, null, false],
  ])("%j", (text, count, answer, json) => {
    expect(readDual(text)).toEqual({ count, answer, json });
  });
});

describe("isSecondRight", () => {
  it.each([
    ["Paris", "paris", true],
    [" Paris. ", "Paris", true],
    ["'dm'", "dm", true],
    ["B.", "B", true],
    ["London", "Paris", false],
    [null, "Paris", false],
  ])("%j for %j: %s", (said, right, verdict) => {
    expect(isSecondRight(said, right)).toBe(verdict);
  });
});
