import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asAnswerer, fromModel } from "../../src/assays/answerer.js";
import { countingCapacity } from "../../src/assays/counting-capacity.js";
import { denseSweep } from "../../src/assays/dense-sweep.js";
import { openEndpoint } from "../../src/endpoints/index.js";
import { type Model, open } from "../../src/index.js";

let model: Model;
beforeAll(async () => {
  model = await open("tally-25k", { isolated: false, threads: 1 });
});
afterAll(() => model.close());

describe("what an assay can be given", () => {
  it("is a model as it is, or with its decoding chosen: the same answers, under the same identity", async () => {
    const [plain, chosen] = [asAnswerer(model, "test"), fromModel(model)];
    expect({ ...plain, answer: 0, promptTokens: 0, provenance: 0 }).toEqual({
      ...chosen,
      answer: 0,
      promptTokens: 0,
      provenance: 0,
    });
    expect(asAnswerer(chosen, "test")).toBe(chosen);
    const [one, other] = [await denseSweep(model, { to: 12 }), await denseSweep(chosen, { to: 12 })];
    expect(one.trials.map(({ response }) => response)).toEqual(other.trials.map(({ response }) => response));
  });

  it("is a server", () => {
    const server = openEndpoint({ url: "http://127.0.0.1:9/v1", model: "m" });
    expect(asAnswerer(server, "test")).toMatchObject({ name: "m", repeatable: false });
  });

  it("is nothing else, and the error says what to give", async () => {
    for (const [given, said] of [
      ["tally-25k", '"tally-25k"'],
      [null, "null"],
      [undefined, "undefined"],
      [{}, "object"],
    ] as const)
      await expect(countingCapacity(given as never)).rejects.toThrow(
        `counting capacity: ${said} cannot be asked; expected a model (await open("tally-400k"))`,
      );
  });
});
