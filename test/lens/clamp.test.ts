import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import { clampCounts, clampEdits, type LayerProbe, randomVector } from "../../src/lens/clamp.js";
import { clampEffects, rescueClaim } from "../../src/lens/clamp-effects.js";
import { countingActivations } from "../../src/lens/counting-activations.js";
import { fitProbe } from "../../src/lens/probe-fit.js";
import { steeringCurve, steeringGains } from "../../src/lens/steering.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { wilson } from "../../src/stats/proportion.js";
import { countingPrompt } from "../../src/tasks/counting.js";

const quiet = { onProgress: () => {} };
/** Counts that the model is asked rightly, and wrongly on purpose: a prompt of one item more fails at every count. */
const offByOne = (count: number) => countingPrompt(count + 1);

describe("clamping on tally-25k", () => {
  let model: Model;
  let probes: LayerProbe[];
  beforeAll(async () => {
    model = await open("tally-25k", { isolated: false, threads: 1 });
    const counts = Array.from({ length: 24 }, (_, i) => i + 1);
    const { final } = await countingActivations(model, { ...quiet, counts, fillers: 1 });
    probes = final.layers.map(({ layer, rows }) => ({ layer, probe: fitProbe(rows, final.counts) }));
  });
  afterAll(() => model.close());

  it("moves the projection to what the line says and leaves the orthogonal part", async () => {
    const [{ layer, probe }] = probes as [LayerProbe];
    const { tokens } = await model.prompt(countingPrompt(7));
    const captures = [{ hook: residPost(layer), positions: [-1] }];
    const edits = clampEdits([layer], new Map([[layer, probe]]), 20, -1);
    const { results } = await model.evaluate([
      { tokens, captures },
      { tokens, captures, edits },
    ]);
    const [before, after] = results.map((result) => result.captures[0]!.data) as [Float32Array, Float32Array];
    expect(probe.read(after)).toBeCloseTo(20, 3);
    const step = probe.project(after) - probe.project(before);
    after.forEach((value, k) => {
      expect(value).toBeCloseTo(before[k]! + step * probe.direction[k]!, 4);
    });
  });

  it("has every condition on both directions for every trial, with shifts of equal norm", async () => {
    const options = { ...quiet, counts: [3, 4, 5, 6], trials: 3, prompt: offByOne, seed: 2 };
    const clamps = await clampCounts(model, probes, options);
    expect(clamps).toMatchObject({ failures: 4, asked: 4 });
    const conditions = ["layer 0", "layer 1", "layers 0 to 1", "while generating"];
    expect(
      clampEffects(clamps.trials).map(({ condition, direction }) => `${condition} ${direction}`),
    ).toEqual(conditions.flatMap((name) => [`${name} count`, `${name} random`]));
    expect(clamps.trials.length).toBe(4 * 2 * 3);
    for (const { rescued, decoded, count, moved } of clamps.trials) {
      expect(rescued).toBe(decoded === count);
      expect(moved).toBeGreaterThan(0);
    }
    // Where it is clamped the error is gone; unclamped it is about the item too many.
    const at = (condition: string, layer: number) =>
      clamps.residuals.find((row) => row.condition === condition && row.layer === layer)!.error;
    expect(at("layer 1", 1)).toBeLessThan(1e-2);
    expect(at("unclamped", 1)).toBeGreaterThan(0.2);
    expect(clamps.residuals.some(({ condition, layer }) => condition === "layer 1" && layer === 0)).toBe(
      false,
    );
    expect((await clampCounts(model, probes, options)).trials).toEqual(clamps.trials);
  });

  it("clamping a state to where it is changes nothing", async () => {
    const { tokens } = await model.prompt(countingPrompt(9));
    const exact = probes.map(({ layer, probe }) => ({ layer, probe: { ...probe, expected: () => 0 } }));
    const captured = await model.evaluate([
      { tokens, captures: exact.map(({ layer }) => ({ hook: residPost(layer), positions: [-1] })) },
    ]);
    const own = exact.map(({ layer, probe }, l) => ({
      layer,
      probe: { ...probe, expected: () => probe.project(captured.results[0]!.captures[l]!.data) },
    }));
    const { trials } = await clampCounts(model, own, { ...quiet, counts: [8], prompt: offByOne });
    for (const { gapChange, moved, direction } of trials) {
      expect(moved).toBeLessThan(1e-3);
      if (direction === "count") expect(Math.abs(gapChange)).toBeLessThan(1e-3);
    }
  });

  it("refuses bad input before any work, and counts that do not fail", async () => {
    const other = { ...probes[0]!.probe, width: 31 };
    await expect(clampCounts(model, [], quiet)).rejects.toThrow(/no probes/);
    await expect(clampCounts(model, [{ layer: 0, probe: other }], quiet)).rejects.toThrow(/is 31 wide/);
    await expect(clampCounts(model, [{ ...probes[0]!, layer: 50 }], quiet)).rejects.toThrow(
      /has no residPost\(50\)/,
    );
    await expect(clampCounts(model, probes, { ...quiet, counts: [0] })).rejects.toThrow(/count 0/);
    await expect(clampCounts(model, probes, { ...quiet, trials: 0 })).rejects.toThrow(/trials 0/);
    const missing = { ...quiet, conditions: [{ name: "deep", layers: [7] }] };
    await expect(clampCounts(model, probes, missing)).rejects.toThrow(
      /deep clamps layer 7; there are probes/,
    );
    await expect(clampCounts(model, probes, { ...quiet, counts: [4, 5] })).rejects.toThrow(
      /none of 2 prompts of 4 to 5 items fails, so there is nothing to rescue/,
    );
    await expect(steeringCurve(model, probes, { ...quiet, steps: [] })).rejects.toThrow(/steps \(none\)/);
  });

  it("steers: no step, no move; answers belong to their cells", async () => {
    const rows = await steeringCurve(model, probes, { ...quiet, counts: [4, 7], steps: [0, 3] });
    expect(rows.length).toBe(probes.length * 2 * 2 * 2);
    for (const { step, moved } of rows) if (step === 0) expect(moved).toBe(0);
  });
});

