/** Download a file: resumed where it was cut, verified while it streams, and in its place only when it is whole. */
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, rename, rm, stat, statfs } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeCacheFolder } from "./cache.js";
import { FetchError, publicAddress, statusError } from "./fetch-error.js";
import { type OnFetchProgress, progressMeter } from "./fetch-progress.js";
import { withLock } from "./lock.js";
import { addressKey, readPart, removePart, writePartNote } from "./part-file.js";
import { type Authorisation, request } from "./request.js";
import { readBody } from "./response-body.js";

export interface DownloadOptions {
  /** What the whole file must be, 64 hex digits. Without it only the length is checked. */
  readonly sha256?: string | null;
  /** Length of the whole file in bytes, where it is known. */
  readonly bytes?: number | null;
  readonly authorisation?: Authorisation;
  /** What errors and progress call the source. Default host and path. */
  readonly label?: string;
  /** Tries in a row that get no further before giving up. Default 5. */
  readonly tries?: number;
  /** Wait after the first failure, ms; doubles each time up to 30 s, and a server's `Retry-After` is kept. Default 500. */
  readonly backoffMs?: number;
  /** A connection that sends nothing for this long is given up and tried again, ms. Default 30,000. */
  readonly stallMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnFetchProgress;
  /** Called when another process is downloading the same file and is waited for. */
  readonly onWait?: (pid: number) => void;
}

export interface Downloaded {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Bytes that came over the network this time: 0 where the file was there already. */
  readonly received: number;
}

/**
 * Fetch `url` into `dest`. A file that is there already is checked (where a sha256 is known) and kept. The unfinished
 * file is `<dest>.part`; a later call, also of another process, goes on from it. Two processes that want the same
 * file exclude each other: the second waits and finds it done.
 *
 * Throws one line for: no such file, refused access, no network, a server that stays faulty, a wrong length or
 * sha256 (what came is removed), a full disk (looked at before, and the part is kept). An abort keeps the part.
 */
export async function download(
  url: string,
  dest: string,
  options: DownloadOptions = {},
): Promise<Downloaded> {
  await makeCacheFolder(dirname(dest));
  const { signal, onWait } = options;
  return withLock(
    `${dest}.lock`,
    async () => (await already(dest, options)) ?? (await fetchWhole(url, dest, options)),
    { ...(signal && { signal }), ...(onWait && { onWait }) },
  );
}

async function already(dest: string, options: DownloadOptions): Promise<Downloaded | undefined> {
  const about = await stat(dest).catch(() => undefined);
  if (about === undefined) return undefined;
  const hash = createHash("sha256");
  await feed(hash, dest, about.size, options);
  const sha256 = hash.digest("hex");
  const same = (options.sha256 ?? sha256) === sha256 && (options.bytes ?? about.size) === about.size;
  if (same) return { path: dest, sha256, bytes: about.size, received: 0 };
  await rm(dest);
  return undefined;
}

async function fetchWhole(url: string, dest: string, options: DownloadOptions): Promise<Downloaded> {
  const tries = options.tries ?? 5;
  let received = 0;
  let failed = 0;
  let furthest = 0;
  let anew = false;
  for (;;) {
    const run = { received: 0, reached: 0 };
    try {
      const done = await fetchOnce(url, dest, options, run);
      return { ...done, received: received + run.received };
    } catch (error) {
      received += run.received;
      options.signal?.throwIfAborted();
      if (error instanceof WrongPart && !anew) {
        anew = true; // the kept part was of another file: once more from the start
        continue;
      }
      if (!(error instanceof FetchError) || !error.retry) throw error;
      // Only new ground counts as progress: a server that ignores ranges may send the same start for ever.
      failed = run.reached > furthest + LEAST_PROGRESS ? 1 : failed + 1;
      furthest = Math.max(furthest, run.reached);
      if (failed >= tries) throw error;
      const wait = Math.min(30_000, (options.backoffMs ?? 500) * 2 ** (failed - 1));
      const asked = Math.min(120, error.retryAfter ?? 0) * 1000;
      await sleep(Math.max(wait * (0.75 + 0.5 * Math.random()), asked), undefined, {
        ...(options.signal && { signal: options.signal }),
      }).catch(() => undefined);
      options.signal?.throwIfAborted();
    }
  }
}

const LEAST_PROGRESS = 1 << 16;

class WrongPart extends Error {}

