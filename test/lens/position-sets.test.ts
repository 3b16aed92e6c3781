import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { POSITION_SETS, positionRuns } from "../../src/lens/position-sets.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import type { Prompt } from "../../src/model/prompt.js";
import { countingPrompt } from "../../src/tasks/counting.js";
import { fixturePath } from "../engine/models.js";

describe("positionRuns", () => {
  let model: Model;
  let prompt: Prompt;
  const text = (runs: readonly Int32Array[]) =>
    runs.map((run) => [...run].map((position) => prompt.pieces[position]).join(""));

  beforeAll(async () => {
    model = await open("tally-25k", { isolated: false, threads: 1 });
    prompt = await model.prompt(countingPrompt(4));
  });
  afterAll(() => model.close());

  it("names the parts of a counting prompt", () => {
    expect(text(positionRuns(prompt, "items", "test"))).toEqual(["a a a a"]);
    expect(text(positionRuns(prompt, "delimiters", "test"))).toEqual([",,,"]);
    expect(text(positionRuns(prompt, "items and delimiters", "test"))).toEqual(["a, a, a, a"]);
    expect(positionRuns(prompt, "final token", "test")).toEqual([Int32Array.of(prompt.tokens.length - 1)]);
    expect(text(positionRuns(prompt, "start of turn", "test"))).toEqual(["<|im_start|>"]);
    expect(text(positionRuns(prompt, "assistant turn", "test"))[0]).toBe("<|im_start|>assistant\n");
  });

  it("cuts all but the last token into what is before the list, the list, and what is after it", () => {
    const runs = positionRuns(prompt, "all but last", "test");
    expect(runs.length).toBe(3);
    expect(text(runs)[1]).toBe("a, a, a, a");
    expect(runs.flatMap((run) => [...run])).toEqual(
      Array.from({ length: prompt.tokens.length - 1 }, (_, i) => i),
    );
  });

  it("takes positions, from the end too, and names of spans", () => {
    expect(positionRuns(prompt, [0, -1], "test")).toEqual([Int32Array.of(0, prompt.tokens.length - 1)]);
    expect(positionRuns(prompt, "user", "test")[0]).toEqual(prompt.spans.user);
  });

  it("refuses what is not there, in one line that says what is", async () => {
    expect(() => positionRuns(prompt, [99], "test: the prompt")).toThrow(
      /^test: the prompt: position 99 out of range; there are \d+ tokens/,
    );
    expect(() => positionRuns(prompt, [], "test")).toThrow(/no positions/);
    expect(() => positionRuns(prompt, "itmes", "test")).toThrow(/has no span itmes; it has user, assistant/);
    const one = await model.prompt(countingPrompt(1));
    expect(() => positionRuns(one, "delimiters", "test")).toThrow(/no tokens between its items/);
    const base = await open(fixturePath("llama"), { isolated: false, threads: 1, gpu: false });
    try {
      const plain = await base.prompt(countingPrompt(2));
      if (plain.spans.assistant!.length === 0) {
        expect(() => positionRuns(plain, "start of turn", "test")).toThrow(/opens no such part/);
      }
    } finally {
      await base.close();
    }
    expect(POSITION_SETS.length).toBe(new Set(POSITION_SETS).size);
  });
});
