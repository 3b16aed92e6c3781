import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encodeSae } from "../../src/lens/sae-encode.js";
import { loadSae } from "../../src/lens/sae-files.js";
import { randomDictionary } from "../../src/lens/sae-random.js";
import { rankFeatures } from "../../src/lens/sae-ranking.js";
import { random } from "../../src/stats/random.js";
import { FIXTURES, reference, rows } from "./sae-fixtures.js";

const position = "final token";

describe("randomDictionary", () => {
  it("is unit directions through the mean, of which about half fire", async () => {
    const sae = await loadSae(join(FIXTURES, "saelens-topk"));
    const control = randomDictionary(sae, rows, 1);
    for (let id = 0; id < control.features; id++) {
      let squares = 0;
      for (let i = 0; i < control.width; i++) squares += control.encoder[i * control.features + id]! ** 2;
      expect(squares).toBeCloseTo(1, 5);
    }
    const acts = await encodeSae(control, rows);
    const share = acts.ids.length / (acts.positions * acts.features);
    expect(share).toBeGreaterThan(0.35);
    expect(share).toBeLessThan(0.65);
    expect(randomDictionary(sae, rows, 1).encoder).toEqual(control.encoder);
    expect(randomDictionary(sae, rows, 2).encoder).not.toEqual(control.encoder);
  });

  it("follows what is linear in the activations, and nothing where there is nothing", async () => {
    const sae = await loadSae(join(FIXTURES, "gemma-scope-2.safetensors"));
    const best = async (data: Float32Array) =>
      Math.abs(
        rankFeatures(await encodeSae(randomDictionary(sae, data, 1), data), reference.counts, {
          k: 1,
          position,
        }).top[0]!.r,
      );
    // In the fixture the count runs along one direction.
    expect(await best(rows)).toBeGreaterThan(0.8);
    const draw = random(4, "noise rows");
    expect(await best(rows.map(() => draw.normal()))).toBeLessThan(0.65);
  });
});
