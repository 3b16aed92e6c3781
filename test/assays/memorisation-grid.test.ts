import { expect, it } from "vitest";
import { modelGrid } from "../../src/assays/memorisation-grid.js";

const sizes = [1, 2, 3].map((size) => ({ size, instances: 2 * size - 1, wrong: 0, margin: 1 }));
const wrong = (a: string, b: string, expected: string, read: string | null) => ({
  key: `${a},${b}`,
  fields: { a, b },
  size: 3,
  expected,
  read,
  margin: -1,
  by: "tokens" as never,
});

it("turns a sweep into a grid like the published ones", () => {
  const errors = [wrong("3", "2", "6", "16"), wrong("1", "3", "3", null)];
  const grid = modelGrid({ task: "multiplication", sizes, errors }, "mine", 1e5);
  expect(grid).toEqual({
    model: "mine",
    parameters: 1e5,
    range: [1, 3],
    errors: [
      { a: 1, b: 3, expected: 3, predicted: null },
      { a: 3, b: 2, expected: 6, predicted: 16 },
    ],
  });
});

it("refuses another task, gaps, and answers that nobody read", () => {
  const of = (task: string, from: number, errors: ReturnType<typeof wrong>[]) =>
    modelGrid({ task, sizes: sizes.slice(from), errors }, "m", 1);
  expect(() => of("parity", 0, [])).toThrow("parity; expected multiplication");
  expect(() => of("multiplication", 1, [])).toThrow("modelGrid: sizes with gaps");
  const { read: _, ...unread } = wrong("3", "2", "6", null);
  expect(() => modelGrid({ task: "multiplication", sizes, errors: [unread] }, "m", 1)).toThrow(
    "3,2 was not decoded",
  );
});
