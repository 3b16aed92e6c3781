import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import { forcedAnswers } from "../../src/lens/forced-answers.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import type { Prompt } from "../../src/model/prompt.js";
import { countingPrompt } from "../../src/tasks/counting.js";
import { parseCount } from "../../src/tasks/parse-count.js";

describe("forcedAnswers on tally-25k", () => {
  let model: Model;
  let prompts: Prompt[];
  const counts = [1, 2, 9, 10, 17, 40, 63, 99, 128, 150];
  beforeAll(async () => {
    model = await open("tally-25k", { gpu: false, threads: 1, isolated: false });
    prompts = await model.prompts(counts.map((count) => countingPrompt(count)));
  });
  afterAll(() => model.close());

  it("has the margins that all logits give, alone, the end of the answer last", async () => {
    const { answers } = await forcedAnswers(model, prompts, counts);
    for (const [i, { tokens, margins, competitorIds, competitors }] of answers.entries()) {
      const prompt = prompts[i]!.tokens;
      const { results } = await model.evaluate(
        [
          {
            tokens: Int32Array.from([...prompt, ...tokens]),
            logits: { positions: [...margins.keys()].map((k) => prompt.length - 1 + k), full: true },
          },
        ],
        { mode: "alone" },
      );
      const { full } = results[0]!.logits!;
      const vocabulary = full!.length / margins.length;
      for (let k = 0; k < margins.length; k++) {
        const logits = full!.subarray(k * vocabulary, (k + 1) * vocabulary);
        const right = k < tokens.length ? [tokens[k]!] : model.info.endTokens;
        const other = logits.reduce(
          (best, value, id) => (right.includes(id) || value <= logits[best]! ? best : id),
          right.includes(0) ? 1 : 0,
        );
        expect(margins[k]).toBeCloseTo(Math.max(...right.map((id) => logits[id]!)) - logits[other]!, 3);
        expect(competitorIds[k]).toBe(other);
        expect(competitors[k]).toBe((await model.engine.pieces([other]))[0]);
      }
    }
  });

  it("says what greedy decoding says, and decodes only what margins leave open", async () => {
    const { answers } = await forcedAnswers(model, prompts, counts);
    const { generations } = await model.generate(
      prompts.map(({ tokens }) => ({ tokens })),
      { maxTokens: 16 },
    );
    answers.forEach((answer, i) => {
      expect(answer.text).toBe(generations[i]!.text);
      expect(answer.said).toBe(parseCount(generations[i]!.text).value);
      expect(answer.correct).toBe(answer.said === counts[i]);
      expect(answer.decoded).toBe(Math.min(...answer.margins) <= 0);
    });
    expect(answers.some(({ decoded }) => decoded)).toBe(true);
    expect(answers.some(({ decoded }) => !decoded)).toBe(true);
  });

  it("captures at the prompt's own positions", async () => {
    const captures = () => [
      { hook: residPost(1), positions: [-1] },
      { hook: residPost(1), positions: "all" as const },
    ];
    const { results } = await forcedAnswers(model, prompts.slice(0, 2), counts.slice(0, 2), { captures });
    const alone = await model.evaluate(
      prompts
        .slice(0, 2)
        .map(({ tokens }) => ({ tokens, captures: [{ hook: residPost(1), positions: [-1] }] })),
    );
    results.forEach(({ captures: [last, all] }, i) => {
      expect(last!.positions).toEqual(alone.results[i]!.captures[0]!.positions);
      expect(all!.positions.length).toBe(prompts[i]!.tokens.length);
      last!.data.forEach((value, j) => {
        expect(value).toBeCloseTo(alone.results[i]!.captures[0]!.data[j]!, 3);
      });
    });
  });

  it("refuses prompts beyond the context", async () => {
    const long = await model.prompts([countingPrompt(600)]);
    await expect(forcedAnswers(model, long, [600])).rejects.toThrow(
      /the longest prompt has \d+ tokens and needs 64 more for its answer; the context of .* is 1024; ask smaller counts/,
    );
  });
});