async function fetchOnce(
  url: string,
  dest: string,
  options: DownloadOptions,
  run: { received: number; reached: number },
): Promise<Omit<Downloaded, "received">> {
  const label = options.label ?? publicAddress(url);
  const expected = options.sha256 ?? null;
  const part = await readPart(dest, url, expected);
  const { response } = await request(url, {
    ...(options.authorisation && { authorisation: options.authorisation }),
    ...(options.signal && { signal: options.signal }),
    label,
    answerMs: options.stallMs ?? 30_000,
    headers: {
      ...(part.bytes > 0 ? { range: `bytes=${part.bytes}-` } : {}),
      ...(part.bytes > 0 && part.ifRange !== undefined ? { "if-range": part.ifRange } : {}),
    },
  });
  const start = await startOf(response, part.bytes, dest, label);
  const total = options.bytes ?? start.total;
  if (start.total > 0 && total !== start.total) {
    await response.body?.cancel();
    throw new FetchError(
      `download: ${label} has ${start.total} bytes; expected ${total}; it is another file`,
      {
        retry: false,
      },
    );
  }
  await needSpace(dest, total - start.at, label, response);
  const meter = progressMeter(basename(dest), total, options.onProgress);
  const hash = createHash("sha256");
  await feed(hash, part.path, start.at, {});
  if (start.at === 0) {
    await writePartNote(dest, {
      address: addressKey(url),
      sha256: expected,
      etag: response.headers.get("etag"),
      lastModified: response.headers.get("last-modified"),
    });
  }
  const file = await open(part.path, start.at > 0 ? "r+" : "w").catch((e) => diskError(e, dest));
  let size = start.at;
  meter(size);
  try {
    for await (const chunk of readBody(response, { ...options, label })) {
      if (total > 0 && size + chunk.length > total) {
        throw new FetchError(
          `download: ${label} sent more than the ${total} bytes expected; it is another file`,
          {
            retry: false,
          },
        );
      }
      await write(file, chunk, size, dest);
      hash.update(chunk);
      size += chunk.length;
      run.received += chunk.length;
      run.reached = size;
      meter(size);
    }
    if (total > 0 && size < total) {
      throw new FetchError(`download: ${label} was cut after ${size} of ${total} bytes; try again`, {
        retry: true,
      });
    }
    await file.truncate(size);
    await file.sync();
  } finally {
    await file.close();
  }
  const sha256 = hash.digest("hex");
  if (expected !== null && sha256 !== expected) {
    await removePart(dest);
    const line = `download: ${label} has sha256 ${sha256}; expected ${expected}; removed what came`;
    throw start.at > 0 ? new WrongPart(line) : new FetchError(line, { retry: false });
  }
  await rename(part.path, dest);
  await removePart(dest);
  meter(size, true);
  return { path: dest, sha256, bytes: size };
}

/** Where the answer's body begins in the file, and how long the file is (0: not said). */
async function startOf(
  response: Response,
  kept: number,
  dest: string,
  label: string,
): Promise<{ at: number; total: number }> {
  const encoded = (response.headers.get("content-encoding") ?? "identity") !== "identity";
  const length = encoded ? 0 : Number(response.headers.get("content-length") ?? 0);
  if (response.status === 200) return { at: 0, total: length };
  const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get("content-range") ?? "");
  if (response.status === 206 && kept > 0 && !encoded && Number(range?.[1]) === kept) {
    return { at: kept, total: range![3] === "*" ? kept + length : Number(range![3]) };
  }
  await response.body?.cancel();
  if (response.status === 206 || response.status === 416) {
    // The part and the server do not fit each other (any more): start anew.
    await removePart(dest);
    throw new FetchError(`download: ${label} cannot go on from byte ${kept}; try again`, { retry: true });
  }
  throw statusError(response, label);
}

/** Hash the first `bytes` bytes of a file. */
async function feed(hash: Hash, path: string, bytes: number, options: DownloadOptions): Promise<void> {
  if (bytes === 0) return;
  for await (const chunk of createReadStream(path, { end: bytes - 1, highWaterMark: 1 << 20 })) {
    options.signal?.throwIfAborted();
    hash.update(chunk as Buffer);
  }
}

async function needSpace(dest: string, bytes: number, label: string, response: Response): Promise<void> {
  if (bytes <= 0) return;
  const disk = await statfs(dirname(dest)).catch(() => undefined);
  const free = disk === undefined ? Number.POSITIVE_INFINITY : disk.bavail * disk.bsize;
  if (free >= bytes) return;
  await response.body?.cancel();
  const mb = (n: number) => `${Math.ceil(n / 1e6)} MB`;
  throw new Error(
    `download: ${label} needs ${mb(bytes)} in ${dirname(dest)}, which has ${mb(free)}; make room or set COUNTLENS_CACHE`,
  );
}

async function write(file: FileHandle, chunk: Uint8Array, position: number, dest: string): Promise<void> {
  try {
    for (let done = 0; done < chunk.length; ) {
      done += (await file.write(chunk, done, chunk.length - done, position + done)).bytesWritten;
    }
  } catch (error) {
    diskError(error, dest);
  }
}

function diskError(error: unknown, dest: string): never {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  const what = code === "ENOSPC" ? "the disk is full" : code === "EDQUOT" ? "the quota is used up" : code;
  throw new Error(
    `download: ${dirname(dest)} cannot be written (${what}); make room or set COUNTLENS_CACHE; the part is kept`,
  );
}
