import { expect, it } from "vitest";
import { formatP } from "../../src/stats/format-p.js";

const of = (p: number) => ({ p, logP: Math.log(p) });

it("writes p-values from their logarithms, far below what a number can hold", () => {
  expect(formatP(of(0.004959356), 4)).toBe("0.004959");
  expect(formatP(of(0.000454), 3)).toBe("4.54e-4");
  expect(formatP(of(0.05))).toBe("0.0500");
  expect(formatP(of(9.996e-7))).toBe("1.00e-6");
  expect(formatP({ p: 0, logP: -13980.4998199279 })).toBe("2.22e-6072");
  expect(formatP({ p: 1, logP: 0 })).toBe("1.00");
  expect(formatP({ p: 0, logP: Number.NEGATIVE_INFINITY })).toBe("0");
  expect(formatP({ p: Number.NaN, logP: Number.NaN })).toBe("n/a");
});
