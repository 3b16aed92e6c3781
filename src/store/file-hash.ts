/** sha256 of a file, remembered as long as the file stays as it was, so that a model opens at once the second time. */
import { createHash } from "node:crypto";
import { mkdir, open, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache.js";
import { type OnFetchProgress, progressMeter } from "./fetch-progress.js";

export interface FileHashOptions {
  readonly cache?: string;
  /** Read the file even if its hash is remembered. Default false. */
  readonly fresh?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnFetchProgress;
}

export interface FileRecord {
  readonly sha256: string;
  readonly bytes: number;
  /** Where the file came from, if this library fetched it. */
  readonly source?: string;
}

/**
 * sha256 of the file at `path`, hex. Remembered in the cache folder by path, size, time of change (ns) and inode;
 * weakness: a change that restores all of them is not seen (`fresh` reads again). A cache that cannot be written
 * costs only the memory.
 */
export async function fileHash(path: string, options: FileHashOptions = {}): Promise<FileRecord> {
  const full = await realpath(path);
  const mark = await markOf(full);
  if (options.fresh !== true) {
    const known = await recall(full, mark, options.cache);
    if (known !== undefined) return known;
  }
  const meter = progressMeter(`sha256 of ${path.split(/[/\\]/).pop()}`, mark.bytes, options.onProgress);
  const record = await hashFile(full, meter, options.signal);
  await remember(full, mark, record, options.cache);
  return record;
}

/** sha256 and size of a file, read in any case. */
export async function hashFile(
  path: string,
  onBytes?: (done: number) => void,
  signal?: AbortSignal,
): Promise<FileRecord> {
  const hash = createHash("sha256");
  // One buffer throughout: a stream makes a new one for every piece, which stay until they are collected.
  const buffer = new Uint8Array(1 << 20);
  const file = await open(path);
  try {
    for (let done = 0; ; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length, done);
      if (bytesRead === 0) return { sha256: hash.digest("hex"), bytes: done };
      hash.update(buffer.subarray(0, bytesRead));
      done += bytesRead;
      onBytes?.(done);
    }
  } finally {
    await file.close();
  }
}

/** Remember what is known of a file that was just fetched and checked. */
export async function rememberHash(path: string, record: FileRecord, cache?: string): Promise<void> {
  const full = await realpath(path);
  await remember(full, await markOf(full), record, cache);
}

interface Mark {
  readonly bytes: number;
  readonly stamp: string;
}

async function markOf(path: string): Promise<Mark> {
  const about = await stat(path, { bigint: true });
  return { bytes: Number(about.size), stamp: `${about.size} ${about.mtimeNs} ${about.ctimeNs} ${about.ino}` };
}

// One small file per path: two processes never write over each other's records.
function recordPath(path: string, cache = cacheFolder()): string {
  return join(cache, "hashes", `${createHash("sha256").update(path).digest("hex").slice(0, 32)}.json`);
}

async function recall(path: string, mark: Mark, cache: string | undefined): Promise<FileRecord | undefined> {
  try {
    const json = JSON.parse(await readFile(recordPath(path, cache), "utf8")) as FileRecord & {
      path: string;
      stamp: string;
    };
    if (json.path !== path || json.stamp !== mark.stamp || !/^[0-9a-f]{64}$/.test(json.sha256))
      return undefined;
    const { sha256, bytes, source } = json;
    return { sha256, bytes, ...(source === undefined ? {} : { source }) };
  } catch {
    return undefined;
  }
}

async function remember(
  path: string,
  mark: Mark,
  record: FileRecord,
  cache: string | undefined,
): Promise<void> {
  const target = recordPath(path, cache);
  const draft = `${target}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(draft, JSON.stringify({ path, stamp: mark.stamp, ...record }));
    await rename(draft, target);
  } catch {
    // A cache on a read-only or full disk: the file is hashed again next time.
  }
}
