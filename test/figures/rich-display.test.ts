import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromModel } from "../../src/assays/answerer.js";
import { countingCapacity } from "../../src/assays/counting-capacity.js";
import { promptStability } from "../../src/assays/prompt-stability.js";
import { zeroErrorHorizon } from "../../src/assays/zero-error-horizon.js";
import { residPost } from "../../src/engine/hooks.js";
import { richBundle } from "../../src/figures/rich-display.js";
import { show } from "../../src/figures/show.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { countingPrompt } from "../../src/tasks/counting.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { testModel } from "../endpoints/test-model.js";
import { HOSTILE } from "./browser-here.js";
import { figures } from "./example-figures.js";

let model: Model;
beforeAll(async () => {
  model = await open(testModel, { isolated: false, threads: 1 });
});
afterAll(async () => model?.close());

async function shown(value: unknown): Promise<{ html: string; text: string }> {
  const bundle = (await richBundle(value))!;
  expect(Object.keys(bundle).sort()).toEqual(["text/html", "text/plain"]);
  return { html: String(bundle["text/html"]), text: String(bundle["text/plain"]) };
}

describe("richBundle", () => {
  it("shows a model: what it is and where it can be read", async () => {
    const { html, text } = await shown(model);
    for (const part of [model.info.name, model.info.quantisation, "Hook points", "residPost"]) {
      expect(html).toContain(part);
      expect(text).toContain(part);
    }
  });

  it("shows a prompt: its tokens, its spans, and a hostile user's text as text", async () => {
    const { html } = await shown(await model.prompt(countingPrompt(4)));
    expect(html).toContain("items (4)");
    const hostile = await shown(await model.prompt(HOSTILE));
    expect(hostile.html).not.toContain("<img");
    expect(hostile.html).toContain("&lt;");
  });

  it("shows activations, one, a list, a request's and a whole evaluation", async () => {
    const prompt = await model.prompt(countingPrompt(4));
    const evaluation = await model.evaluate([
      {
        tokens: prompt.tokens,
        captures: [0, 1].map((layer) => ({ hook: residPost(layer), positions: "all" as const })),
        logits: { positions: [-1], top: 3 },
      },
    ]);
    const [result] = evaluation.results;
    const shape = `[position ${prompt.tokens.length}, d_model ${model.info.width}]`;
    const one = await shown(result!.captures[1]);
    expect(one.text).toMatch(/^residPost\(1\) /);
    expect(one.html).toContain(shape);
    expect(one.html).toContain("data:image/png;base64,");
    expect((await shown(result!.captures)).html.match(/<img/g)).toHaveLength(2);
    const both = await shown(result);
    expect(both.html).toContain("largest logits");
    expect(both.html.match(/<img/g)).toHaveLength(2);
    const whole = await shown(evaluation);
    expect(whole.text).toContain(`residPost(0) [${prompt.tokens.length}, ${model.info.width}]`);
    expect(whole.text).toContain("tokensEvaluated");
  });

  it("shows answers, and what a model wrote as text", async () => {
    const prompt = await model.prompt(countingPrompt(4));
    const batch = await model.generate([{ tokens: prompt.tokens }]);
    expect((await shown(batch)).text).toContain(JSON.parse(JSON.stringify(batch.generations[0]!.text)));
    const hostile = { ...batch, generations: [{ ...batch.generations[0]!, text: HOSTILE }] };
    const { html } = await shown(hostile);
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(html).not.toContain("<img");
  });

  it("shows results of assays, with short tables and provenance", async () => {
    const horizon = await zeroErrorHorizon(model, multiplication());
    const { html, text } = await shown(horizon);
    expect(text).toMatch(/^zero-error-horizon, multiplication\n/);
    expect(text).toContain(`limiters (${horizon.limiters.length})`);
    expect(html).toContain("<summary>provenance</summary>");
    expect(html).toContain(model.sha256);
    expect(html.length).toBeLessThan(40_000);
    const limiter = { ...horizon.limiters[0]!, text: HOSTILE, read: HOSTILE };
    const hostile = await shown({ ...horizon, limiters: [limiter], errors: [limiter] });
    expect(hostile.html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(hostile.html).not.toContain("<img");
    const stability = await promptStability(model, multiplication(), { upTo: 2 });
    expect((await shown(stability)).text).toContain("minimum");
    const capacity = await countingCapacity(fromModel(model), { ceiling: 32, trials: 2 });
    expect((await shown(capacity)).text).toContain(capacity.label);
  });

  it("shows rows as a table, and figures alive", async () => {
    const { html, text } = await shown([{ a: 1, answer: HOSTILE, list: [1, 2], bytes: new Float32Array(3) }]);
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(html).not.toContain("<img");
    expect(text).toContain("1, 2  Float32Array(3)");
    expect(Object.keys((await richBundle(figures.attractors!()))!)).toEqual([
      "application/vnd.plotly.v1+json",
      "text/plain",
    ]);
  });

  it("uses an object's own display, also where it takes time", async () => {
    const own = { [Symbol.for("Jupyter.display")]: async () => ({ "text/plain": "own" }) };
    expect(await richBundle(own)).toEqual({ "text/plain": "own" });
  });

  it.each([
    [3],
    ["text"],
    [[1, 2]],
    [{ a: 1 }],
    [new Map()],
    [[]],
    [new Float32Array(2)],
    [null],
    [{ results: [] }],
  ])("leaves %j to its text", async (value) => {
    expect(await richBundle(value)).toBeUndefined();
  });
});

describe("show", () => {
  it("takes all that shows itself", async () => {
    const prompt = await model.prompt("2+2=");
    for (const thing of [model, prompt, [{ a: 1 }], await model.generate([{ tokens: prompt.tokens }])])
      await expect(show(thing)).resolves.toBeUndefined();
  });
});
