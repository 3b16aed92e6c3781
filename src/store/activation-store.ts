/**
 * The activation store: sets of captured activations on disk, one folder each, named by what was captured.
 *
 * A set is safetensors shards and an `index.json`. Everything in it can be computed again, so evicting a set loses time and nothing
 * else; nothing is evicted unless somebody says so.
 */
import { readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type ActivationIndex, readActivationIndex } from "./activation-index.js";
import { cacheFolder, pathInside } from "./cache.js";
import { tryLock } from "./lock.js";

/** Where activations are kept. */
export interface StoreOptions {
  /** Folder of the store. Default `activations` in the cache folder (`COUNTLENS_CACHE`). */
  readonly store?: string;
}

/** A set of activations on disk. */
export interface StoredSet {
  readonly key: string;
  readonly folder: string;
  /** On disk now. */
  readonly bytes: number;
  /** Last change, ms since 1970. */
  readonly modified: number;
  /** Undefined where the index is missing or cannot be read. */
  readonly index?: ActivationIndex;
}

/** Most bytes that the store may come to, unless the caller says otherwise. */
export const STORE_BUDGET = 50e9;

export function storeFolder({ store }: StoreOptions = {}): string {
  return store ?? join(cacheFolder(), "activations");
}

/** All sets, oldest first. */
export async function listActivations(options: StoreOptions = {}): Promise<StoredSet[]> {
  const root = storeFolder(options);
  const entries = await readdir(root, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const sets: StoredSet[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || !/^[0-9a-f]{32}$/.test(entry.name)) continue;
    const folder = join(root, entry.name);
    let [bytes, modified] = [0, 0];
    for (const name of await readdir(folder)) {
      const about = await stat(join(folder, name)).catch(() => undefined);
      bytes += about?.size ?? 0;
      modified = Math.max(modified, about?.mtimeMs ?? 0);
    }
    const index = await readActivationIndex(folder).catch(() => undefined);
    sets.push({ key: entry.name, folder, bytes, modified, ...(index && { index }) });
  }
  return sets.sort((a, b) => a.modified - b.modified);
}

/**
 * Removes sets: those named (by the beginning of their key), those last changed before a time, or the oldest until the store takes at
 * most `toBytes`. One that is being captured is refused.
 *
 * @returns what was removed
 */
export async function evictActivations(
  which: { readonly keys: readonly string[] } | { readonly before: number } | { readonly toBytes: number },
  options: StoreOptions = {},
): Promise<StoredSet[]> {
  const sets = await listActivations(options);
  const chosen = chooseSets(sets, which);
  for (const { key, folder } of chosen) {
    const lock = await tryLock(`${folder}.lock`);
    if (!lock.held)
      throw new Error(
        `activations: ${key} is being captured by process ${lock.pid}; end it, or leave the set`,
      );
    try {
      await rm(pathInside(storeFolder(options), key), { recursive: true, force: true });
    } finally {
      await lock.release();
    }
  }
  return chosen;
}

/** Those of `sets` that are meant; a key may be cut to its beginning. */
export function chooseSets(
  sets: readonly StoredSet[],
  which: Parameters<typeof evictActivations>[0],
): StoredSet[] {
  if ("before" in which) return sets.filter(({ modified }) => modified < which.before);
  if ("toBytes" in which) {
    let total = sets.reduce((sum, { bytes }) => sum + bytes, 0);
    return sets.filter(({ bytes }) => {
      if (total <= which.toBytes) return false;
      total -= bytes;
      return true;
    });
  }
  return which.keys.map((start) => {
    const fitting = sets.filter(({ key }) => key.startsWith(start));
    if (start.length >= 4 && fitting.length === 1) return fitting[0]!;
    const what = fitting.length > 1 ? `${fitting.length} sets begin so` : "no set begins so";
    throw new Error(`activations: ${start}: ${what}; give at least 4 digits of a key from the list`);
  });
}

/**
 * Refuses a capture that the store's budget or the disk has no room for, before it begins.
 *
 * @param bytes what it will take
 * @param there what of it is there already
 */
export async function checkRoom(
  bytes: number,
  there: number,
  budget: number,
  options: StoreOptions = {},
): Promise<void> {
  const more = bytes - there;
  const used = (await listActivations(options)).reduce((sum, set) => sum + set.bytes, 0);
  const hint = "evict sets (npm run activations -- list), capture fewer layers or positions";
  if (used + more > budget)
    throw new Error(
      `captureActivations: ${gigabytes(more)} more would bring the store to ${gigabytes(used + more)}; ` +
        `its budget is ${gigabytes(budget)}; ${hint}, or give a larger budget`,
    );
  // The folder itself may not be there yet.
  const disk = await statfs(storeFolder(options)).catch(() => undefined);
  const free = disk === undefined ? Number.POSITIVE_INFINITY : disk.bavail * disk.bsize;
  if (more > free)
    throw new Error(
      `captureActivations: ${gigabytes(more)} to write, and the disk of ${storeFolder(options)} has ${gigabytes(free)}; ${hint}`,
    );
}

export function gigabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
