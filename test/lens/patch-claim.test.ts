import { describe, expect, it } from "vitest";
import { depthClaim, patchVerdict } from "../../src/lens/patch-claim.js";
import { type PatchEffect, patchEffects } from "../../src/lens/patch-effects.js";
import { random } from "../../src/stats/random.js";

const donors = Array.from({ length: 26 }, (_, i) => i + 1);
const layers = [0, 1, 2, 3, 4, 5, 6, 7];

/** Effects of a sweep in which a donor's count is answered with probability `share(layer)`, and under controls with 1 in 26. */
function sweep(share: (layer: number) => number, seed: string, controls = true): PatchEffect[] {
  const draw = random(3, seed);
  const conditions = [
    "patch",
    ...(controls ? (["shuffled donor", "random, equal norm"] as const) : []),
  ] as const;
  const cells = conditions.flatMap((condition) =>
    layers.flatMap((layer) =>
      donors.map((donor) => ({
        layer,
        condition,
        donor,
        decoded: draw.uniform() < (condition === "patch" ? share(layer) : 1 / 26) ? donor : 10,
        gapChange: 0,
      })),
    ),
  );
  return patchEffects({ base: { count: 10 }, cells });
}
const within = (from: number, to: number) => (layer: number) => (layer >= from && layer <= to ? 0.95 : 0);

describe("the claim on depth", () => {
  it("holds where the sequence works from layer 2 and the final token from layer 5", () => {
    const claim = depthClaim(sweep(within(2, 5), "sequence"), sweep(within(5, 7), "final"));
    expect(claim).toMatchObject({ holds: true, earlier: true, most: true });
    expect([claim.sequence.from, claim.sequence.to, claim.final.from]).toEqual([2, 5, 5]);
    expect(claim.said).toMatch(/^sequence patching works earlier .*from layer 2 to 5.*control/);
  });

  it("disappears in planted null data, whatever the final token does", () => {
    for (let seed = 0; seed < 20; seed++) {
      const nothing = sweep(() => 1 / 26, `null ${seed}`);
      expect(depthClaim(nothing, sweep(within(5, 7), "final")).holds).toBe(false);
      expect(
        depthClaim(
          nothing,
          sweep(() => 1 / 26, `other ${seed}`),
        ),
      ).toMatchObject({ holds: false, most: false });
    }
  });

  it("does not hold the other way round, for a minority, or where the controls do the same", () => {
    const final = sweep(within(5, 7), "final");
    expect(depthClaim(final, sweep(within(2, 5), "sequence"))).toMatchObject({
      holds: false,
      earlier: false,
    });
    const minority = depthClaim(
      sweep((layer) => (layer === 2 ? 0.45 : 0), "minority"),
      final,
    );
    expect(minority).toMatchObject({ holds: false, most: false });
    expect(minority.said).toMatch(/^NOT shown/);
    const alike = sweep(within(2, 5), "sequence").map((effect) =>
      effect.control ? { ...effect, effect: 0.9, low: 0.8, high: 0.97 } : effect,
    );
    expect(depthClaim(alike, final)).toMatchObject({ holds: false, earlier: false });
  });

  it("needs controls, and effects measured as shares", () => {
    expect(depthClaim(sweep(within(2, 5), "s", false), sweep(within(5, 7), "f", false)).holds).toBe(false);
    const [one] = sweep(within(2, 5), "s");
    expect(() => depthClaim([{ ...one!, measure: "gap" }], [])).toThrow(/measured as gap; expected moved/);
    expect(patchVerdict("items", []).said).toBe("items: no effect could be estimated");
  });
});
