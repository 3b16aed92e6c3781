import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { growForest } from "../../src/engine/forest.js";
import { residPost } from "../../src/engine/hooks.js";
import type { InlineEngine } from "../../src/engine/inline.js";
import { makePlan } from "../../src/engine/plan.js";
import type { Request } from "../../src/engine/request.js";
import { ENOUGH, type Tensor } from "../../src/engine/tap.js";
import { placeRequests } from "../../src/engine/validate.js";
import { BRANCHING, openFixture, PLAIN, randomTokens, rowHooks } from "./models.js";

describe.each([...BRANCHING, ...PLAIN])("%s: a decode that ends with the last hook point wanted", (name) => {
  let engine: InlineEngine;
  beforeAll(async () => {
    engine = await openFixture(name, { chunkTokens: 16 });
  });
  afterAll(() => engine?.close());

  /** Prompts of three chunks that share two of them. */
  const prompts = (): [number[], number[]] => {
    const trunk = randomTokens(engine, 36, 1);
    return [
      [...trunk, ...randomTokens(engine, 8, 2)],
      [...trunk, ...randomTokens(engine, 8, 3)],
    ];
  };
  const captured = async (requests: readonly Request[]) =>
    (await engine.evaluate(requests)).results.map(({ captures }) => captures.map(({ data }) => data));

  it("captures what a whole one captures", async () => {
    const captures = rowHooks(engine).map((hook) => ({ hook, positions: "all" as const }));
    const requests = prompts().map((tokens): Request => ({ tokens, captures }));
    const whole = requests.map((one): Request => ({ ...one, logits: { positions: "all" } }));
    expect(await captured(requests)).toEqual(await captured(whole));
  });

  it("also where prompts that share a beginning want different layers, and after it whole ones go on as before", async () => {
    const last = engine.info.layers - 1;
    const [one, other] = prompts();
    const wanted = (tokens: readonly number[], layer: number, positions: "all" | number[]): Request => ({
      tokens,
      captures: [{ hook: residPost(layer), positions }],
    });
    const requests = [wanted(one, 0, "all"), wanted(other, last, [-1])];
    const alone = requests.map((request) => ({ ...request, logits: { positions: [-1] } }));
    const [low, high] = await captured(requests);
    const [lowAlone, highAlone] = await captured(alone);
    expect(low).toEqual(lowAlone);
    expect(high).toEqual(highAlone);
    const logits = { positions: [-1], full: true };
    const before = await engine.evaluate([{ tokens: one, logits }]);
    await engine.evaluate([wanted(other, 0, [3])]);
    const after = await engine.evaluate([{ tokens: one, logits }]);
    expect(after.results[0]!.logits!.full).toEqual(before.results[0]!.logits!.full);
  });
});

it("says so at the last hook point of a decode that has all of them, and never where logits are wanted", async () => {
  const engine = await openFixture("llama");
  const { info } = engine;
  const captures = [0, 1].map((layer) => ({ hook: residPost(layer), positions: [0, 2] }));
  const said = (logits: object, edges: readonly [number, number]) => {
    const placed = placeRequests(info, [{ tokens: [3, 9, 27], captures, ...logits }]);
    const targets = placed[0]!.captures.map(({ width }) => new Float32Array(2 * width));
    const forest = growForest(placed.map(({ tokens }) => tokens));
    const plan = makePlan(info, forest, placed, (_, capture) => targets[capture]!);
    const size = edges[1] - edges[0];
    const rows = { size, outputs: size, outputRow: Int32Array.from({ length: size }, (_, i) => i) };
    const tensor = { elements: size * info.width, readable: true, read: () => undefined };
    return plan.watches(...edges, rows).map(({ onTensor }) => onTensor(tensor as unknown as Tensor));
  };
  expect(said({}, [0, 3])).toEqual([undefined, ENOUGH]);
  expect(said({}, [1, 2])).toEqual([]); // nothing is wanted at the second token: what comes later may need its keys
  expect(said({ logits: { positions: [-1] } }, [0, 3])).toEqual([undefined, undefined]);
  await engine.close();
});
