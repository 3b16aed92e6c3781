import { describe, expect, it } from "vitest";
import { type CountProbeOptions, countProbe } from "../../src/lens/count-probe.js";
import { bestLayer, probeClaim } from "../../src/lens/probe-claim.js";
import { type ObservationPlan, plantedObservations } from "./planted.js";

const plan = { to: 90, exactTo: 60, width: 24, slope: 0.5, noise: 0.1, seed: 6 };

async function claimOf(changes: Partial<ObservationPlan>, options: CountProbeOptions = {}) {
  const fit = await countProbe(plantedObservations({ ...plan, ...changes }), {
    permutations: 39,
    resamples: 200,
    ...options,
  });
  return probeClaim(fit, bestLayer(fit), 61);
}

describe("probeClaim", () => {
  it("claims all that is planted: a count, not a position, that ends at the boundary", async () => {
    const claim = await claimOf({ collapse: 60 });
    expect(claim).toMatchObject({ reads: true, countNotPosition: true, fails: true, atBoundary: true });
    expect(claim.text).toMatch(
      /^Layer 0, the final token: counts to 60 held out, R² = (1|0\.99\d*) \[.*\] \(shuffled counts: at most .*p = 0.025\); with position taken out .*; beyond, R² = −.*; the line is left at 6\d(\.5)? \[.*\]; first wrong answer at 61\. Extrapolating by 15 items costs .* where counting works and .* over the boundary \(excess .*\)\.$/,
    );
  });

  it("claims nothing from noise", async () => {
    const claim = await claimOf({ slope: 0 });
    expect(claim).toMatchObject({ reads: false, countNotPosition: false, fails: false, atBoundary: false });
    expect(claim.text).toContain("no count is read");
    expect(claim.text).toContain("that the line is left beyond is not shown");
  });

  it("does not claim a collapse where the line goes on", async () => {
    const claim = await claimOf({});
    expect(claim).toMatchObject({ reads: true, fails: false, atBoundary: false });
    expect(claim.text).toContain("that the line is left beyond is not shown");
    expect(claim.text).not.toContain("the line is left at");
  });

  it("does not take a position for a count", async () => {
    const claim = await claimOf({ shown: (count, offset) => 2 * count + offset });
    expect(claim.countNotPosition).toBe(false);
  });

  it("does not blame the boundary for what a curve does everywhere", async () => {
    const claim = await claimOf({ shown: (count) => count - count ** 2 / 400 });
    expect(claim).toMatchObject({ reads: true, fails: true, atBoundary: false });
    expect(claim.text).toMatch(/the failure beyond may be the line's own\.$/);
  });

  it("says so where wrong answers were fitted and nothing was asked beyond", async () => {
    const claim = await claimOf({ exactTo: 2 }, { fitTo: 90, permutations: 0 });
    expect(claim).toMatchObject({ fails: null, atBoundary: null });
    expect(claim.text).toContain("no shuffled control");
    expect(claim.text).toContain("nothing asked beyond");
    expect(claim.text).toContain("Fitted on wrong answers too: there is no stable range.");
  });
});
