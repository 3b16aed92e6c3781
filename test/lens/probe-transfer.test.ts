import { describe, expect, it } from "vitest";
import { countProbe } from "../../src/lens/count-probe.js";
import { probeTransfer, transferSet } from "../../src/lens/probe-transfer.js";
import { plantedObservations } from "./planted.js";

const plan = { to: 30, exactTo: 30, width: 32, slope: 1, noise: 0.1 };
const set = async (name: string, seed: number, shown?: (count: number) => number) => {
  const observed = plantedObservations({ ...plan, seed, ...(shown && { shown }) });
  const { layers } = await countProbe(observed, { permutations: 0, estimator: "covariance" });
  return transferSet(name, observed, layers[0]!);
};

describe("probeTransfer", () => {
  it("tells one counter, another offset, and another counter apart", async () => {
    const [one, offset, other] = await Promise.all([
      set("one", 1),
      set("offset", 1, (n) => n + 40),
      set("other", 2),
    ]);
    const rows = probeTransfer([one, offset, other]);
    expect(rows.length).toBe(9);
    const of = (probe: string, on: string) => rows.find((row) => row.probe === probe && row.rows === on)!;
    expect(of("one", "one").cosine).toBeCloseTo(1, 6);
    expect(of("one", "one").r2).toBeGreaterThan(0.99);
    expect(of("one", "offset").cosine).toBeGreaterThan(0.99);
    expect(of("one", "offset").r2).toBeLessThan(0);
    expect(of("one", "offset").correlation2).toBeGreaterThan(0.99);
    // Two random directions in 32 dimensions.
    expect(Math.abs(of("one", "other").cosine)).toBeLessThan(3 * of("one", "other").chance);
    expect(of("one", "other").r2).toBeLessThan(0.5);
  });

  it("is held out on its own rows", async () => {
    const one = await set("one", 1);
    expect(one.heldOut).not.toEqual(
      Array.from(one.counts, (_, i) => one.probe.read(one.rows.data.subarray(32 * i, 32 * i + 32))),
    );
  });

  it("refuses a single set and other widths", async () => {
    const one = await set("one", 1);
    expect(() => probeTransfer([one])).toThrow(/1 sets; expected at least 2/);
    const narrow = { ...one, name: "narrow", rows: { data: new Float32Array(4), width: 2 } };
    expect(() => probeTransfer([one, narrow])).toThrow(
      /set "narrow" has width 32 and rows of 2; expected 32/,
    );
  });
});