describe("what clamping shows, on planted trials", () => {
  const plant = (rescued: number, random: number) =>
    (["count", "random"] as const).flatMap((direction) =>
      Array.from({ length: 40 }, (_, i) => ({
        condition: "layer 3",
        direction,
        rescued: i < (direction === "count" ? rescued : random),
        gapChange: direction === "count" ? 2 + (i % 2) : 0,
        moved: 5,
      })),
    );

  it("counts, intervals and mean gaps are exact", () => {
    const [count, control] = clampEffects(plant(12, 1));
    expect(count).toMatchObject({
      rescued: 12,
      trials: 40,
      low: wilson(12, 40).low,
      gapChange: 2.5,
      moved: 5,
    });
    expect(control).toMatchObject({ rescued: 1, gapChange: 0, gapLow: 0, gapHigh: 0 });
  });

  it("a rescue is claimed above the control, and disappears without a difference", () => {
    expect(rescueClaim(clampEffects(plant(12, 1)))).toMatchObject({ holds: true });
    expect(rescueClaim(clampEffects(plant(12, 1))).said).toMatch(/^clamping rescues .*12 of 40 \(30 % \[/);
    for (const [rescued, random] of [
      [0, 0],
      [3, 2],
      [12, 12],
      [5, 1],
    ] as const) {
      const claim = rescueClaim(clampEffects(plant(rescued, random)));
      expect(claim.holds).toBe(false);
      expect(claim.said).toMatch(/^NOT shown/);
    }
    const alone = clampEffects(plant(30, 0)).filter(({ direction }) => direction === "count");
    expect(rescueClaim(alone).holds).toBe(false);
    expect(() => rescueClaim([])).toThrow(/no clamped trials/);
  });

  it("gains of steering curves are exact", () => {
    const rows = ([0.5, 1] as const).flatMap((gain, layer) =>
      [5, 9, 12].flatMap((count) =>
        [-4, -2, 2, 4].map((step) => ({
          ...{ layer, direction: "count" as const, count, step, decoded: count + gain * step },
          moved: count === 12 && step === 4 ? null : gain * step,
        })),
      ),
    );
    const gains = steeringGains(rows);
    expect(gains.map(({ gain, n }) => [gain, n])).toEqual([
      [0.5, 11],
      [1, 11],
    ]);
    for (const { gain, low, high } of gains) {
      expect(low).toBeCloseTo(gain, 12);
      expect(high).toBeCloseTo(gain, 12);
    }
    expect(steeringGains(rows.filter(({ count }) => count === 5))).toEqual([]);
  });

  it("random vectors have the length asked, whatever its sign, and are seeded", () => {
    const vector = randomVector(50, -3, "a");
    expect(Math.hypot(...vector)).toBeCloseTo(3, 5);
    expect(randomVector(50, -3, "a")).toEqual(vector);
    expect(randomVector(50, -3, "b")).not.toEqual(vector);
  });
});
