import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { encodeSae } from "../../src/lens/sae-encode.js";
import { loadSae } from "../../src/lens/sae-files.js";
import { chanceJaccard, featureOverlap, rankDisplacement } from "../../src/lens/sae-overlap.js";
import { type FeatureRanking, rankFeatures } from "../../src/lens/sae-ranking.js";
import { FIXTURES, reference, rows } from "./sae-fixtures.js";

describe("overlap of rankings", () => {
  let all: FeatureRanking;
  let first: FeatureRanking;
  beforeAll(async () => {
    const sae = await loadSae(join(FIXTURES, "gemma-scope-2.safetensors"));
    const rank = async (upTo: number) =>
      rankFeatures(
        await encodeSae(sae, rows.subarray(0, upTo * sae.width)),
        reference.counts.slice(0, upTo),
        {
          k: 8,
          position: "final token",
        },
      );
    [all, first] = [await rank(30), await rank(20)];
  });

  it("has scikit-learn's Jaccard", () => {
    const { jaccard, shared } = featureOverlap(all, first);
    expect(jaccard).toBeCloseTo(reference.ranking.jaccard, 12);
    expect(shared.length).toBe(Math.round((16 * jaccard) / (1 + jaccard)));
    expect(featureOverlap(all, all).jaccard).toBe(1);
  });

  it("knows what chance would give", () => {
    expect(Math.abs(chanceJaccard(8, 8, 30) - reference.ranking.chance8of30)).toBeLessThan(0.001);
    expect(chanceJaccard(5, 5, 5)).toBeCloseTo(1, 12);
    expect(chanceJaccard(1, 1, 4)).toBeCloseTo(0.25, 12);
    expect(() => chanceJaccard(5, 5, 4)).toThrow(/sets no larger than the pool/);
  });

  it("says where the top features went", () => {
    const moved = rankDisplacement(all, first);
    expect(moved.map(({ feature }) => feature)).toEqual(reference.ranking.all.top);
    for (const { feature, from, to, by } of moved) {
      const rank = reference.ranking.first20.order.indexOf(feature) + 1;
      expect(to).toBe(rank === 0 ? null : rank);
      expect(by).toBe(rank === 0 ? null : rank - from);
    }
  });

  it("compares like with like only", () => {
    expect(() => featureOverlap(all, { ...first, k: 9 })).toThrow(/top 8 against top 9/);
    expect(() => rankDisplacement(all, { ...first, ranks: new Int32Array(3) })).toThrow(
      /expected the same SAE/,
    );
  });
});
