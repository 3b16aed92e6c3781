import type { HorizonResult } from "./horizon-result.js";
import type { ModelGrid } from "./memorisation-rows.js";
import { gridOf } from "./zero-error-horizon-grid.js";

/**
 * The grid of a multiplication sweep through `zeroErrorHorizon`, in the form that `memorisation` takes.
 *
 * With `wholeGrid` the range is the one asked for; without, it ends at the failing size, which is complete too. Refused:
 * another task, sizes that do not start at 1 or have gaps, and wrong answers that were not decoded (they would all count as
 * unstructured).
 *
 * @example modelGrid(await zeroErrorHorizon(model, multiplication(), { wholeGrid: true }), "mine", model.info.parameters)
 */
export function modelGrid(
  result: Pick<HorizonResult, "task" | "sizes" | "errors">,
  model: string,
  parameters: number,
): ModelGrid {
  const grid = gridOf(result);
  const whole = result.sizes.every(({ size, instances }, i) => size === i + 1 && instances === 2 * size - 1);
  if (!whole)
    throw new Error(
      "modelGrid: sizes with gaps; expected every size from 1 in full, as zeroErrorHorizon gives them",
    );
  const unread = result.errors.find(({ read }) => read === undefined);
  if (unread)
    throw new Error(`modelGrid: the wrong answer to ${unread.key} was not decoded; run with texts: "errors"`);
  return { ...grid, model, parameters };
}
