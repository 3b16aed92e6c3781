import { expect, it } from "vitest";
import { auc } from "../../src/stats/auc.js";
import { close, reference } from "./reference.js";

const { x, y } = reference.correlation;

it("equals the area, DeLong's error and the rank-sum test", () => {
  const area = auc(x, y);
  close(area.estimate, reference.auc.auc);
  close(area.se, reference.auc.se);
  close(area.test.p, reference.auc.p);
  close((area.high - area.low) / 2, 1.959963984540054 * reference.auc.se);
});

it("knows the extremes, and says when nothing can be said", () => {
  expect(auc([1, 2, 3, 4], [0, 0, 1, 1])).toMatchObject({ estimate: 1, se: 0, positives: 2 });
  expect(auc([1, 1, 1, 1], [0, 0, 1, 1])).toMatchObject({ estimate: 0.5, test: { p: 1 } });
  expect(() => auc([1, 2], [1, 1])).toThrow("auc: 2 positive and 0 negative rows");
  expect(() => auc([1, Number.NaN], [1, 0])).toThrow("auc: score[1] is NaN");
  expect(auc([1, 2, 3], [0, 1, 0]).se).toBeNaN();
});
