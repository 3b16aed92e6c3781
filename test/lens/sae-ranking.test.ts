import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { encodeSae, type SparseActivations } from "../../src/lens/sae-encode.js";
import { loadSae } from "../../src/lens/sae-files.js";
import { featureProfiles, permutedTop, rankFeatures } from "../../src/lens/sae-ranking.js";
import { random } from "../../src/stats/random.js";
import { FIXTURES, reference, rows } from "./sae-fixtures.js";
import { sparse } from "./sae-planted.js";

const { counts, ranking: expected } = reference;
const position = "final token";

describe("rankFeatures", () => {
  let acts: SparseActivations;
  let some: SparseActivations;
  beforeAll(async () => {
    const sae = await loadSae(join(FIXTURES, "gemma-scope-2.safetensors"));
    acts = await encodeSae(sae, rows);
    some = await encodeSae(sae, rows.subarray(0, 20 * sae.width));
  });

  it("agrees with scikit-learn to 1e-6, order included", () => {
    for (const [own, wanted] of [
      [rankFeatures(acts, counts, { k: 8, position }), expected.all],
      [rankFeatures(some, counts.slice(0, 20), { k: 8, position }), expected.first20],
    ] as const) {
      own.r.forEach((r, id) => {
        if (wanted.r[id] === null) expect(r).toBeNaN();
        else expect(Math.abs(r - wanted.r[id]!)).toBeLessThan(1e-6);
      });
      expect(own.top.map(({ feature }) => feature)).toEqual(wanted.top);
      expect(own.ranked).toBe(wanted.order.length);
      wanted.order.forEach((feature, i) => {
        expect(own.ranks[feature]).toBe(i + 1);
      });
    }
  });

  it("ranks by r when asked, and states what the ranking holds for", () => {
    const rising = rankFeatures(acts, counts, { k: 5, by: "r", position: "item tokens" });
    const all = [...rising.r].filter((r) => !Number.isNaN(r)).sort((a, b) => b - a);
    expect(rising.top.map(({ r }) => r)).toEqual(all.slice(0, 5));
    expect(rising.says).toBe(
      `top 5 of ${rising.ranked} features by r, item tokens, counts 1 to 30 (30 positions)`,
    );
  });

  it("gives a constant feature and a silent one no rank", () => {
    const made = sparse([
      [0.1, 1, 0],
      [0.1, 2, 0],
      [0.1, 3, 0],
    ]);
    const { ranks, r, ranked, top } = rankFeatures(made, [1, 2, 3], { k: 3, position });
    expect([...ranks]).toEqual([0, 1, 0]);
    expect([r[0], r[2]]).toEqual([Number.NaN, Number.NaN]);
    expect(ranked).toBe(1);
    expect(top).toEqual([{ feature: 1, rank: 1, r: 1, fires: 1 }]);
  });

  it("refuses counts that cannot be ranked by", () => {
    expect(() => rankFeatures(acts, [1, 2], { position })).toThrow(/2 counts for 30 positions/);
    expect(() =>
      rankFeatures(
        acts,
        counts.map(() => 4),
        { position },
      ),
    ).toThrow(/every count is 4/);
    const broken = [...counts];
    broken[2] = Number.NaN;
    expect(() => rankFeatures(acts, broken, { position })).toThrow(/count NaN at position 2/);
    expect(() => rankFeatures(acts, counts, { k: 41, position })).toThrow(/k 41; expected .* from 1 to 40/);
    const two = sparse([[1], [2]]);
    expect(() => rankFeatures(two, [1, 2], { k: 1, position })).toThrow(/are there successful counts at all/);
  });

  it("averages profiles over the positions of a count", () => {
    const made = sparse([
      [1, 5],
      [3, 5.5],
      [4, 9],
    ]);
    const twice = [1, 1, 2];
    const ranking = rankFeatures(made, twice, { k: 1, position });
    const profile = featureProfiles(made, twice, ranking);
    const { feature, r } = ranking.top[0]!;
    expect(profile).toEqual(
      feature === 1
        ? [
            { feature, count: 1, activation: 5.25, r },
            { feature, count: 2, activation: 9, r },
          ]
        : [
            { feature, count: 1, activation: 2, r },
            { feature, count: 2, activation: 4, r },
          ],
    );
  });
});

describe("permutedTop", () => {
  const draw = random(11, "planted");
  const noise = Array.from({ length: 60 }, () =>
    Array.from({ length: 300 }, () => Math.max(0, draw.normal())),
  );
  const own = Array.from({ length: 60 }, (_, i) => i + 1);

  it("lets a planted feature stand and a best of pure noise fall", () => {
    const planted = noise.map((row, i) => [own[i]! / 60, ...row.slice(1)]);
    const found = rankFeatures(sparse(planted), own, { k: 1, position }).top[0]!;
    expect(found.feature).toBe(0);
    const real = permutedTop(sparse(planted), own, found.r, { seed: 1 });
    expect(real.p).toBeCloseTo(1 / 201, 10);
    expect(Math.abs(found.r)).toBeGreaterThan(real.limit);

    const best = rankFeatures(sparse(noise), own, { k: 1, position }).top[0]!;
    const chance = permutedTop(sparse(noise), own, best.r, { seed: 1 });
    // The best of 300 looks strong on its own and is nothing beside its control.
    expect(Math.abs(best.r)).toBeGreaterThan(0.3);
    expect(chance.p).toBeGreaterThan(0.05);
  });

  it("is the same for the same seed", () => {
    const made = sparse(noise);
    const run = (seed: number) => permutedTop(made, own, 0.5, { seed, permutations: 20 }).largest;
    expect(run(2)).toEqual(run(2));
    expect(run(2)).not.toEqual(run(3));
  });
});
