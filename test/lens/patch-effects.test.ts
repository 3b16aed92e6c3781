import { describe, expect, it } from "vitest";
import { type PatchRows, patchEffects } from "../../src/lens/patch-effects.js";
import { wilson } from "../../src/stats/proportion.js";

const donors = Array.from({ length: 26 }, (_, i) => i + 1);

/** A scripted patch: at layer 1 nothing moves, at layer 2 the answer is half way, at layer 3 it is the donor's but for donor 20. */
const planted: PatchRows = {
  base: { count: 10 },
  cells: donors.flatMap((donor) =>
    ([1, 2, 3] as const).map((layer) => ({
      layer,
      condition: "patch" as const,
      donor,
      decoded: layer === 1 ? 10 : layer === 2 ? (donor + 10) / 2 : donor === 20 ? null : donor,
      gapChange: donor === 10 ? 0 : 4 * layer,
    })),
  ),
};

describe("patchEffects", () => {
  it("finds the share of donors moved exactly, the recipient's own count left out", () => {
    const [first, second, third] = patchEffects(planted);
    expect([first!.effect, second!.effect, third!.effect]).toEqual([0, 0, 24 / 25]);
    expect([third!.low, third!.high]).toEqual([wilson(24, 25).low, wilson(24, 25).high]);
    expect(third).toMatchObject({ n: 25, condition: "patch", control: false, layer: 3 });
  });

  it("finds the share of donors whose first digit is answered, where it differs from the recipient's", () => {
    const shares = patchEffects(planted, { measure: "first digit" });
    // 2 to 9 and 20 to 26 begin with another digit than 10; half way, 30 / 2 = 15 begins with 1 and 2 + 10 halved with 6.
    expect(shares.map(({ n }) => n)).toEqual([15, 15, 15]);
    const half = donors.filter(
      (donor) => String(donor)[0] !== "1" && String((donor + 10) / 2)[0] === String(donor)[0],
    );
    expect(shares.map(({ effect }) => effect)).toEqual([0, half.length / 15, 14 / 15]);
  });

  it("finds the slope of the decoded count exactly: 0, one half and 1, answers without a number left out", () => {
    const slopes = patchEffects(planted, { measure: "slope" });
    expect(slopes.map(({ effect }) => effect)).toEqual([0, 0.5, 1]);
    for (const { effect, low, high } of slopes) {
      expect(low).toBeCloseTo(effect, 12);
      expect(high).toBeCloseTo(effect, 12);
    }
    expect(slopes.map(({ n }) => n)).toEqual([26, 26, 25]);
  });

  it("finds the mean change of the gap exactly", () => {
    expect(patchEffects(planted, { measure: "gap" }).map(({ effect }) => effect)).toEqual([4, 8, 12]);
  });

  it("keeps controls apart, leaves out self and what cannot be estimated", () => {
    const cells = [
      ...planted.cells,
      ...donors.map((donor) => ({
        ...{ layer: 1, condition: "random, equal norm" as const, donor, decoded: 10, gapChange: 0 },
      })),
      { layer: 1, condition: "self" as const, donor: 10, decoded: 10, gapChange: 0 },
      { layer: 9, condition: "patch" as const, donor: 3, decoded: 3, gapChange: 0 },
    ];
    const effects = patchEffects({ ...planted, cells });
    expect(effects.map(({ layer, condition, control }) => `${layer} ${condition} ${control}`)).toEqual([
      "1 patch false",
      "2 patch false",
      "3 patch false",
      "1 random, equal norm true",
    ]);
    expect(patchEffects({ base: { count: 10 }, cells: [] })).toEqual([]);
  });

  it("draws the same intervals for the same seed", () => {
    const noisy = {
      ...planted,
      cells: planted.cells.map((cell, i) => ({ ...cell, gapChange: cell.gapChange + (i % 7) })),
    };
    const draw = (seed: number) => patchEffects(noisy, { measure: "gap", seed });
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });
});
