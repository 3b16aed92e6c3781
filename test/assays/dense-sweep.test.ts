import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { fromModel } from "../../src/assays/answerer.js";
import { countingCapacity } from "../../src/assays/counting-capacity.js";
import { boundaryOf, capacitySpread, denseSweep, ladderFromSweep } from "../../src/assays/dense-sweep.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";

const organism = fileURLToPath(new URL("../../data/organisms/tally-25k.gguf", import.meta.url));

describe("boundaryOf", () => {
  const rows = (exact: string, first = 1) =>
    Array.from(exact, (c, i) => ({ target: first + i, exact: c === "+" }));

  it.each([
    ["+++++", 1, { exactTo: 5, firstError: null, lastExact: 5, exact: 1 }],
    ["++-+-", 10, { exactTo: 11, firstError: 12, lastExact: 13, exact: 0.6 }],
    ["-++", 1, { exactTo: null, firstError: 1, lastExact: 3, exact: 2 / 3 }],
    ["---", 1, { exactTo: null, firstError: 1, lastExact: null, exact: 0 }],
    ["", 1, { exactTo: null, firstError: null, lastExact: null, exact: 0 }],
  ])("%s from %i", (exact, first, expected) => {
    expect(boundaryOf(rows(exact, first))).toEqual(expected);
    expect(boundaryOf(rows(exact, first).reverse())).toEqual(expected);
  });

  it("needs every trial of a count to be exact", () => {
    expect(boundaryOf([...rows("+++"), { target: 2, exact: false }]).exactTo).toBe(1);
  });
});

describe("ladderFromSweep", () => {
  const upTo = (n: number, exactTo: number, then: number) =>
    Array.from({ length: n }, (_, i) => ({ target: i + 1, prediction: i < exactTo ? i + 1 : then }));

  it("explains why a boundary is not the capacity", async () => {
    // Exact to 64 and constant after: a tier of 64 asks up to 77, and its errors there average below 0.05.
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, seed) => ladderFromSweep(upTo(400, 64, 64), { seed })),
    );
    expect(capacitySpread(results)).toMatchObject({ smallest: 32, largest: 64 });
    const lost = await ladderFromSweep(upTo(400, 26, 26), { seed: 1 });
    expect(lost.label).toBe("<32");
  });

  it("is out of reach where the sweep ends", async () => {
    const result = await ladderFromSweep(upTo(100, 100, 0));
    expect(result.end).toBe("outOfReach");
    expect(result.reason).toMatch(/^tier 128 asks for \d+, which the sweep does not have$/);
    expect(result.label).toBe(">=64");
  });
});

describe("capacitySpread", () => {
  it("counts labels and keeps <32 as 0", () => {
    const of = (label: string, plotted: number) => ({ label, plotted });
    expect(capacitySpread([of("64", 64), of("<32", 0), of("64", 64), of("96", 96)])).toEqual({
      labels: ["64", "<32", "64", "96"],
      counts: [
        { label: "<32", plotted: 0, seeds: 1 },
        { label: "64", plotted: 64, seeds: 2 },
        { label: "96", plotted: 96, seeds: 1 },
      ],
      smallest: 0,
      median: 64,
      largest: 96,
    });
    expect(capacitySpread([of("32", 32), of("64", 64)]).median).toBe(48);
    expect(() => capacitySpread([])).toThrow("capacitySpread: no results");
  });
});

describe.skipIf(!existsSync(organism))("on an organism", () => {
  let model: Model | undefined;
  const answerer = async () => {
    model ??= await open(organism, { threads: 1, isolated: false });
    return fromModel(model, { maxTokens: 32 });
  };
  afterAll(async () => model?.close());

  it("the sweep predicts the ladder exactly, tier by tier", async () => {
    const subject = await answerer();
    const sweep = await denseSweep(subject, { to: 154 });
    expect(sweep.trials.map(({ target }) => target)).toEqual(Array.from({ length: 154 }, (_, i) => i + 1));
    expect(sweep.boundary.exactTo).toBeGreaterThan(10);
    expect(sweep.tokensSaved).toBeGreaterThan(0.9);
    const seeds = [1, 2];
    for (const seed of seeds) {
      const run = await countingCapacity(subject, { seed, ceiling: 128 });
      const predicted = await ladderFromSweep(sweep.trials, { seed, ceiling: 128 });
      expect(predicted.tiers.map(({ length, nMAE }) => [length, nMAE])).toEqual(
        run.tiers.map(({ length, nMAE }) => [length, nMAE]),
      );
      expect(predicted.label).toBe(run.label);
    }
  });

  it("asks what fits the context and says where it stopped", async () => {
    const subject = await answerer();
    const sweep = await denseSweep(subject, { from: 400, to: 600, step: 20, batch: 4 });
    expect(sweep.stopped).toMatch(/^count \d+: a prompt of \d+ tokens needs 16 more .* is 1024$/);
    const asked = sweep.trials.map(({ target }) => target);
    expect(asked.length).toBeGreaterThan(2);
    expect(sweep.stopped).toContain(`count ${(asked.at(-1) ?? 0) + 20}:`);
  });

  it("refuses a range that is none", async () => {
    const subject = await answerer();
    await expect(denseSweep(subject, { from: 5, to: 4 })).rejects.toThrow(
      "denseSweep: from 5 to 4; expected from <= to",
    );
    await expect(denseSweep(subject, { to: 4, step: 0 })).rejects.toThrow("denseSweep: step 0; expected");
  });
});
