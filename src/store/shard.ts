/** One of n pieces of a run that share nothing but what they were asked. */

export interface Shard {
  /** From 1 to `of`. */
  readonly index: number;
  readonly of: number;
}

/**
 * `2/4` as a shard; pieces are counted from 1.
 *
 * @throws for anything but two whole numbers with 1 <= i <= n
 */
export function parseShard(text: string): Shard {
  const match = /^(\d{1,6})\/(\d{1,6})$/.exec(text.trim());
  const shard = { index: Number(match?.[1]), of: Number(match?.[2]) };
  if (match === null || shard.index < 1 || shard.index > shard.of)
    throw new Error(`shard: "${text}"; expected i/n with i from 1 to n, for example 1/4`);
  return shard;
}

/** Refuses what is no shard. */
export function checkShardRange(where: string, { index, of }: Shard): void {
  if (!Number.isInteger(index) || !Number.isInteger(of) || index < 1 || index > of)
    throw new Error(`${where}: shard ${index}/${of}; expected an index from 1 to of, for example 1/4`);
}

/** Refuses what is no shard, and a shard without a log: its log is all that comes of it. */
export function checkShard(where: string, shard: Shard | undefined, log: unknown): void {
  if (shard === undefined) return;
  checkShardRange(where, shard);
  const { index, of } = shard;
  if (log === undefined)
    throw new Error(
      `${where}: shard ${index}/${of} without a log; give one to each shard, for example log: "runs/shard-${index}.jsonl"`,
    );
}

/** Does this piece do unit `unit` (from 0) of the run? Units are dealt in turn; without a shard all are one's own. */
export function ownsUnit(shard: Shard | undefined, unit: number): boolean {
  return shard === undefined || unit % shard.of === shard.index - 1;
}

/** What a result says in place of numbers that only all pieces together have. */
export function shardNote({ index, of }: Shard): string {
  return `shard ${index} of ${of}: merge the logs of all and run once more with the merged log`;
}
