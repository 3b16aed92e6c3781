/**
 * The engine against transformers on the organisms: same greedy answers, logits within 1e-3, tokenizer round trips.
 *
 * The fixtures come from `data/organisms/recipe/reference.py`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Model, open } from "../../src/index.js";

interface ReferencePrompt {
  readonly task: string;
  readonly text: string;
  readonly right: string;
}
interface Reference {
  readonly sha256: string;
  /** Ten token ids, then "max". */
  readonly logitsOf: readonly (number | "max")[];
  readonly rows: readonly { readonly answer: readonly number[]; readonly logits: readonly number[] }[];
}

const fixtures = join(import.meta.dirname, "..", "fixtures", "organisms");
const read = <T>(name: string): T => JSON.parse(readFileSync(join(fixtures, `${name}.json`), "utf8")) as T;
const prompts = read<ReferencePrompt[]>("prompts");
const names = ["tally-25k", "tally-100k", "tally-400k", "tally-1m6"];

describe.each(names)("%s gives what transformers gives", (name) => {
  const reference = read<Reference>(name);
  let model: Model;
  let tokens: Int32Array[];

  beforeAll(async () => {
    model = await open(name, { isolated: false, threads: 1 });
    tokens = await model.engine.tokenize(
      prompts.map(({ text }) => text),
      true,
    );
  });
  afterAll(() => model.close());

  it("on the very file the reference was made from", () => {
    expect(model.sha256).toBe(reference.sha256);
    expect(prompts.length).toBe(1000);
  });

  it("with logits within 1e-3", async () => {
    const ids = reference.logitsOf.filter((id): id is number => id !== "max");
    const { results } = await model.evaluate(
      tokens.map((t) => ({ tokens: t, logits: { positions: [-1], top: 1, tokens: ids } })),
    );
    let worst = 0;
    for (const [i, { logits }] of results.entries()) {
      const got = [...logits!.tokenLogits!, logits!.topLogits[0]!];
      for (const [j, x] of reference.rows[i]!.logits.entries())
        worst = Math.max(worst, Math.abs(x - got[j]!));
    }
    expect(worst).toBeLessThan(1e-3);
  });

  it("with the same greedy answers", async () => {
    const { results } = await model.evaluate(
      tokens.map((t, i) => {
        const { answer } = reference.rows[i]!;
        const positions = Array.from(answer, (_, j) => t.length - 1 + j);
        return { tokens: [...t, ...answer.slice(0, -1)], logits: { positions, top: 1 } };
      }),
    );
    const differing = results.flatMap(({ logits }, i) =>
      logits!.topIds.every((id, j) => id === reference.rows[i]!.answer[j]) ? [] : [prompts[i]!.text],
    );
    expect(differing).toEqual([]);
  });
});

describe("the tokenizer", () => {
  it("gives back any text, and one token a digit", async () => {
    const model = await open("tally-400k", { isolated: false, threads: 1 });
    const texts = [
      "a, a, a",
      "12*99=",
      "Compute 3 × 45",
      " \n\n\t x",
      "naïve 数 🙂",
      "aaaa (([{}]))",
      "0123456789",
      "don't",
    ];
    const tokens = await model.engine.tokenize(texts, true);
    expect(await Promise.all(tokens.map((t) => model.engine.detokenize(t, true)))).toEqual(texts);
    expect(tokens[6]!.length).toBe(10);
    expect(tokens[0]!.length).toBe(5);
    await model.close();
  });
});
