/** Ladders of one model over several seeds: what its capacity owes to the targets it happened to be asked. */
import type { RandomKey } from "../stats/random.js";
import { checkShard, ownsUnit, type Shard } from "../store/shard.js";
import type { Asked } from "./answerer.js";
import { type Capacity, type CapacityOptions, countingCapacity } from "./counting-capacity.js";

/** The ladder's options, and the seeds it is run with. */
export interface SeededOptions extends Omit<CapacityOptions, "seed"> {
  /** At least one. */
  readonly seeds: readonly RandomKey[];
  /** Only every n-th seed: one piece of the run, whose log is to be merged with the others'. */
  readonly shard?: Shard;
}

/**
 * A ladder for each seed, in their order.
 *
 * @example capacitySpread(await seededCapacities(model, { seeds: [1, 2, 3], log: "runs/seeds.jsonl" })).median
 */
export async function seededCapacities(asked: Asked, options: SeededOptions): Promise<Capacity[]> {
  const { seeds, shard, ...ladder } = options;
  if (seeds.length === 0) throw new Error("seededCapacities: no seeds; expected at least one");
  checkShard("seededCapacities", shard, options.log);
  const found: Capacity[] = [];
  for (const [i, seed] of seeds.entries())
    if (ownsUnit(shard, i)) found.push(await countingCapacity(asked, { ...ladder, seed }));
  return found;
}
