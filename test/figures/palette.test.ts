import { describe, expect, it } from "vitest";
import {
  CATEGORIES,
  category,
  colorAt,
  DIVERGING,
  inkOn,
  ORDERED,
  ordered,
  SEQUENTIAL,
} from "../../src/figures/palette.js";

const luminance = (color: string): number => {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = Number.parseInt(color.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
};

describe("palette", () => {
  it("interpolates between stops, clamps outside and greys NaN", () => {
    expect(colorAt(["#000000", "#ffffff"], 0.5)).toBe("#808080");
    expect(colorAt(SEQUENTIAL, -3)).toBe(SEQUENTIAL[0]);
    expect(colorAt(SEQUENTIAL, 7)).toBe(SEQUENTIAL.at(-1));
    expect(colorAt(SEQUENTIAL, Number.NaN)).toBe("#bdbdbd");
    expect(colorAt(DIVERGING, 0.5)).toBe("#f7f7f7");
  });

  it("darkens steadily along the sequential scale and lightens along the ordered one", () => {
    const steps = (scale: readonly string[]): number[] =>
      Array.from({ length: 21 }, (_, i) => luminance(colorAt(scale, i / 20)));
    const falling = steps(SEQUENTIAL);
    const rising = steps(ORDERED);
    for (let i = 1; i < 21; i++) {
      expect(falling[i]!).toBeLessThan(falling[i - 1]!);
      expect(rising[i]!).toBeGreaterThan(rising[i - 1]!);
    }
  });

  it("puts text of at least 4 : 1 contrast on every cell colour", () => {
    for (const scale of [SEQUENTIAL, DIVERGING, ORDERED]) {
      for (let t = 0; t <= 1; t += 0.02) {
        const ground = colorAt(scale, t);
        const [a, b] = [luminance(ground), luminance(inkOn(ground))];
        expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toBeGreaterThan(4);
      }
    }
  });

  it("keeps categories apart under the three dichromacies", () => {
    // Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB; distance in linear RGB.
    const matrices = [
      [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
      [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
      [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
    ];
    const linear = (color: string): number[] =>
      [1, 3, 5].map((i) => (Number.parseInt(color.slice(i, i + 2), 16) / 255) ** 2.2);
    for (const m of matrices) {
      const seen = CATEGORIES.map(linear).map((c) =>
        [0, 3, 6].map((r) => m[r]! * c[0]! + m[r + 1]! * c[1]! + m[r + 2]! * c[2]!),
      );
      for (let i = 0; i < seen.length; i++) {
        for (let j = 0; j < i; j++) {
          expect(Math.hypot(...seen[i]!.map((value, k) => value - seen[j]![k]!))).toBeGreaterThan(0.1);
        }
      }
    }
  });

  it("repeats categories and spreads ordered colours end to end", () => {
    expect(category(CATEGORIES.length)).toBe(category(0));
    expect(ordered(5)).toEqual(ORDERED.map((c) => c));
    expect(ordered(1)).toEqual([ORDERED[0]]);
  });
});
