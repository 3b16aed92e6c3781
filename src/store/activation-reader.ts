/** Stored activations, read: rows of a hook point over all shards, or shard by shard. */
import { join } from "node:path";
import { type ActivationIndex, readActivationIndex } from "./activation-index.js";
import { hashFile } from "./file-hash.js";
import { readSafetensorsRows } from "./safetensors.js";

/** Activations on disk, read row by row. */
export interface StoredActivations {
  readonly folder: string;
  readonly index: ActivationIndex;
  /** Captured positions in all. */
  readonly rows: number;
  /** Rows [from, to) of a hook point, default all: `[row, width]`. All rows are in memory at once: see `stream`. */
  read(hook: string, from?: number, to?: number): Promise<StoredRows>;
  /** The same, a shard at a time. */
  stream(hook: string): AsyncGenerator<StoredRows, void, undefined>;
  /** Which request, position and token each row belongs to: `[row]` each. */
  table(from?: number, to?: number): Promise<RowTable>;
  /**
   * Compares every shard with the sha256 that was noted when it was written; throws for the first that differs. It reads the whole set,
   * so nothing else does it: about a second a gigabyte.
   */
  verify(onShard?: (done: number, total: number) => void): Promise<void>;
}

/** Rows of one hook point. */
export interface StoredRows {
  /** First row. */
  readonly from: number;
  /** `[row, width]`, row-major. */
  readonly data: Float32Array;
  readonly width: number;
}

/** Which request and position each row is of. */
export interface RowTable {
  readonly request: Int32Array;
  readonly position: Int32Array;
  readonly token: Int32Array;
}

/** Names of the tensors that say what a row is. */
export const TABLE = ["request", "position", "token"] as const;

/** Opens the set in a folder. A set that is not complete is refused: it is the capture's to go on with. */
export async function openActivations(folder: string): Promise<StoredActivations> {
  const index = await readActivationIndex(folder);
  if (index === undefined)
    throw new Error(`activations: ${folder} has no index.json; expected a captured set`);
  if (!index.complete)
    throw new Error(
      `activations: ${folder} is not complete: ${index.shards.at(-1)?.requests[1] ?? 0} of ${index.requests} requests; ` +
        "run the capture again, and it goes on from there",
    );
  return makeReader(folder, index);
}

export function makeReader(folder: string, index: ActivationIndex): StoredActivations {
  const rangeOf = (where: string, from = 0, to = index.rows): [number, number] => {
    const good =
      Number.isInteger(from) && Number.isInteger(to) && 0 <= from && from <= to && to <= index.rows;
    if (!good) throw new Error(`${where}: rows ${from}..${to}; the set has rows 0..${index.rows}`);
    return [from, to];
  };
  const widthOf = (hook: string): number => {
    const found = index.hooks.find(({ name }) => name === hook);
    if (found !== undefined) return found.width;
    const names = index.hooks.map(({ name }) => name).join(", ");
    throw new Error(`activations: ${hook} was not captured; the set has ${names}`);
  };
  async function* pieces(name: string, from: number, to: number) {
    for (const { file, rows } of index.shards) {
      const [a, b] = [Math.max(from, rows[0]), Math.min(to, rows[1])];
      if (a >= b) continue;
      yield { at: a, tensor: await readSafetensorsRows(join(folder, file), name, a - rows[0], b - rows[0]) };
    }
  }
  return {
    folder,
    index,
    rows: index.rows,
    async read(hook, start, end) {
      const width = widthOf(hook);
      const [from, to] = rangeOf("read", start, end);
      const data = new Float32Array((to - from) * width);
      for await (const { at, tensor } of pieces(hook, from, to))
        data.set(tensor.data as Float32Array, (at - from) * width);
      return { from, data, width };
    },
    async *stream(hook) {
      const width = widthOf(hook);
      for await (const { at, tensor } of pieces(hook, 0, index.rows))
        yield { from: at, data: tensor.data as Float32Array, width };
    },
    async table(start, end) {
      const [from, to] = rangeOf("table", start, end);
      const table = TABLE.map(() => new Int32Array(to - from));
      for (const [i, name] of TABLE.entries())
        for await (const { at, tensor } of pieces(name, from, to))
          table[i]!.set(tensor.data as Int32Array, at - from);
      const [request, position, token] = table;
      return { request: request!, position: position!, token: token! };
    },
    async verify(onShard) {
      for (const [i, { file, sha256 }] of index.shards.entries()) {
        const { sha256: found } = await hashFile(join(folder, file));
        if (found !== sha256)
          throw new Error(
            `activations: ${join(folder, file)} is not as it was written (sha256 ${found.slice(0, 12)}…, noted ${sha256.slice(0, 12)}…); ` +
              "evict the set (npm run activations -- evict) and capture again",
          );
        onShard?.(i + 1, index.shards.length);
      }
    },
  };
}
