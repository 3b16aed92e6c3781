/**
 * What a model says once it has lost count: a histogram of its wrong answers, and how round they are.
 *
 * Paper: section 2 and Fig. 2c, d ("inaccurate model outputs cluster around a restricted set of preferred integers, with
 * multiples of 10 or 100 appearing especially often").
 */
export interface Attractor {
  readonly value: number;
  readonly times: number;
  /** Of all wrong answers with an integer. */
  readonly share: number;
  /** Range of the true counts it was said for. */
  readonly from: number;
  readonly to: number;
  readonly models: number;
}

/** The values that wrong answers fall on, and how much of the errors they take. */
export interface Attractors {
  /** Most frequent first; equals by value. */
  readonly values: readonly Attractor[];
  readonly wrong: number;
  /** Share of wrong answers that are multiples of 10 and of 100, and what numbers spread evenly would have: 0.1 and 0.01. */
  readonly multiplesOf10: number;
  readonly multiplesOf100: number;
  /** Share of the wrong answers that the single most frequent value takes, and the three most frequent. */
  readonly top1: number;
  readonly top3: number;
  /** exp of the entropy of the histogram: how many equally frequent values would be as varied. 1: always the same. */
  readonly effectiveValues: number;
}

/** Aggregates wrong answers over any trials, of one model or of many. Answers without an integer are left out. */
export function attractorHistogram(
  trials: readonly {
    readonly model?: string;
    readonly target: number;
    readonly prediction: number | null;
  }[],
): Attractors {
  const groups = new Map<number, { times: number; from: number; to: number; models: Set<string> }>();
  let wrong = 0;
  for (const { model = "", target, prediction } of trials) {
    if (prediction === null || prediction === target) continue;
    wrong += 1;
    const group = groups.get(prediction) ?? { times: 0, from: target, to: target, models: new Set<string>() };
    group.times += 1;
    group.from = Math.min(group.from, target);
    group.to = Math.max(group.to, target);
    group.models.add(model);
    groups.set(prediction, group);
  }
  const values = [...groups]
    .map(([value, { times, from, to, models }]) => ({
      value,
      times,
      share: times / wrong,
      from,
      to,
      models: models.size,
    }))
    .sort((a, b) => b.times - a.times || a.value - b.value);
  const shareOf = (keep: (value: number) => boolean) =>
    values.reduce((sum, { value, share }) => sum + (keep(value) ? share : 0), 0);
  const entropy = values.reduce((sum, { share }) => sum - share * Math.log(share), 0);
  return {
    values,
    wrong,
    multiplesOf10: shareOf((value) => value % 10 === 0),
    multiplesOf100: shareOf((value) => value % 100 === 0),
    top1: values[0]?.share ?? 0,
    top3: values.slice(0, 3).reduce((sum, { share }) => sum + share, 0),
    effectiveValues: wrong === 0 ? 0 : Math.exp(entropy),
  };
}
