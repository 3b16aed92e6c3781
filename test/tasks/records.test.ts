import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  nestedRecords,
  recordBrackets,
  recordsInstruction,
  recordsPrompt,
  recordTokens,
} from "../../src/tasks/records.js";

const promptsFile = new URL("../../data/organisms/prompts.json", import.meta.url);

/** Reads a prompt's text as a solver would, with no knowledge of how it was made. */
function solve(user: string): number {
  return user
    .split("\n")
    .filter((line) => line.startsWith("KEY "))
    .filter((line) => {
      const [, key, path] = /^KEY (\S+) PATH (\S+) SIDE (\S+)$/.exec(line) ?? [];
      let deepest = "";
      let depth = 0;
      let most = -1;
      for (const c of path ?? "") {
        if ("([{".includes(c)) depth += 1;
        else if (")]}".includes(c)) depth -= 1;
        else if (depth > most) [most, deepest] = [depth, c];
      }
      expect(depth).toBe(0);
      return key === deepest;
    }).length;
}

describe("recordsPrompt", () => {
  it("has as many matches as asked, by a solver of its own", () => {
    for (const target of [0, 1, 2, 7, 32, 100])
      for (const seed of [1, 2, 3]) expect(solve(recordsPrompt(target, { seed }).user)).toBe(target);
  });

  it("scales distractors with the target", () => {
    for (const ratio of [0, 0.5, 1, 2])
      expect(nestedRecords(20, { distractorRatio: ratio })).toHaveLength(20 + 20 * ratio);
  });

  it("makes near misses in the stated share, of both kinds, and never a match", () => {
    const distractors = nestedRecords(4000, { seed: 5 }).filter(({ match }) => !match);
    expect(distractors).toHaveLength(4000);
    const path = distractors.filter(({ likeness }) => likeness === "path");
    const side = distractors.filter(({ likeness }) => likeness === "side");
    expect((path.length + side.length) / 4000).toBeCloseTo(0.6, 1);
    expect(path.length / 4000).toBeCloseTo(0.6 * (2 / 3) * 0.5, 1);
    expect(path.every((record) => record.path.slice(0, -1).includes(record.key))).toBe(true);
    expect(side.every(({ key, side }) => key === side)).toBe(true);
  });

  it("alternates brackets and keeps to the depth asked", () => {
    const [record] = nestedRecords(1, { depth: [5, 5], distractorRatio: 0 });
    expect(record?.text).toMatch(/^KEY (\w) PATH \w\(\w\[\w\{\w\(\1\)\}\]\) SIDE \w$/);
  });

  it("is fixed by seed and target, and its order is not that of its making", () => {
    expect(recordsPrompt(9, { seed: 1 })).toEqual(recordsPrompt(9, { seed: 1 }));
    expect(recordsPrompt(9, { seed: 2 })).not.toEqual(recordsPrompt(9, { seed: 1 }));
    const order = nestedRecords(50).map(({ match }) => match);
    expect(order.slice(0, 50)).toContain(false);
    expect(order.slice(50)).toContain(true);
  });

  it("names the records' ranges", () => {
    const { user, spans } = recordsPrompt(6, { seed: 3 });
    const lines = user.split("\n").slice(2);
    expect(spans?.items?.map(([a, b]) => user.slice(a, b))).toEqual(lines);
    expect(spans?.matches).toHaveLength(6);
    expect(spans?.distractors).toHaveLength(6);
  });

  it.each([
    [-1, {}, "target -1; expected a whole number from 0"],
    [3, { nearMiss: 2 }, "distractorRatio 1, nearMiss 2; expected"],
    [3, { depth: [0, 2] as const }, "depth 0,2 with 13 tokens; expected"],
    [3, { tokens: ["a", "b"] }, "depth 1,3 with 2 tokens; expected"],
  ])("refuses target %s with %j", (target, options, message) => {
    expect(() => nestedRecords(target, options)).toThrow(`nestedRecords: ${message}`);
  });

  it("has the wording the organisms were trained on", () => {
    const { records } = JSON.parse(readFileSync(promptsFile, "utf8"));
    expect(recordsInstruction).toBe(records.instruction);
    expect(recordTokens).toEqual(records.tokens);
    expect(recordBrackets).toEqual(records.brackets);
    const [record] = nestedRecords(1, { distractorRatio: 0 });
    const path = record?.text.split(" ")[3] ?? "";
    expect(record?.text).toBe(
      records.record.replace("{key}", record?.key).replace("{path}", path).replace("{side}", record?.side),
    );
  });
});
