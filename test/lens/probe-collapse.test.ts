import { describe, expect, it } from "vitest";
import { extrapolation, probeCollapse } from "../../src/lens/probe-collapse.js";
import { random } from "../../src/stats/random.js";
import { upTo } from "./planted.js";

const counts = upTo(100);
const draw = random(4, "collapse");
const noise = counts.map(() => draw.normal(0, 0.15));
const reading = (shown: (count: number) => number) => counts.map((count, i) => shown(count) + noise[i]!);

describe("probeCollapse", () => {
  it("finds a planted collapse to within the tolerance, with an interval that holds what it found", () => {
    for (const end of [30, 61, 84]) {
      // A plateau leaves the line by one item a count: half an item off is half a count late.
      const { at, interval, verdict, before, after } = probeCollapse(
        reading((n) => Math.min(n, end)),
        counts,
        0.6,
      );
      expect(verdict).toBe("step");
      expect(Math.abs(at! - (end + 0.5))).toBeLessThanOrEqual(1);
      expect(interval![0]).toBeLessThanOrEqual(at!);
      expect(interval![1]).toBeGreaterThanOrEqual(at!);
      expect(before).toBeLessThan(0.05);
      expect(after).toBeGreaterThan(0.9);
    }
  });

  it("finds none where the line goes on, where all is off, or where it gets better", () => {
    expect(
      probeCollapse(
        reading((n) => n),
        counts,
        0.6,
      ),
    ).toMatchObject({ at: null, interval: null, verdict: "none" });
    expect(
      probeCollapse(
        reading(() => 500),
        counts,
        0.6,
      ).at,
    ).toBeNull();
    expect(
      probeCollapse(
        reading((n) => (n < 50 ? 500 : n)),
        counts,
        0.6,
      ).at,
    ).toBeNull();
    expect(() => probeCollapse(counts, counts, 0)).toThrow(/tolerance 0 items/);
  });
});

describe("extrapolation", () => {
  const plan = { stableTo: 60, innerTo: 45 };

  it("is in excess where the coordinate collapses at the boundary and nowhere else", () => {
    const read = reading((n) => Math.min(n, 60));
    const { distance, within, beyond, excess } = extrapolation(read, read, counts, plan)!;
    expect(distance).toBe(15);
    expect(within).toBeLessThan(0.3);
    // A plateau over 15 counts: 8 items on average.
    expect(beyond).toBeCloseTo(8, 0);
    expect(excess.low).toBeGreaterThan(4);
  });

  it("is not where any line would be left: a coordinate that bends everywhere, without a boundary", () => {
    // What a tangent reads of a saturating curve, once fitted to 45 and once to 60.
    const bend = (end: number) => reading((n) => (n <= end ? n : end + 20 * (1 - Math.exp((end - n) / 20))));
    const { excess } = extrapolation(bend(45), bend(60), counts, plan)!;
    expect(excess.low).toBeLessThan(0);
    expect(excess.high).toBeGreaterThan(0);
  });

  it("is null with nothing beyond, and refuses an inner range that is not inside", () => {
    const inside = upTo(60);
    expect(extrapolation(inside, inside, inside, plan)).toBeNull();
    expect(() => extrapolation(counts, counts, counts, { stableTo: 10, innerTo: 10 })).toThrow(
      /innerTo < stableTo/,
    );
  });
});
