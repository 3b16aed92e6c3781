import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import type { LogitsRead } from "../../src/engine/request.js";
import { editedAnswers } from "../../src/lens/edited-answers.js";
import { forcedMargin } from "../../src/lens/forced-margin.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { countingPrompt } from "../../src/tasks/counting.js";

describe("forcedMargin", () => {
  /** Two answer tokens and the end; tokens 8 and 9 end an answer. */
  const read = (top: [number, number][][], asked: number[][]): LogitsRead => ({
    positions: Int32Array.from(top, (_, i) => i),
    k: 3,
    topIds: Int32Array.from(top.flat(), ([id]) => id),
    topLogits: Float32Array.from(top.flat(), ([, logit]) => logit),
    tokenLogits: Float32Array.from(asked.flat()),
  });

  it("is the smallest margin, with the end and without", () => {
    const logits = read(
      [
        [
          [1, 9],
          [5, 6],
          [3, 1],
        ],
        [
          [4, 8],
          [2, 7.5],
          [3, 1],
        ],
        [
          [9, 5],
          [8, 4],
          [6, 2],
        ],
      ],
      [
        [9, 0, 0],
        [7.5, 0, 0],
        [0, 4, 5],
      ],
    );
    // Answer 1, 2: 9 - 6 = 3, then 7.5 - 8 = -0.5; the end 5 - 2 = 3: both ends are ends.
    expect(forcedMargin(logits, [1, 2], [8, 9])).toEqual({ gap: -0.5, gapWithoutEnd: -0.5 });
  });

  it("lets the end be what fails: 4 against 40", () => {
    const logits = read(
      [
        [
          [4, 9],
          [5, 6],
          [3, 1],
        ],
        [
          [0, 7],
          [8, 3],
          [9, 2],
        ],
      ],
      [
        [9, 0, 0],
        [0, 3, 2],
      ],
    );
    expect(forcedMargin(logits, [4], [8, 9])).toEqual({ gap: -4, gapWithoutEnd: 3 });
  });
});

describe("editedAnswers", () => {
  let model: Model;
  beforeAll(async () => {
    model = await open("tally-25k", { isolated: false, threads: 1 });
  });
  afterAll(() => model.close());
  const quiet = { onProgress: () => {} };

  it("without edits gives each prompt's own answer, whichever answer is forced", async () => {
    const prompts = await model.prompts([3, 7, 12].map((count) => countingPrompt(count)));
    const cells = prompts.flatMap(({ tokens }) =>
      ["3", "7", "12"].map((answer) => ({ tokens, edits: [], answer })),
    );
    const { answers } = await editedAnswers(model, cells, quiet);
    const { generations } = await model.generate(
      prompts.map(({ tokens }) => ({ tokens })),
      quiet,
    );
    answers.forEach(({ text, decoded, gap }, i) => {
      expect(text).toBe(generations[Math.floor(i / 3)]!.text);
      expect(gap > 0).toBe(text === cells[i]!.answer);
      expect(decoded).toBe(Number(text));
    });
    expect((await editedAnswers(model, [], quiet)).answers).toEqual([]);
  });

  it("keeps an edit of generated tokens on while an answer is forced: forced and decoded are one", async () => {
    const { tokens } = await model.prompt(countingPrompt(12));
    const { embed } = await import("../../src/engine/hooks.js");
    const edit = { hook: embed(), positions: [-1], op: { type: "scale" as const, factor: 0 } };
    for (const generated of [false, true]) {
      const edits = [{ ...edit, generated }];
      const { generations } = await model.generate([{ tokens, edits }], { ...quiet, maxTokens: 6 });
      const { text, stop } = generations[0]!;
      const said = /^[0-9]+$/.test(text) && stop === "end" ? text : "12";
      const { answers } = await editedAnswers(model, [{ tokens, edits, answer: said }], {
        ...quiet,
        maxTokens: 6,
      });
      expect(answers[0]!.text).toBe(text);
      expect(answers[0]!.gap > 0).toBe(said === text);
    }
  });

  it("reports how far it is, decoding all answers as one whole", async () => {
    const counts = Array.from({ length: 60 }, (_, i) => i + 1);
    const prompts = await model.prompts(counts.map((count) => countingPrompt(count)));
    const done: number[] = [];
    await editedAnswers(
      model,
      // Each with an edit of its own, so that nothing is shared: progress is told every 10 ms.
      Array.from({ length: 10 }, (_, k) =>
        prompts.map(({ tokens }, i) => {
          const op = { type: "scale" as const, factor: 1 + (60 * k + i) / 1e5 };
          return { tokens, edits: [{ hook: residPost(0), positions: [1], op }], answer: "99" };
        }),
      ).flat(),
      {
        onProgress: (progress) => {
          expect(progress.done).toBeLessThanOrEqual(progress.total);
          if (progress.what !== "generating") return;
          expect(progress.unit).toBe("tokens");
          done.push(progress.done);
        },
      },
    );
    expect(done.length).toBeGreaterThan(0);
    expect(done).toEqual([...done].sort((a, b) => a - b));
  });

  it("refuses an empty answer and positions that are not there, before any work", async () => {
    const { tokens } = await model.prompt(countingPrompt(3));
    await expect(editedAnswers(model, [{ tokens, edits: [], answer: "" }], quiet)).rejects.toThrow(
      /answerTokens/,
    );
  });
});
