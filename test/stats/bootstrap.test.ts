import { describe, expect, it } from "vitest";
import { bootstrap, quantile } from "../../src/stats/bootstrap.js";
import { close, reference } from "./reference.js";

const { z } = reference.correlation;
const mean = (row: readonly number[]) => row.reduce((sum, i) => sum + (z[i] as number), 0) / row.length;

describe("bootstrap", () => {
  it("agrees with scipy's intervals within the noise of resampling", () => {
    const percentile = bootstrap(z.length, mean, { seed: 1, resamples: 10_000 });
    const bca = bootstrap(z.length, mean, { seed: 1, resamples: 10_000, method: "bca" });
    for (const [got, expected] of [
      [percentile, reference.bootstrapMean.percentile],
      [bca, reference.bootstrapMean.bca],
    ] as const) {
      close(got.low, expected[0], 0.03);
      close(got.high, expected[1], 0.03);
      close(got.se, reference.bootstrapMean.se, 0.02);
    }
    expect(bca.low).toBeGreaterThan(percentile.low);
    expect(bootstrap(z.length, mean, { seed: 1, resamples: 10_000 })).toEqual(percentile);
  });

  it("draws whole clusters: copies of a row add nothing", () => {
    const rows = z.flatMap((value) => [value, value, value, value]);
    const clusters = rows.map((_, i) => Math.floor(i / 4));
    const of = (row: readonly number[]) => row.reduce((sum, i) => sum + (rows[i] as number), 0) / row.length;
    const clustered = bootstrap(rows.length, of, { seed: 2, clusters });
    const naive = bootstrap(rows.length, of, { seed: 2 });
    close(clustered.se, reference.bootstrapMean.se, 0.04);
    expect(naive.se).toBeLessThan(0.6 * clustered.se);
  });

  it("refuses what has no interval, and counts resamples that failed", () => {
    expect(() => bootstrap(1, mean, { seed: 1 })).toThrow("bootstrap: 1 rows");
    expect(() => bootstrap(3, () => Number.NaN, { seed: 1 })).toThrow("the statistic of the data is NaN");
    expect(() => bootstrap(3, mean, { seed: 1, clusters: ["a", "a", "a"] })).toThrow("one cluster");
    const some = bootstrap(4, (row) => (row.includes(0) ? 1 : Number.NaN), { seed: 1, resamples: 400 });
    expect(some.failed).toBeGreaterThan(60);
    expect(some.failed).toBeLessThan(200);
  });

  it("interpolates quantiles", () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile([1, 2, 3, 4], 1)).toBe(4);
  });
});
