import { describe, expect, it } from "vitest";
import { collapseShape, normalisedOverlay } from "../../src/assays/collapse-shape.js";
import { random } from "../../src/stats/random.js";

const counts = Array.from({ length: 120 }, (_, i) => i + 1);

describe("collapseShape", () => {
  it("calls counting to 60 and then a constant a step at 60.5, in both readings", () => {
    const shape = collapseShape(
      "steps",
      counts.map((target) => ({ target, prediction: target <= 60 ? target : 500 })),
    );
    expect(shape.exactness.verdict).toBe("step");
    expect(shape.exactness.step.middle).toBe(60.5);
    expect(shape.error.verdict).toBe("step");
    expect(shape.error.step.middle).toBe(60.5);
    expect(shape.relativeWidth).toBe(0);
    expect(shape.said).toMatch(/^steps: a step at 60.5 \[60.5, 60.5\]; 10-90 % width \[0, \d/);
  });

  it("does not call a continuous estimate a step", () => {
    const draw = random(3, "weber");
    const trials = counts.flatMap((target) =>
      Array.from({ length: 6 }, () => ({
        target,
        prediction: Math.round(draw.normal(target, 0.08 * target)),
      })),
    );
    const shape = collapseShape("estimates", trials);
    expect(shape.exactness.verdict).not.toBe("step");
    expect(shape.error.verdict).not.toBe("step");
    expect(shape.relativeWidth).toBeGreaterThan(0.25);
  });

  it("finds nothing in a model that is always right, and counts no integer as lost", () => {
    const right = collapseShape(
      "right",
      counts.map((target) => ({ target, prediction: target })),
    );
    expect(right.exactness.verdict).toBe("none");
    expect(right.said).toBe("right: no transition in the range of the sweep");
    const mute = collapseShape(
      "mute",
      counts.map((target) => ({ target, prediction: target <= 40 ? target : null })),
    );
    expect(mute.exactness.step.middle).toBe(40.5);
    expect(mute.error.step.after).toBeCloseTo(1, 6);
  });
});

describe("normalisedOverlay", () => {
  it("divides by each model's own capacity and says what it left out", () => {
    const { points, left } = normalisedOverlay([
      {
        model: "a",
        capacity: 50,
        trials: [
          { target: 25, prediction: 25 },
          { target: 100, prediction: 500 },
        ],
      },
      { model: "b", capacity: 200, trials: [{ target: 100, prediction: null }] },
      { model: "c", capacity: null, trials: [{ target: 10, prediction: 3 }] },
    ]);
    expect(points).toEqual([
      { model: "a", x: 0.5, y: 0.5, target: 25, prediction: 25 },
      { model: "a", x: 2, y: 10, target: 100, prediction: 500 },
    ]);
    expect(left).toEqual({ models: ["c"], answers: 1 });
  });
});
