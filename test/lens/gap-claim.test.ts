import { describe, expect, it } from "vitest";
import { gapClaim } from "../../src/lens/gap-claim.js";
import type { CountGap, LogitGaps } from "../../src/lens/logit-gap.js";
import { stableCounts } from "../../src/lens/stable-counts.js";
import { random } from "../../src/stats/random.js";
import { upTo } from "./planted.js";

/** Gaps and verdicts of counts 1 to 80, as planted. */
function made(gap: (count: number) => number, correct: (count: number) => boolean, without = gap): LogitGaps {
  const counts = upTo(80);
  const gaps = counts.map((count): CountGap => {
    const least = { competitor: "0", at: 0 };
    return {
      count,
      tokens: Int32Array.of(1),
      margins: Float32Array.of(without(count), gap(count)),
      competitorIds: Int32Array.of(0, 0),
      competitors: ["0", "0"],
      text: "",
      said: null,
      correct: correct(count),
      decoded: false,
      withEnd: { gap: gap(count), ...least },
      withoutEnd: { gap: without(count), ...least },
    };
  });
  const firstNegative = gaps.find(({ withEnd }) => withEnd.gap < 0)?.count ?? null;
  return {
    model: "made",
    gaps,
    firstNegative,
    ...stableCounts(counts, counts.map(correct)),
    stats: { requests: 80, tokensAsked: 0, tokensEvaluated: 0, decodes: 0, ms: 0 },
  };
}

const draw = random(2, "gaps");
const noise = upTo(200).map(() => draw.normal());

describe("gapClaim", () => {
  it("claims a gap that falls and changes sign at the boundary", () => {
    const result = made(
      (n) => (n <= 50 ? 12 - n / 5 + noise[n]! / 2 + 1 : -5),
      (n) => n <= 50,
      () => 3,
    );
    const claim = gapClaim(result);
    expect(claim).toMatchObject({ changesAtBoundary: true, agrees: 1 });
    expect(claim.trend!.falls).toBe(true);
    expect(claim.sign!.step.middle).toBe(50.5);
    expect(claim.text).toMatch(
      /^In the stable range the gap falls \(rank correlation with the count −0\.9.*\); first negative at 51; its sign changes at the boundary \(step at 50\.5 \[50\.5, 50\.5\], step; answers turn wrong at 50\.5 \[50\.5, 50\.5\]; first wrong answer 51\); without the end of the answer it never does; sign and answer agree at 100 % of 80 counts\.$/,
    );
  });

  it("is not misled by a slip below the boundary", () => {
    const claim = gapClaim(
      made(
        (n) => (n <= 50 && n !== 43 ? 12 - n / 5 : -5),
        (n) => n <= 50 && n !== 43,
      ),
    );
    expect(claim.changesAtBoundary).toBe(true);
    expect(claim.boundary!.step.middle).toBe(50.5);
    expect(claim.text).toContain("first wrong answer 43");
    // The same answers beside a gap that turns at the slip.
    const early = made(
      (n) => 42.5 - n,
      (n) => n <= 50 && n !== 43,
    );
    expect(gapClaim(early).changesAtBoundary).toBe(false);
  });

  it("claims no fall from noise, and no change of sign that is nowhere in particular", () => {
    const claim = gapClaim(
      made(
        (n) => noise[n]!,
        (n) => n <= 50,
      ),
    );
    expect(claim.trend!.falls).toBe(false);
    expect(claim.changesAtBoundary).toBe(false);
    expect(claim.text).toContain("does not fall");
    expect(claim.text).toContain("its sign is not shown to change at the boundary");
    expect(claim.agrees).toBeLessThan(0.75);
  });

  it("claims no boundary where the gap never turns, turns elsewhere, or gets better", () => {
    const never = gapClaim(
      made(
        (n) => 10 - n / 10,
        (n) => n <= 50,
      ),
    );
    expect(never).toMatchObject({ sign: null, changesAtBoundary: false });
    expect(never.text).toContain("it never turns negative");
    expect(
      gapClaim(
        made(
          (n) => 30.5 - n,
          (n) => n <= 50,
        ),
      ).changesAtBoundary,
    ).toBe(false);
    expect(
      gapClaim(
        made(
          (n) => n - 50.5,
          (n) => n <= 50,
        ),
      ).changesAtBoundary,
    ).toBe(false);
  });

  it("says what cannot be said of a model that counts nothing", () => {
    const claim = gapClaim(
      made(
        () => -3,
        () => false,
      ),
    );
    expect(claim).toMatchObject({ trend: null, sign: null, changesAtBoundary: false, agrees: 1 });
    expect(claim.text).toContain("Too few counts are stable");
    expect(claim.text).toContain("it is negative from 1 on");
  });
});
