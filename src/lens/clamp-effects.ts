/** What clamping does, with intervals, and whether it rescues anything that a random direction does not. Pure. */
import { bootstrap } from "../stats/bootstrap.js";
import { wilson } from "../stats/proportion.js";
import type { ClampTrial } from "./clamp.js";

/** The rescue rate of one condition. */
export interface ClampEffect {
  readonly condition: string;
  readonly direction: "count" | "random";
  readonly rescued: number;
  readonly trials: number;
  /** Wilson's 95 % interval of the rescue rate. */
  readonly low: number;
  readonly high: number;
  /** Mean change of the right answer's gap in nats, and its bootstrap interval (95 %, over trials); NaN with one trial. */
  readonly gapChange: number;
  readonly gapLow: number;
  readonly gapHigh: number;
  /** Mean norm of the shift. */
  readonly moved: number;
}

/** One row for each condition and direction, in order of appearance. */
export function clampEffects(
  trials: readonly Pick<ClampTrial, "condition" | "direction" | "rescued" | "gapChange" | "moved">[],
  seed = 0,
): ClampEffect[] {
  const groups = new Map<string, (typeof trials)[number][]>();
  for (const trial of trials) {
    const key = `${trial.condition} / ${trial.direction}`;
    groups.set(key, [...(groups.get(key) ?? []), trial]);
  }
  return [...groups].map(([key, group]) => {
    const { condition, direction } = group[0]!;
    const mean = (rows: readonly number[]) =>
      rows.reduce((sum, i) => sum + group[i]!.gapChange, 0) / rows.length;
    const all = group.map((_, i) => i);
    const rescued = group.filter((trial) => trial.rescued).length;
    const gap =
      group.length < 2
        ? { low: Number.NaN, high: Number.NaN }
        : bootstrap(group.length, mean, { seed: `${seed} ${key}`, resamples: 1000 });
    const { low, high } = wilson(rescued, group.length);
    return {
      condition,
      direction,
      rescued,
      trials: group.length,
      low,
      high,
      gapChange: mean(all),
      gapLow: gap.low,
      gapHigh: gap.high,
      moved: group.reduce((sum, { moved }) => sum + moved, 0) / group.length,
    };
  });
}

/** Whether clamping rescues more than a random direction does. */
export interface RescueClaim {
  /** In some condition the rescue rate is above that of the random direction, their intervals apart. */
  readonly holds: boolean;
  /** The condition with the highest rescue rate (of equal ones the first), and its control. */
  readonly best: ClampEffect;
  readonly control: ClampEffect | undefined;
  readonly said: string;
}

/** Decides from `clampEffects` whether clamping rescues. Without a control it does not hold. */
export function rescueClaim(effects: readonly ClampEffect[]): RescueClaim {
  const clamped = effects.filter(({ direction }) => direction === "count");
  if (clamped.length === 0)
    throw new Error("rescueClaim: no clamped trials; expected effects of clampCounts");
  const controlOf = ({ condition }: ClampEffect) =>
    effects.find((effect) => effect.direction === "random" && effect.condition === condition);
  const above = clamped.filter((effect) => effect.low > (controlOf(effect)?.high ?? 1));
  const best = clamped.reduce((most, one) =>
    one.rescued / one.trials > most.rescued / most.trials ? one : most,
  );
  const control = controlOf(best);
  const rate = ({ rescued, trials, low, high }: ClampEffect) =>
    `${rescued} of ${trials} (${percent(rescued / trials)} % [${percent(low)}, ${percent(high)}])`;
  const holds = above.length > 0;
  return {
    holds,
    best,
    control,
    said:
      `${holds ? `clamping rescues failed counts (${above.map(({ condition }) => condition).join(", ")})` : "NOT shown: that clamping rescues failed counts beyond a random direction"}; ` +
      `best ${best.condition}: ${rate(best)}, random direction ${control === undefined ? "not run" : rate(control)}; ` +
      `gap of the right answer ${signed(best.gapChange)} nats [${signed(best.gapLow)}, ${signed(best.gapHigh)}]`,
  };
}

const percent = (share: number): string => (Math.round(1000 * share) / 10).toString();
const signed = (value: number): string => `${value < 0 ? "" : "+"}${value.toFixed(2)}`;
