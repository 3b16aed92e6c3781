/** What must hold on every model, whatever its architecture. Called by the tests of the fixtures and of the real models. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import type { InlineEngine } from "../../src/engine/inline.js";
import { largestDifference, lastLogits, randomTokens, rowHooks } from "./models.js";

export function contracts(name: string, openIt: () => Promise<InlineEngine>, length: number): void {
  // Every layer and hook point of a trained model has runs of its own: minutes on a slow machine.
  describe(`${name}: captures and edits`, { timeout: 900_000 }, () => {
    let engine: InlineEngine;
    let tokens: number[];
    let donor: number[];
    let plain: Float32Array;
    let donorLogits: Float32Array;

    beforeAll(async () => {
      engine = await openIt();
      tokens = randomTokens(engine, length, 1);
      plain = await lastLogits(engine, { tokens });
      // A donor with another answer, so that a transplant that does nothing is seen.
      for (let seed = 2; ; seed++) {
        donor = randomTokens(engine, length, seed);
        donorLogits = await lastLogits(engine, { tokens: donor });
        if (best(donorLogits) !== best(plain)) break;
      }
    });
    afterAll(() => engine?.close());

    it("offers the residual stream after every layer", () => {
      const layers = engine.info.hookPoints
        .filter(({ hook }) => hook.kind === "residPost")
        .map(({ hook }) => hook.layer);
      expect(layers).toEqual(Array.from({ length: engine.info.layers }, (_, layer) => layer));
    });

    it("capturing everything changes no logit", async () => {
      const captures = rowHooks(engine).map((hook) => ({ hook, positions: "all" as const }));
      const [result] = (
        await engine.evaluate([{ tokens, captures, logits: { positions: [-1], full: true } }])
      ).results;
      // Rows of the last layer are outputs too, which changes the shape of its products, so captures of it are compared
      // with a run of the same outputs.
      const all = await engine.evaluate([{ tokens, logits: { positions: "all", full: true } }]);
      const rows = all.results[0]!.logits!.full!;
      expect(
        largestDifference(result!.logits!.full!, rows.subarray(rows.length - engine.info.vocabulary)),
      ).toBe(0);
      for (const { data } of result!.captures) {
        expect(data.every(Number.isFinite)).toBe(true);
        expect(data.some((value) => value !== 0)).toBe(true);
      }
    });

    it("writing back what was there changes nothing, at any hook point", async () => {
      for (const hook of rowHooks(engine)) {
        let rows = 0;
        const apply = (values: Float32Array) => {
          rows += values.length;
        };
        const request = { tokens, logits: { positions: "all" as const, full: true } };
        const [before, after] = [
          await engine.evaluate([request]),
          await engine.evaluate([
            { ...request, edits: [{ hook, positions: "all", op: { type: "custom", apply } }] },
          ]),
        ];
        expect(rows, `rows seen at ${hook.kind} ${hook.layer}`).toBeGreaterThan(0);
        expect(
          largestDifference(before.results[0]!.logits!.full!, after.results[0]!.logits!.full!),
          `${hook.kind} ${hook.layer}`,
        ).toBe(0);
      }
    });

    it("transplanting every row of a layer transplants the logits exactly, at every layer", async () => {
      for (let layer = 0; layer < engine.info.layers; layer++) {
        const hook = residPost(layer);
        // The same outputs in all three runs: at the last layer, all rows are.
        const positions = layer === engine.info.layers - 1 ? ("all" as const) : [-1];
        const logits = { positions, full: true };
        const [from] = (
          await engine.evaluate([{ tokens: donor, logits, captures: [{ hook, positions: "all" }] }])
        ).results;
        const rows = from!.captures[0]!.data;
        const [to] = (
          await engine.evaluate([
            { tokens, logits, edits: [{ hook, positions: "all", op: { type: "replace", rows } }] },
          ])
        ).results;
        expect(largestDifference(to!.logits!.full!, from!.logits!.full!), `layer ${layer}`).toBe(0);
        expect(best(last(to!.logits!.full!, engine))).toBe(best(donorLogits));
      }
    });

    it("a zeroed layer changes the logits", async () => {
      for (let layer = 0; layer < engine.info.layers; layer++) {
        const edits = [
          { hook: residPost(layer), positions: "all", op: { type: "scale", factor: 0 } },
        ] as const;
        expect(
          largestDifference(await lastLogits(engine, { tokens, edits }), plain),
          `layer ${layer}`,
        ).toBeGreaterThan(1e-3);
      }
    });
  });
}

function best(logits: Float32Array): number {
  return logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));
}

function last(rows: Float32Array, engine: InlineEngine): Float32Array {
  return rows.subarray(rows.length - engine.info.vocabulary);
}
