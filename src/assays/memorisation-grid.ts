import type { HorizonResult } from "./horizon-result.js";
import type { ModelGrid } from "./memorisation-rows.js";

/**
 * The grid of a multiplication sweep through `zeroErrorHorizon`, in the form of the published grids: all pairs of the sizes
 * it verified, the wrong ones with the integer read from the answer.
 *
 * With `wholeGrid` the range is the one asked for; without, it ends at the failing size, which is complete too. Refused:
 * another task, sizes that do not start at 1 or have gaps, and wrong answers that were not decoded.
 *
 * @example gridOf(await zeroErrorHorizon(model, multiplication(), { wholeGrid: true }), "tally-25k", model.info.parameters)
 */
export function gridOf(
  result: Pick<HorizonResult, "task" | "sizes" | "errors">,
  model: string,
  parameters: number,
): ModelGrid {
  const { task, sizes } = result;
  if (task !== "multiplication")
    throw new Error(`gridOf: a result of ${task}; expected one of multiplication`);
  const whole = sizes.every(({ size, instances }, i) => size === i + 1 && instances === 2 * size - 1);
  if (sizes.length === 0 || !whole)
    throw new Error(
      "gridOf: sizes with gaps; expected every size from 1 in full, as zeroErrorHorizon gives them",
    );
  const errors = result.errors.map(({ key, expected, read }) => {
    const [a = Number.NaN, b = Number.NaN] = key.split(",").map(Number);
    if (read === undefined)
      throw new Error(`gridOf: the wrong answer to ${key} was not decoded; run with texts: "errors"`);
    return { a, b, expected: Number(expected), predicted: read === null ? null : Number(read) };
  });
  errors.sort((x, y) => x.a - y.a || x.b - y.b);
  return { model, parameters, range: [1, sizes.length], errors };
}
