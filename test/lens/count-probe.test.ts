import { describe, expect, it } from "vitest";
import { countProbe } from "../../src/lens/count-probe.js";
import { cosine, planted, plantedObservations, upTo } from "./planted.js";

const plan = { to: 80, exactTo: 50, width: 20, slope: 0.6, noise: 0.12, seed: 12 };

describe("countProbe", () => {
  it.each(["ridge", "covariance", "principal"] as const)(
    "recovers planted direction, slope, noise and collapse, %s",
    async (estimator) => {
      const observed = plantedObservations({ ...plan, collapse: 50 });
      const truth = planted({ ...plan, counts: upTo(80, 4), collapse: 50 });
      const { layers, from, to, rows, fittedOn } = await countProbe(observed, { estimator, permutations: 9 });
      expect([from, to, rows, fittedOn]).toEqual([1, 50, 200, "stable counts"]);
      const { probe, heldOut, collapse } = layers[0]!;
      // Stated errors: direction to a cosine of 0.98 (ridge) or 0.998, slope to 3 % or 1 %, noise to 15 %, collapse to a count.
      const ridge = estimator === "ridge";
      const along = cosine(probe.direction, truth.direction);
      expect(along).toBeGreaterThan(ridge ? 0.98 : 0.998);
      expect(Math.abs(probe.slope / 0.6 - 1)).toBeLessThan(ridge ? 0.03 : 0.01);
      expect(Math.abs(probe.residual / 0.12 - 1)).toBeLessThan(0.15);
      expect(heldOut.rmse).toBeLessThan(0.3);
      expect(Math.abs(collapse!.at! - 50.5)).toBeLessThanOrEqual(1);
      expect(collapse!.interval![0]).toBeLessThanOrEqual(51.5);
      expect(collapse!.interval![1]).toBeGreaterThanOrEqual(50.5);
    },
  );

  it("labels every reading, held out where it was fitted", async () => {
    const observed = plantedObservations(plan);
    const { layers } = await countProbe(observed, { permutations: 0 });
    const { readings, probe, heldOut } = layers[0]!;
    expect(readings.length).toBe(320);
    expect(readings.filter(({ fitted }) => fitted).length).toBe(200);
    expect(readings.filter(({ fitted }) => fitted).map(({ read }) => read)).toEqual([...heldOut.read]);
    const row = readings.findIndex(({ fitted }) => !fitted);
    const values = observed.layers[0]!.rows.data.subarray(row * 20, row * 20 + 20);
    expect(readings[row]!.read).toBe(probe.read(values));
    expect(readings[row]!.projection).toBeCloseTo(probe.project(values), 8);
    expect(readings[row]!.correct).toBe(false);
  });

  it("fits a range or wrong answers only when asked", async () => {
    const observed = plantedObservations(plan);
    expect(await countProbe(observed, { range: [11, 30], permutations: 0 })).toMatchObject({
      from: 11,
      to: 30,
      rows: 80,
    });
    expect(await countProbe(observed, { fitTo: 70, permutations: 0 })).toMatchObject({
      to: 70,
      fittedOn: "all counts up to fitTo",
    });
  });

  it("refuses when all counts failed, when few are left, layers that were not captured, and an aborted signal", async () => {
    const failed = plantedObservations({ ...plan, exactTo: 0 });
    await expect(countProbe(failed)).rejects.toThrow(
      "countProbe: all counts failed, nothing to fit; expected at least 4 that the model answers rightly",
    );
    await expect(countProbe(plantedObservations({ ...plan, exactTo: 3 }))).rejects.toThrow(
      /3 counts below the first error/,
    );
    const observed = plantedObservations(plan);
    await expect(countProbe(observed, { layers: [7] })).rejects.toThrow(
      "countProbe: layer 7 was not captured; there are 0",
    );
    await expect(countProbe(observed, { inner: 1 })).rejects.toThrow(/inner 1/);
    await expect(countProbe(observed, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });
});
