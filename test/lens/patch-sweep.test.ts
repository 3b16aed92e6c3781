import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residPre } from "../../src/engine/hooks.js";
import { patchSweep } from "../../src/lens/patch-sweep.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import type { Prompt } from "../../src/model/prompt.js";
import { fixturePath } from "../engine/models.js";

describe("patchSweep", () => {
  let model: Model;
  let recipient: Prompt;
  let donors: Prompt[];
  const own = async (prompt: Prompt) =>
    (await model.generate([{ tokens: prompt.tokens }], { maxTokens: 6 })).generations[0]!.text;

  beforeAll(async () => {
    model = await open(fixturePath("qwen3"), { gpu: false, threads: 1, isolated: false });
    const [first, ...others] = await model.prompts(["abc", "xyz", "pqr", "klm"].map((user) => ({ user })));
    recipient = first!;
    donors = [recipient, ...others];
  });
  afterAll(() => model.close());

  it("patching all of the last layer's last row gives the donor's first token; the recipient itself changes nothing", async () => {
    const last = model.info.layers - 1;
    const cells = await patchSweep(model, recipient, donors, { layers: [last], maxTokens: 1 });
    for (const { donor, text } of cells) {
      const { generations } = await model.generate([{ tokens: donors[donor]!.tokens }], { maxTokens: 1 });
      expect(text).toBe(generations[0]!.text);
    }
  });

  it("is the identity for the recipient at every layer, and has a cell for each layer and donor", async () => {
    const answer = await own(recipient);
    const cells = await patchSweep(model, recipient, donors, { maxTokens: 6 });
    expect(cells.length).toBe(model.info.layers * donors.length);
    const self = cells.filter(({ donor }) => donor === 0);
    expect(self.map(({ text }) => text)).toEqual(self.map(() => answer));
  });

  it("patching a whole span of the embeddings makes the recipient answer as the donor", async () => {
    const cells = await patchSweep(model, recipient, donors, {
      layers: [0],
      hook: residPre,
      span: "user",
      maxTokens: 6,
    });
    for (const { donor, text } of cells) expect(text).toBe(await own(donors[donor]!));
  });

  it("refuses spans of other lengths and unknown ones", async () => {
    const longer = await model.prompt("abcdefghijk qrst uvw");
    await expect(patchSweep(model, recipient, [longer], { span: "user" })).rejects.toThrow(
      /tokens in span user, the recipient/,
    );
    await expect(patchSweep(model, recipient, donors, { span: "items" })).rejects.toThrow(
      /has no span items; it has user, assistant, last/,
    );
    await expect(patchSweep(model, recipient, donors, { layers: [9] })).rejects.toThrow(
      /has no residPost\(9\)/,
    );
  });
});
