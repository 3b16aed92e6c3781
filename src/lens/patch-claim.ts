/**
 * The claim of the second paper's section 3 on patching, decided from effects, intervals and controls: the sequence works earlier in
 * depth than the final token, and moves the answer to the donor's count. Pure: planted effects decide it the same way.
 */
import type { PatchEffect } from "./patch-effects.js";

/** Over which layers a patch is above its controls. */
export interface PatchVerdict {
  /** First and last layer at which the patch is above every control, their 95 % intervals apart; null where it nowhere is. */
  readonly from: number | null;
  readonly to: number | null;
  /** Where the effect is largest, and how large. */
  readonly best: PatchEffect | null;
  /** The largest control at that layer. */
  readonly control: PatchEffect | null;
  /** One line: effect, interval, control. */
  readonly said: string;
}

/** Where a patch works. `name` is what was patched, for the line that is said. */
export function patchVerdict(name: string, effects: readonly PatchEffect[]): PatchVerdict {
  const patch = effects.filter(({ control }) => !control);
  const strongest = (layer: number): PatchEffect | null =>
    effects
      .filter((effect) => effect.control && effect.layer === layer)
      .reduce<PatchEffect | null>((most, one) => (most === null || one.high > most.high ? one : most), null);
  const above = patch
    .filter(({ layer, low }) => low > (strongest(layer)?.high ?? Number.POSITIVE_INFINITY))
    .map(({ layer }) => layer);
  const best = patch.reduce<PatchEffect | null>(
    (most, one) => (most === null || one.effect > most.effect ? one : most),
    null,
  );
  const control = best === null ? null : strongest(best.layer);
  const [from, to] = above.length === 0 ? [null, null] : [Math.min(...above), Math.max(...above)];
  return { from, to, best, control, said: sentence(name, from, to, best, control) };
}

function sentence(
  name: string,
  from: number | null,
  to: number | null,
  best: PatchEffect | null,
  control: PatchEffect | null,
): string {
  if (best === null) return `${name}: no effect could be estimated`;
  const where =
    from === null ? "above no control at any layer" : `above the controls from layer ${from} to ${to}`;
  const beside =
    control === null ? "no control was run" : `control ${control.condition} ${interval(control)}`;
  return `${name}: ${where}; largest at layer ${best.layer}, ${interval(best)} (n = ${best.n}), ${beside}`;
}

/** Whether patching the items acts earlier than patching the final token. */
export interface DepthClaim {
  /** Sequence patching is above its controls at an earlier layer than final-token patching is. */
  readonly earlier: boolean;
  /** At some layer the sequence moves the answer to the donor's count for most donors: the interval's lower end is above one half, and
   * above the controls. Only with effects measured as `moved`. */
  readonly most: boolean;
  /** Both. */
  readonly holds: boolean;
  readonly sequence: PatchVerdict;
  readonly final: PatchVerdict;
  /** What is shown, or that it is not. */
  readonly said: string;
}

/**
 * Decides the claim from the effects (`moved`) of two sweeps, each with its controls. Without controls nothing is above them, and the
 * claim does not hold.
 */
export function depthClaim(sequence: readonly PatchEffect[], final: readonly PatchEffect[]): DepthClaim {
  const wrong = [...sequence, ...final].find(({ measure }) => measure !== "moved");
  if (wrong) throw new Error(`depthClaim: effects measured as ${wrong.measure}; expected moved`);
  const first = patchVerdict("sequence", sequence);
  const second = patchVerdict("final token", final);
  const earlier = first.from !== null && (second.from === null || first.from < second.from);
  const most =
    first.best !== null && first.from !== null && first.best.low > Math.max(0.5, first.control?.high ?? 1);
  const holds = earlier && most;
  const parts = holds
    ? [
        "sequence patching works earlier in depth than final-token patching and moves most answers to the donor's count",
      ]
    : [
        "NOT shown: that sequence patching works earlier in depth than final-token patching and moves most answers",
        ...(first.from === null
          ? ["patching the sequence moves no answers beyond its controls at any layer"]
          : []),
        ...(first.from !== null && !earlier ? ["the sequence does not work earlier"] : []),
        ...(first.from !== null && !most ? ["the sequence moves no majority"] : []),
      ];
  return {
    earlier,
    most,
    holds,
    sequence: first,
    final: second,
    said: `${parts.join("; ")}. ${first.said}. ${second.said}.`,
  };
}

const percent = (share: number): string => (Math.round(1000 * share) / 10).toString();

function interval({ measure, effect, low, high }: PatchEffect): string {
  if (measure === "moved" || measure === "first digit")
    return `${percent(effect)} % [${percent(low)}, ${percent(high)}]`;
  return `${effect.toPrecision(3)} [${low.toPrecision(3)}, ${high.toPrecision(3)}]`;
}
