/** The unfinished file of a download: `<dest>.part`, and beside it what must be known to go on with it. */
import { createHash } from "node:crypto";
import { readFile, rm, stat, writeFile } from "node:fs/promises";

/** What the server said of the file when the part was begun. */
export interface PartNote {
  /** sha256 of the address without its query (signed links change theirs); the address itself is not kept. */
  readonly address: string;
  /** What the whole file is expected to be, where it is known. */
  readonly sha256: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface Part {
  readonly path: string;
  /** Bytes that are there and may be kept; 0 starts anew. */
  readonly bytes: number;
  /** Value for `If-Range`, where the server gave one to compare by. */
  readonly ifRange?: string;
}

export function partPath(dest: string): string {
  return `${dest}.part`;
}

export function addressKey(url: string): string {
  const { origin, pathname } = new URL(url);
  return createHash("sha256").update(`${origin}${pathname}`).digest("hex");
}

/**
 * The part that a download of `url` can go on from. With a known sha256 any part of the same file will do, since the
 * whole is checked; without one the server must recognise it by its ETag or date.
 */
export async function readPart(dest: string, url: string, sha256: string | null): Promise<Part> {
  const path = partPath(dest);
  const none = { path, bytes: 0 };
  const about = await stat(path).catch(() => undefined);
  if (about === undefined || about.size === 0) return none;
  const note = await readNote(path);
  if (note === undefined || note.sha256 !== sha256) return none;
  const sameAddress = note.address === addressKey(url);
  const validator = strong(note.etag) ?? note.lastModified;
  if (sameAddress && validator !== null) return { path, bytes: about.size, ifRange: validator };
  return sha256 === null ? none : { path, bytes: about.size };
}

export async function writePartNote(dest: string, note: PartNote): Promise<void> {
  await writeFile(`${partPath(dest)}.json`, JSON.stringify(note));
}

export async function removePart(dest: string): Promise<void> {
  await rm(partPath(dest), { force: true });
  await rm(`${partPath(dest)}.json`, { force: true });
}

/** A weak ETag says that two files mean the same, not that their bytes are the same. */
function strong(etag: string | null): string | null {
  return etag?.startsWith('"') === true ? etag : null;
}

async function readNote(path: string): Promise<PartNote | undefined> {
  try {
    return JSON.parse(await readFile(`${path}.json`, "utf8")) as PartNote;
  } catch {
    return undefined;
  }
}
