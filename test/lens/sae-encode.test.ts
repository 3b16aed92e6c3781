import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeSae, encodeSae, featureColumn } from "../../src/lens/sae-encode.js";
import { loadSae } from "../../src/lens/sae-files.js";
import { FIXTURES, reference, rows } from "./sae-fixtures.js";

const load = (name: string) =>
  loadSae(join(FIXTURES, name), name === "saelens-scaled" ? { inputScale: 0.5 } : {});

describe.each(Object.entries(reference.cases))("%s", (name, expected) => {
  it("fires where numpy says, to 1e-6", async () => {
    const acts = await encodeSae(await load(name), rows);
    const entries = Array.from(acts.ids, (id, entry) => {
      const position = acts.offsets.findIndex((offset) => offset > entry) - 1;
      return [position, id, acts.values[entry]!] as const;
    });
    expect(entries.map(([position, id]) => [position, id])).toEqual(
      expected.entries.map(([position, id]) => [position, id]),
    );
    entries.forEach(([, , value], i) => {
      const exact = expected.entries[i]![2];
      expect(Math.abs(value - exact)).toBeLessThan(1e-6 * Math.max(1, Math.abs(exact)));
    });
  });

  it("rebuilds what numpy rebuilds", async () => {
    const sae = await load(name);
    const back = decodeSae(sae, await encodeSae(sae, rows), rows);
    const worst = back.reduce((most, value, i) => Math.max(most, Math.abs(value - expected.back[i]!)), 0);
    expect(worst).toBeLessThan(5e-6);
  });
});

describe("encodeSae", () => {
  it("gives the same whatever else is encoded with it", async () => {
    const sae = await load("gemma-scope-2.safetensors");
    const many = new Float32Array(20 * rows.length);
    for (let i = 0; i < 20; i++) many.set(rows, i * rows.length);
    const [one, all] = [await encodeSae(sae, rows), await encodeSae(sae, many)];
    expect(all.positions).toBe(20 * one.positions);
    for (const copy of [0, 8, 19]) {
      const from = all.offsets[copy * one.positions]!;
      expect(all.ids.slice(from, from + one.ids.length)).toEqual(one.ids);
      expect(all.values.slice(from, from + one.ids.length)).toEqual(one.values);
    }
  });

  it("takes out one feature as a column", async () => {
    const acts = await encodeSae(await load("gemma-scope-2.safetensors"), rows);
    const feature = acts.ids[0]!;
    const column = featureColumn(acts, feature);
    expect(column.filter((value) => value > 0).length).toBe(acts.ids.filter((id) => id === feature).length);
    expect(() => featureColumn(acts, acts.features)).toThrow(/feature 40 out of range; expected 0..39/);
  });

  it("refuses rows of another width, NaN, and activations too dense to keep", async () => {
    const sae = await load("gemma-scope-2.safetensors");
    await expect(encodeSae(sae, new Float32Array(13))).rejects.toThrow(/takes rows of width 12/);
    await expect(encodeSae(sae, new Float32Array(0))).rejects.toThrow(/0 numbers/);
    const broken = rows.slice();
    broken[3 * 12 + 1] = Number.NaN;
    await expect(encodeSae(sae, broken)).rejects.toThrow(/position 3 holds NaN; expected finite activations/);
    await expect(encodeSae(sae, rows, { limit: 80 })).rejects.toThrow(
      /does this SAE belong to this hook point/,
    );
  });

  it("refuses to decode what another SAE encoded, or without the rows it normalised", async () => {
    const sae = await load("saelens-standard");
    const acts = await encodeSae(sae, rows);
    expect(() => decodeSae(sae, acts)).toThrow(/expected the rows that were encoded/);
    expect(() => decodeSae({ ...sae, features: 41 }, acts, rows)).toThrow(/expected its own/);
  });

  it("keeps exactly k where the k-th is tied, the first ones", async () => {
    const sae = await load("saelens-topk");
    const alike = {
      ...sae,
      encoder: new Float32Array(sae.encoder.length),
      encoderBias: new Float32Array(40).fill(2),
    };
    const { decoderNorms: _, ...plain } = alike;
    const acts = await encodeSae({ ...plain, k: 7 }, rows);
    expect([...acts.ids.subarray(0, 14)]).toEqual([0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6]);
  });

  it("stops when it is told to", async () => {
    const sae = await load("gemma-scope-2.safetensors");
    const wide = {
      ...sae,
      features: 400_000,
      encoder: new Float32Array(12 * 400_000).fill(0.1),
      encoderBias: new Float32Array(400_000).fill(-1e9),
      threshold: new Float32Array(400_000),
    };
    const stop = new AbortController();
    // More than one block, whatever the machine does in one of them.
    const many = Float32Array.from({ length: 20 * rows.length }, (_, i) => rows[i % rows.length]!);
    const run = encodeSae(wide, many, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(run).rejects.toThrow(/abort/i);
  });
});
