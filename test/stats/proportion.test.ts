import { expect, it } from "vitest";
import { clopperPearson, wilson } from "../../src/stats/proportion.js";
import { close, reference } from "./reference.js";

it("equals the reference intervals, at the ends too", () => {
  for (const [k, n, low, high] of reference.wilson) {
    close(wilson(k, n).low, low);
    close(wilson(k, n).high, high);
  }
  for (const [k, n, low, high] of reference.clopperPearson) {
    close(clopperPearson(k, n).low, low);
    close(clopperPearson(k, n).high, high);
  }
  expect(wilson(3, 10, 0.8).high).toBeLessThan(wilson(3, 10, 0.95).high);
});

it("refuses what is no share", () => {
  expect(() => wilson(0, 0)).toThrow("wilson: 0 of 0");
  expect(() => wilson(5, 4)).toThrow("wilson: 5 of 4");
  expect(() => clopperPearson(1.5, 4)).toThrow("clopperPearson: 1.5 of 4");
  expect(() => clopperPearson(1, 4, 95)).toThrow("level 95");
});
