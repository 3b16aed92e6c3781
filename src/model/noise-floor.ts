/**
 * The noise floor: by how much a logit moves when the same tokens are evaluated in batches of another shape.
 *
 * It is zero in exact arithmetic, about 1e-6 with F32 weights, and up to 0.1 with quantised ones. A verdict whose margin
 * is below it depends on how the work was cut up, and has to be settled by the canonical evaluation (alone, greedy).
 */
import type { RunOptions } from "../engine/request.js";
import { random } from "../stats/random.js";
import type { Model } from "./model.js";

/** What `noiseFloor` measured. */
export interface NoiseFloor {
  /** Largest difference of one logit between the two evaluations. */
  readonly logit: number;
  /** Largest difference of a margin (best less second-best logit). */
  readonly margin: number;
  /** The same over the largest |logit|. */
  readonly relative: number;
  /** Next-token distributions compared. */
  readonly positions: number;
  /** How many of them had another argmax. */
  readonly flipped: number;
}

const measured = new WeakMap<Model, Promise<NoiseFloor>>();
const TOP = 8;

/**
 * Measures it, once for each opened model: eight short sums in the model's own chat template, evaluated as a forest and then
 * alone, compared at the last 4 positions of each.
 *
 * Weakness: a maximum over a sample is below the true maximum. `marginFloor` therefore doubles it.
 */
export function noiseFloor(model: Model, options: RunOptions = {}): Promise<NoiseFloor> {
  let floor = measured.get(model);
  if (floor === undefined) {
    floor = measure(model, options);
    measured.set(model, floor);
    // A cancelled measurement must not be what everyone gets from then on.
    floor.catch(() => measured.delete(model));
  }
  return floor;
}

/** Margins below this are not trusted: twice the largest difference measured. */
export async function marginFloor(model: Model, options: RunOptions = {}): Promise<number> {
  return 2 * (await noiseFloor(model, options)).margin;
}

async function measure(model: Model, options: RunOptions): Promise<NoiseFloor> {
  const draw = random(1, "noise floor");
  const users = Array.from({ length: 8 }, () => `${draw.integer(1, 99)}*${draw.integer(1, 99)}=`);
  const prompts = await model.prompts(users.map((user) => ({ user })));
  const requests = prompts.map(({ tokens }) => ({
    tokens,
    logits: { positions: [-4, -3, -2, -1].slice(-Math.min(4, tokens.length)), top: TOP },
  }));
  const together = await model.evaluate(requests, { ...options, mode: "forest" });
  const alone = await model.evaluate(
    requests.map((request, i) => ({
      ...request,
      logits: { ...request.logits, tokens: rowsOf(together.results[i]!.logits!.topIds) },
    })),
    { ...options, mode: "alone" },
  );
  let logit = 0;
  let margin = 0;
  let largest = 0;
  let positions = 0;
  let flipped = 0;
  together.results.forEach(({ logits: a }, i) => {
    const b = alone.results[i]!.logits!;
    for (let row = 0; row < a!.positions.length; row++) {
      positions++;
      const at = row * TOP;
      if (a!.topIds[at] !== b.topIds[at]) flipped++;
      const best = (read: Float32Array) => read[at]! - read[at + 1]!;
      margin = Math.max(margin, Math.abs(best(a!.topLogits) - best(b.topLogits)));
      for (let k = at; k < at + TOP; k++) {
        logit = Math.max(logit, Math.abs(a!.topLogits[k]! - b.tokenLogits![k]!));
        largest = Math.max(largest, Math.abs(b.tokenLogits![k]!));
      }
    }
  });
  return { logit, margin, relative: largest === 0 ? 0 : logit / largest, positions, flipped };
}

function rowsOf(ids: Int32Array): number[][] {
  return Array.from({ length: ids.length / TOP }, (_, row) => [...ids.subarray(row * TOP, (row + 1) * TOP)]);
}
