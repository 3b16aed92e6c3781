import { afterAll, describe, expect, it } from "vitest";
import { chatRenderer } from "../../src/model/chat-template.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { fixturePath } from "../engine/models.js";

const opened: Model[] = [];
async function openModel(architecture: string, options: Parameters<typeof open>[1] = {}): Promise<Model> {
  const model = await open(fixturePath(architecture), {
    gpu: false,
    threads: 1,
    isolated: false,
    ...options,
  });
  opened.push(model);
  return model;
}
afterAll(async () => {
  for (const model of opened) await model.close();
});

describe("prompts", () => {
  it("are rendered with the model's own template, every token accounted for", async () => {
    const model = await openModel("qwen2");
    const prompt = await model.prompt({ system: "Be brief.", user: "How many?" });
    expect(prompt.text).toBe(
      "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n",
    );
    expect(prompt.pieces.join("")).toBe(prompt.text);
    const spanText = (name: string) => [...prompt.spans[name]!].map((i) => prompt.pieces[i]).join("");
    expect(spanText("user")).toBe("How many?");
    expect(spanText("assistant")).toBe("<|im_start|>assistant\n");
    expect([...prompt.spans.last!]).toEqual([prompt.tokens.length - 1]);
  });

  it.each(["gemma2", "gemma3", "llama"])(
    "%s: begin with exactly one BOS where the model wants one",
    async (name) => {
      const model = await openModel(name);
      for (const system of [undefined, "Be brief."]) {
        const { tokens } = await model.prompt({ ...(system === undefined ? {} : { system }), user: "a, b" });
        const { bos, addBos } = model.info;
        expect([...tokens].filter((token) => token === bos && bos !== model.info.eos).length).toBe(
          addBos ? 1 : 0,
        );
        if (addBos) expect(tokens[0]).toBe(bos);
      }
    },
  );

  it("find the last token of every item, also behind characters of several bytes", async () => {
    const model = await openModel("qwen2");
    const items = ["é", "漢", "😀", "a"];
    const user = `Count: ${items.join(", ")}`;
    let at = user.indexOf("é");
    const ranges = items.map((item) => {
      const range = [at, at + item.length] as const;
      at += item.length + 2;
      return range;
    });
    const prompt = await model.prompt({ user, spans: { items: ranges } });
    const bytes = new TextEncoder();
    const lengths = await model.engine.pieceBytes(prompt.tokens);
    items.forEach((item, i) => {
      const position = prompt.spans.items![i]!;
      const before = [...lengths.subarray(0, position + 1)].reduce((a, b) => a + b, 0);
      const end = bytes.encode(prompt.text.slice(0, prompt.text.indexOf(user) + ranges[i]![1])).length;
      expect(before, item).toBeGreaterThanOrEqual(end);
      expect(before - lengths[position]!, item).toBeLessThan(end);
    });
  });

  it("take plain text where the model has no template", async () => {
    const model = await openModel("qwen2", { template: "" });
    const prompt = await model.prompt({ user: "12*3=", assistant: "3" });
    expect(prompt.text).toBe("12*3=3");
    expect([...prompt.spans.assistant!].map((i) => prompt.pieces[i]).join("")).toContain("3");
  });

  it("refuse an empty text, a span outside it, and answers that begin with a space", async () => {
    const model = await openModel("qwen2");
    await expect(model.prompt("")).rejects.toThrow(/the user's text is empty/);
    await expect(model.prompt({ user: "ab", spans: { items: [[1, 3]] } })).rejects.toThrow(
      /span items has \[1, 3\)/,
    );
    await expect(model.answerTokens([" 12"])).rejects.toThrow(/does not begin with white space/);
  });

  it("answers are tokenized as they follow a prompt, in SentencePiece too", async () => {
    for (const name of ["qwen2", "gemma3"]) {
      const model = await openModel(name);
      const [tokens] = await model.answerTokens(["408"]);
      expect((await model.engine.pieces(tokens!)).join("")).toBe("408");
    }
  });
});

describe("chatRenderer", () => {
  const refusing =
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}[{{ messages[0]['content'] }}]";

  it("puts a system text that a template refuses in front of the user's", () => {
    const { text, userStart } = chatRenderer(refusing, "", "")({ system: "S", user: "U" });
    expect(text).toBe("[S\n\nU]");
    expect(text.slice(userStart, userStart + 1)).toBe("U");
  });

  it("says so when a template cannot be read or refuses everything", () => {
    expect(() => chatRenderer("{% if %}", "", "")).toThrow(/chat template cannot be read.*template: ""/);
    const never = chatRenderer("{{ raise_exception('no') }}", "", "");
    expect(() => never({ user: "U" })).toThrow(/chat template refused the messages: no/);
  });
});
