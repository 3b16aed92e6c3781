import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HorizonResult } from "../../src/assays/horizon-result.js";
import { limiterCardOf, limiterUnder, saveLimiterCard } from "../../src/assays/limiter-card.js";
import { limiterTransfer } from "../../src/assays/prompt-stability.js";
import { zeroErrorHorizon } from "../../src/assays/zero-error-horizon.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { openWriter, startServer } from "../endpoints/local-server.js";
import { testModel } from "../endpoints/test-model.js";
import { HOSTILE } from "../figures/browser-here.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-card-"));
let model: Model;
let result: HorizonResult;

beforeAll(async () => {
  model = await open(testModel, { isolated: false, threads: 1 });
  result = await zeroErrorHorizon(model, multiplication());
});
afterAll(async () => {
  await model?.close();
  rmSync(folder, { recursive: true });
});

describe("saveLimiterCard", () => {
  it("writes one page with what the result says of its first limiter", async () => {
    expect(result.reached).toBe(true);
    const path = join(folder, "deeper", "card.html");
    const card = await saveLimiterCard(path, result, { model });
    const limiter = result.limiters[0]!;
    expect(card).toMatchObject({
      model: model.info.name,
      horizon: result.horizon,
      instance: `${limiter.fields.a}*${limiter.fields.b}=`,
      expected: limiter.expected,
      answer: limiter.text,
      margin: limiter.margin,
    });
    expect(card.prompt).toContain(`${limiter.fields.a}*${limiter.fields.b}=`);
    expect(card.prompt).toContain("<|im_start|>");
    const html = readFileSync(path, "utf8");
    for (const part of [
      "llama-cli -m",
      "llama-server -m",
      "curl -s",
      "See it again",
      result.provenance.model!.sha256,
    ])
      expect(html).toContain(part);
    expect(html).not.toMatch(/<[^>]*\s(src|href)=|<script|@import|url\(/);
    await saveLimiterCard(path, result, { model });
    expect(readFileSync(path, "utf8")).toBe(html);
  });

  it("the curl line asks the same thing, and shows the same answer", async () => {
    const limiter = result.limiters[0]!;
    // The words as a shell splits them: `curl -s URL -H HEADER -d BODY`.
    const command = limiter.commands!.curl!;
    const words = execFileSync("sh", ["-c", `printf '%s\\n' ${command}`])
      .toString()
      .split("\n");
    expect(words.slice(0, 3)).toEqual(["curl", "-s", "http://127.0.0.1:8080/v1/chat/completions"]);
    const writer = await openWriter(testModel);
    const server = await startServer(writer.write);
    try {
      const answer = await fetch(`${server.url}/chat/completions`, {
        method: "POST",
        headers: { "Content-Type": words[4]!.split(": ")[1]! },
        body: words[6]!,
      });
      const said = (await answer.json()) as { choices: { message: { content: string } }[] };
      expect(said.choices[0]!.message.content).toBe(limiter.text);
    } finally {
      await server.close();
      await writer.close();
    }
  });

  it("has verdicts over templates and quantisations when they are given", async () => {
    const task = multiplication();
    const others = task.templates.slice(0, 3).map((template) => ({
      template,
      limiters: template.name === result.template.name ? result.limiters : [],
    }));
    const transfer = await limiterTransfer(model, task, others);
    const again = await limiterUnder("the same file", model, task, result);
    const card = await limiterCardOf(result, { transfer, quantisations: [again] });
    expect(card.templates!.map(({ name }) => name)).toEqual([
      result.template.name,
      ...others.map(({ template }) => template.name).filter((name) => name !== result.template.name),
    ]);
    expect(card.templates![0]).toMatchObject({ right: false, answer: result.limiters[0]!.text });
    for (const { right, answer } of card.templates!) expect(answer === card.expected).toBe(right);
    expect(card.quantisations![1]).toMatchObject({ right: false, answer: result.limiters[0]!.text });
    expect(card.prompt).toMatch(/^system: .*\nuser: /);
  });

  it("shows what a model wrote as text", async () => {
    const path = join(folder, "hostile.html");
    const limiter = { ...result.limiters[0]!, text: HOSTILE };
    await saveLimiterCard(
      path,
      { ...result, limiters: [limiter] },
      {
        quantisations: [{ name: HOSTILE, right: false, answer: HOSTILE }],
      },
    );
    const html = readFileSync(path, "utf8");
    expect(html).not.toContain("<img");
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
  });

  it("says so where there is no such limiter", async () => {
    await expect(limiterCardOf(result, { key: "1,1" })).rejects.toThrow(
      "limiterCardOf: no limiter 1,1; there are ",
    );
    const reached = await zeroErrorHorizon(model, multiplication(), { upTo: 1 });
    await expect(limiterCardOf({ ...reached, limiters: [] })).rejects.toThrow(
      "limiterCardOf: nothing was wrong in multiplication up to",
    );
  });
});
