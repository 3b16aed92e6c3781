/** What the organisms must show inside: the acceptance, held against whatever their boundary is. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countProbe } from "../../src/lens/count-probe.js";
import { type CountingActivations, countingActivations } from "../../src/lens/counting-activations.js";
import { gapClaim } from "../../src/lens/gap-claim.js";
import { logitGap } from "../../src/lens/logit-gap.js";
import { overtaking } from "../../src/lens/overtaking.js";
import { bestLayer, probeClaim } from "../../src/lens/probe-claim.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";

const counts = Array.from({ length: 150 }, (_, i) => i + 1);

describe.each(["tally-400k", "tally-1m6"])("%s", (name) => {
  let model: Model;
  let seen: CountingActivations;
  beforeAll(async () => {
    model = await open(name, { gpu: false, threads: 1, isolated: false });
    seen = await countingActivations(model, { counts, fillers: 2, fillerWords: 20 });
  }, 600_000);
  afterAll(() => model.close());

  it("reads held-out counts at some layer with R2 above 0.98, count and not position, and fails beyond", async () => {
    const fits = [
      await countProbe(seen.final, { permutations: 19, resamples: 200 }),
      await countProbe(seen.items, { permutations: 19, resamples: 200 }),
    ];
    const best = fits.map(bestLayer);
    const which = best[1]!.heldOut.r2 > best[0]!.heldOut.r2 ? 1 : 0;
    const { heldOut, beyond, partial } = best[which]!;
    expect(heldOut.r2).toBeGreaterThan(0.98);
    expect(heldOut.control!.highest).toBeLessThan(0.5);
    expect(partial!.r2).toBeGreaterThan(0.5);
    expect(beyond!.r2).toBeLessThan(0.5);
    expect(probeClaim(fits[which]!, best[which]!, seen.firstError)).toMatchObject({
      reads: true,
      countNotPosition: true,
      fails: true,
    });
  }, 600_000);

  it("has a gap that falls and changes sign at the behavioural boundary", async () => {
    const result = await logitGap(model, { counts });
    expect(result.firstError).toBe(seen.firstError);
    const claim = gapClaim(result);
    expect(claim.trend!.falls).toBe(true);
    expect(claim.changesAtBoundary).toBe(true);
    expect(claim.agrees).toBeGreaterThan(0.95);
  }, 600_000);

  it("has failed counts overtaken at the last layer, and successful ones not", async () => {
    const wrong = seen.answers.filter(
      ({ condition, correct, said }) => condition === 0 && !correct && said !== null && said >= 0,
    );
    const failed = await overtaking(
      model,
      wrong.slice(0, 10).map(({ count, said }) => ({ count, against: said! })),
    );
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every(({ from }) => from !== null)).toBe(true);
    const right = counts.filter((count) => count <= seen.stableTo! && count !== wrong[0]!.said).slice(-10);
    const held = await overtaking(
      model,
      right.map((count) => ({ count, against: wrong[0]!.said! })),
    );
    expect(held.every(({ from }) => from === null)).toBe(true);
  }, 600_000);
});
