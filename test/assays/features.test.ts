import { describe, expect, it } from "vitest";
import { carries, hasCarry, isStructured, log10Larger, log10Product } from "../../src/assays/features.js";

describe("features", () => {
  it("finds a carry in any product of two digits", () => {
    expect(hasCarry(3, 3)).toBe(false);
    expect(hasCarry(2, 5)).toBe(true);
    expect(hasCarry(40, 12)).toBe(false);
    expect(hasCarry(41, 13)).toBe(true);
    expect(hasCarry(99, 0)).toBe(false);
    let without = 0;
    for (let a = 1; a <= 99; a += 1) for (let b = 1; b <= 99; b += 1) if (!hasCarry(a, b)) without += 1;
    expect(without).toBe(819);
  });

  it("counts carries as they are written on paper", () => {
    expect(carries(3, 3)).toBe(0);
    expect(carries(9, 9)).toBe(1);
    expect(carries(33, 33)).toBe(2);
    expect(carries(12, 34)).toBe(1);
    expect(carries(3, 67)).toBe(3);
    expect(carries(67, 3)).toBe(2);
    expect(carries(99, 99)).toBe(6);
    expect(carries(7, 0)).toBe(0);
  });

  it("has a carry to count wherever the paper's carry holds", () => {
    for (let a = 1; a <= 99; a += 1)
      for (let b = 1; b <= 99; b += 1) if (hasCarry(a, b)) expect(carries(a, b)).toBeGreaterThan(0);
  });

  it("calls errors of 10, 20, ..., 100 structured, on either side, and no others", () => {
    expect(isStructured(1006, 986)).toBe(true);
    expect(isStructured(886, 986)).toBe(true);
    expect(isStructured(1096, 986)).toBe(false);
    expect(isStructured(986, 986)).toBe(false);
    expect(isStructured(991, 986)).toBe(false);
    expect(isStructured(null, 986)).toBe(false);
    expect(isStructured(-14, 6)).toBe(true);
  });

  it("measures size by the product and by the larger operand", () => {
    expect(log10Product(20, 50)).toBeCloseTo(3, 12);
    expect(log10Larger(7, 10)).toBe(1);
    expect(log10Product(1, 1)).toBe(0);
  });
});
