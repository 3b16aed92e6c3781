/**
 * How a model leaves the diagonal: at once or by and by, and how models look when each is drawn in units of its own boundary.
 *
 * Paper: section 2 and Fig. 2b ("The transition from perfect rule execution to chaotic output is sudden").
 */
import { type ChangePoint, type ChangePointOptions, changePoint } from "../stats/change-point.js";

/** A count and what was answered; null: no integer. */
export interface Point {
  readonly target: number;
  readonly prediction: number | null;
}

/** Whether counting breaks off in a step or fades. */
export interface CollapseShape {
  readonly model: string;
  /** Step or smooth, on whether each answer is exactly right. */
  readonly exactness: ChangePoint;
  /** Step or smooth, on the size of the error relative to the count, |prediction - target| / target, capped at 1: does it jump or
   * grow, as a continuous estimate's would? No integer counts as 1. */
  readonly error: ChangePoint;
  /** 10 %-90 % width of the transition as a share of its middle; 0 for a step. From exactness. */
  readonly relativeWidth: number;
  /** In a sentence. */
  readonly said: string;
}

/**
 * Sharpness of a collapse from a dense sweep: a change-point with its interval against a smooth alternative.
 *
 * @example
 * const sweep = await denseSweep(model, { to: 128 });
 * collapseShape(sweep.model, sweep.trials).said // "tally-400k: a step at 129.5 [129.5, 129.5]; 10-90 % width [0, 4.5] items at 95 %"
 */
export function collapseShape(
  model: string,
  trials: readonly Point[],
  options: Omit<ChangePointOptions, "family"> = {},
): CollapseShape {
  const x = trials.map(({ target }) => target);
  const right = trials.map(({ target, prediction }) => Number(prediction === target));
  const off = trials.map(({ target, prediction }) =>
    prediction === null ? 1 : Math.min(1, Math.abs(prediction - target) / target),
  );
  const exactness = changePoint(x, right, { ...options, family: "bernoulli" });
  const error = changePoint(x, off, { ...options, family: "gaussian" });
  const { smooth, verdict, widthInterval } = exactness;
  const relativeWidth = verdict === "step" ? 0 : smooth.width / smooth.middle;
  return { model, exactness, error, relativeWidth, said: `${model}: ${sentence(exactness, widthInterval)}` };
}

function sentence(
  { verdict, step, smooth, level }: ChangePoint,
  [low, high]: readonly [number, number],
): string {
  const round = (value: number) => Number(value.toFixed(1));
  const span = ([from, to]: readonly [number, number]) => `[${round(from)}, ${round(to)}]`;
  const widths = `10-90 % width ${span([low, high])} items at ${100 * level} %`;
  if (verdict === "none") return "no transition in the range of the sweep";
  if (verdict === "step") return `a step at ${step.middle} ${span(step.interval)}; ${widths}`;
  if (verdict === "smooth")
    return `a smooth transition around ${round(smooth.middle)} ${span(smooth.interval)}; ${widths}`;
  return `step (at ${step.middle}) or smooth (around ${round(smooth.middle)}): the sweep cannot tell; ${widths}`;
}

/** One trial on axes normalised by the model's capacity (second paper, Figure 4). */
export interface OverlayPoint {
  readonly model: string;
  /** True count and prediction, both divided by the model's capacity. */
  readonly x: number;
  readonly y: number;
  readonly target: number;
  readonly prediction: number;
}

/**
 * The overlay of several models: counts and predictions in units of each model's own capacity. Models without one (`<32`, null)
 * and answers without an integer are left out; `left` says how many of both.
 */
export function normalisedOverlay(
  models: readonly {
    readonly model: string;
    /** The ladder's capacity, or a sweep's boundary. */
    readonly capacity: number | null;
    readonly trials: readonly Point[];
  }[],
): {
  readonly points: readonly OverlayPoint[];
  readonly left: { readonly models: readonly string[]; readonly answers: number };
} {
  const points: OverlayPoint[] = [];
  const without: string[] = [];
  let answers = 0;
  for (const { model, capacity, trials } of models) {
    if (capacity === null || !(capacity > 0)) {
      without.push(model);
      continue;
    }
    for (const { target, prediction } of trials) {
      if (prediction === null) answers += 1;
      else points.push({ model, x: target / capacity, y: prediction / capacity, target, prediction });
    }
  }
  return { points, left: { models: without, answers } };
}
