import { describe, expect, it } from "vitest";
import { positionPartial } from "../../src/lens/probe-position.js";
import { random } from "../../src/stats/random.js";
import { upTo } from "./planted.js";

const counts = upTo(50, 6);
const offsets = [0, 30, 60, 90, 120, 150];
const positions = counts.map((count, i) => 2 * count + offsets[Math.floor(i / 50)]!);
const draw = random(1, "position");
const noise = counts.map(() => draw.normal());

describe("positionPartial", () => {
  it("tells a reading of the count from one of the position", () => {
    const ofCount = positionPartial(
      counts.map((count, i) => count + noise[i]!),
      counts,
      positions,
    )!;
    expect(ofCount.r2).toBeGreaterThan(0.98);
    expect(ofCount.position).toBeLessThan(0.05);
    const ofPosition = positionPartial(
      positions.map((at, i) => at / 2 + noise[i]!),
      counts,
      positions,
    )!;
    expect(ofPosition.position).toBeGreaterThan(0.98);
    expect(ofPosition.r2).toBeLessThan(0.05);
    // 100 items wide, offsets 150 wide: about a quarter of the variance is shared.
    expect(ofCount.confound).toBeGreaterThan(0.1);
    expect(ofCount.confound).toBeLessThan(0.5);
  });

  it("says nothing where position follows from the count, or is always the same", () => {
    const tied = counts.map((count) => 40 + 2 * count);
    expect(
      positionPartial(
        counts.map((count, i) => count + noise[i]!),
        counts,
        tied,
      ),
    ).toBeNull();
    expect(
      positionPartial(
        noise,
        counts,
        counts.map(() => 7),
      ),
    ).toBeNull();
    expect(() => positionPartial([1], [1], [1])).toThrow(/at least 4/);
  });
});
