import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromModel } from "../../src/assays/answerer.js";
import { type DualTaskResult, type DualTrial, dualTask, summariseDual } from "../../src/assays/dual-task.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { shippedQuestions } from "../../src/tasks/question-set.js";

const organism = fileURLToPath(new URL("../../data/organisms/tally-25k.gguf", import.meta.url));
const conditions = ["plain", "code", "second count", "reasoning", "coding", "math", "knowledge"];

describe.skipIf(!existsSync(organism))("dualTask on an organism", () => {
  let model: Model;
  let result: DualTaskResult;
  const options = { questions: shippedQuestions("short"), counts: [8, 16], trials: 2, seed: 3 };
  beforeAll(async () => {
    model = await open(organism, { threads: 1, isolated: false });
    const measure = async (texts: readonly string[]) =>
      (await model.engine.tokenize(texts, false)).map(({ length }) => length);
    result = await dualTask(fromModel(model, { maxTokens: 48 }), { ...options, measure });
  });
  afterAll(() => model.close());

  it("asks each condition at each count as often as asked", () => {
    expect(result.summary.map(({ condition }) => condition)).toEqual(conditions);
    expect(result.trials).toHaveLength(7 * 2 * 2);
    expect(result.rows).toHaveLength(7 * 2);
    expect(result.rows.every(({ n }) => n === 2)).toBe(true);
  });

  it("reads the JSON that the organism writes, both answers apart", () => {
    const asked = result.trials.filter(({ control }) => !control);
    const inJson = asked.filter(({ json }) => json);
    expect(inJson.length).toBeGreaterThan(0);
    for (const { response, prediction } of inJson)
      expect(JSON.parse(response)).toMatchObject({ count: prediction });
    for (const { secondRight } of asked) expect(typeof secondRight).toBe("boolean");
    for (const trial of result.trials.filter(
      ({ condition }) => condition === "plain" || condition === "code",
    ))
      expect([trial.json, trial.secondRight]).toEqual([null, null]);
  });

  it("matches the controls to a question's length", () => {
    for (const target of [8, 16])
      for (const k of [0, 1]) {
        const tokens = Object.fromEntries(
          result.trials
            .filter((trial) => trial.target === target && trial.k === k)
            .map(({ condition, inputTokens }) => [condition, inputTokens]),
        ) as Record<string, number>;
        const lengths = ["reasoning", "coding", "math", "knowledge"].map((kind) => tokens[kind] ?? 0);
        // The second list differs from one of the questions by rounding to whole items and by its own instruction.
        const second = tokens["second count"] ?? 0;
        expect(second).toBeGreaterThanOrEqual(Math.min(...lengths) - 2);
        expect(second).toBeLessThanOrEqual(Math.max(...lengths) + 40);
        expect(tokens.code).toBeGreaterThan(tokens.plain ?? 0);
      }
  });

  it("refuses counts beyond the context before anything is asked", async () => {
    const run = dualTask(fromModel(model), { ...options, counts: [2000] });
    await expect(run).rejects.toThrow(
      /^dualTask: count 2000: a prompt of \d+ tokens .*; use smaller counts$/,
    );
    await expect(dualTask(fromModel(model), { ...options, questions: [] })).rejects.toThrow(
      "dualTask: 0 questions",
    );
  });
});

describe("summariseDual", () => {
  const trial = (condition: string, target: number, prediction: number | null): DualTrial => ({
    model: "m",
    condition,
    control: condition === "plain",
    target,
    k: 0,
    question: null,
    response: "",
    prediction,
    exact: prediction === target,
    absoluteError: prediction === null ? target : Math.abs(prediction - target),
    json: condition === "plain" ? null : prediction !== null,
    secondRight: condition === "plain" ? null : target === 10,
    format: "clean",
    inputTokens: target,
    outputTokens: 1,
    reasoningTokens: 0,
  });
  const { rows, summary } = summariseDual([
    trial("plain", 10, 10),
    trial("plain", 10, 12),
    trial("plain", 20, 20),
    trial("math", 10, null),
    trial("math", 10, 5),
    trial("math", 20, 20),
  ]);

  it("averages |error| by condition and count; no integer is an error of the count", () => {
    expect(rows.map(({ condition, count, error, n }) => [condition, count, error, n])).toEqual([
      ["plain", 10, 1, 2],
      ["plain", 20, 0, 1],
      ["math", 10, 7.5, 2],
      ["math", 20, 0, 1],
    ]);
    for (const { low, error, high } of rows) {
      expect(low).toBeLessThanOrEqual(error);
      expect(high).toBeGreaterThanOrEqual(error);
    }
  });

  it("summarises each condition", () => {
    expect(summary[0]).toMatchObject({
      condition: "plain",
      control: true,
      n: 3,
      exact: 2 / 3,
      secondRight: null,
      json: null,
    });
    expect(summary[1]).toMatchObject({
      condition: "math",
      control: false,
      exact: 1 / 3,
      secondRight: 2 / 3,
      json: 2 / 3,
      missing: 1,
    });
    expect(summary[1]?.relativeError.estimate).toBeCloseTo((1 + 0.5 + 0) / 3, 12);
    expect(summary[1]?.inputTokens).toBeCloseTo(40 / 3, 12);
  });
});
