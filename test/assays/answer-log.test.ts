import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { withAnswerLog } from "../../src/assays/answer-log.js";
import type { Answerer } from "../../src/assays/answerer.js";
import { countingCapacity } from "../../src/assays/counting-capacity.js";
import { provenance } from "../../src/store/provenance.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-answers-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Counts commas, up to 50; every answer says how many prompts it has seen. */
function counter(options: { identity?: string; repeatable?: boolean } = {}): Answerer & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    name: "counter",
    identity: options.identity ?? "one",
    repeatable: options.repeatable ?? true,
    decoding: "scripted",
    answer: async (prompts) => ({
      ms: 1,
      answers: prompts.map(({ user }) => {
        asked.push(user);
        const count = Math.min(50, user.split("\n\n")[1]?.split(", ").length ?? 0);
        const text = options.repeatable === false ? `${count} (${"x".repeat(asked.length)})` : String(count);
        return { text, ended: true, inputTokens: user.length, outputTokens: 1, reasoningTokens: 0 };
      }),
    }),
    provenance: (notes) => provenance({ notes }),
  };
}

describe("withAnswerLog", () => {
  it("asks a ladder once, and finds it again with the same result", async () => {
    const path = join(folder, "deep", "ladder.jsonl");
    const first = counter();
    const before = await countingCapacity(await withAnswerLog(first, path), { seed: 1 });
    const again = counter();
    const after = await countingCapacity(await withAnswerLog(again, path), { seed: 1 });
    expect(again.asked).toEqual([]);
    expect(after.tiers.map(({ length, nMAE }) => [length, nMAE])).toEqual(
      before.tiers.map(({ length, nMAE }) => [length, nMAE]),
    );
    // Targets repeat within a ladder; the same prompt is asked once.
    expect(first.asked.length).toBe(new Set(first.asked).size);
    expect(before.trials.length).toBeGreaterThan(first.asked.length);
    const line = JSON.parse(readFileSync(path, "utf8").split("\n")[0] ?? "");
    expect(line).toMatchObject({ trial: { model: "counter", prompt: { user: first.asked[0] } } });
  });

  it("asks only for what is new", async () => {
    const path = join(folder, "more.jsonl");
    await countingCapacity(await withAnswerLog(counter(), path), { seed: 1, ceiling: 32 });
    const more = counter();
    await countingCapacity(await withAnswerLog(more, path), { seed: 1 });
    expect(more.asked.length).toBeGreaterThan(0);
    expect(more.asked.every((user) => user.length > 200)).toBe(true);
  });

  it("does not take one model's answers for another's", async () => {
    const path = join(folder, "shared.jsonl");
    await (await withAnswerLog(counter(), path)).answer([{ user: "x\n\na, a" }]);
    const other = counter({ identity: "two" });
    await (await withAnswerLog(other, path)).answer([{ user: "x\n\na, a" }]);
    expect(other.asked).toHaveLength(1);
  });

  it("keeps different answers to one prompt apart where they differ", async () => {
    const path = join(folder, "served.jsonl");
    const prompts = [{ user: "x\n\na, a" }, { user: "x\n\na, a" }];
    const served = await (await withAnswerLog(counter({ repeatable: false }), path)).answer(prompts);
    expect(served.answers.map(({ text }) => text)).toEqual(["2 (x)", "2 (xx)"]);
    const again = counter({ repeatable: false });
    const found = await (await withAnswerLog(again, path)).answer([...prompts, ...prompts.slice(0, 1)]);
    expect(found.answers.map(({ text }) => text)).toEqual(["2 (x)", "2 (xx)", "2 (x)"]);
    expect(again.asked).toHaveLength(1);
  });

  it("skips a line cut short at the end, and names any other broken one", async () => {
    const path = join(folder, "cut.jsonl");
    const first = await withAnswerLog(counter(), path);
    await first.answer([{ user: "x\n\na" }]);
    await first.close();
    appendFileSync(path, '{"key": "abc');
    const again = counter();
    const second = await withAnswerLog(again, path);
    await second.answer([{ user: "x\n\na" }]);
    await second.close();
    expect(again.asked).toEqual([]);
    writeFileSync(path, "broken\n{}\n");
    await expect(withAnswerLog(counter(), path)).rejects.toThrow("run log: line 1 of");
  });
});
