/**
 * The published Zero-Error Horizon data: seven Qwen2.5-Instruct models on all products 1..99 x 1..99, and how often
 * each pair occurs in C4. Not part of this repository: read where it lies, or fetched by name (`zeh-published`).
 */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cacheFolder, expandHome } from "./cache.js";
import { type CatalogueEntry, findEntry, readCatalogue } from "./catalogue.js";
import { projectRoot } from "./project-root.js";

/** A wrong published answer. */
export interface PublishedError {
  readonly a: number;
  readonly b: number;
  readonly expected: number;
  /** The integer read from the answer, `null` where there was none. */
  readonly predicted: number | null;
}

/** One model's published answers to every pair of a range. */
export interface PublishedGrid {
  /** As published, for example `Qwen/Qwen2.5-0.5B-Instruct`. */
  readonly model: string;
  /** Nominal count, from the model's name: 0.5e9, 1.5e9, 3e9, ... (the published analysis uses these). */
  readonly parameters: number;
  /** Both operands run over `range[0]..range[1]`, ends included. */
  readonly range: readonly [number, number];
  /** Instances: every ordered pair of the range. */
  readonly total: number;
  /** Pairs not listed were answered correctly. Sorted by a, then b. */
  readonly errors: readonly PublishedError[];
  /** Raw answers of every pair, keyed `a,b`, where they were published (five models of seven). */
  readonly responses?: ReadonlyMap<string, string>;
}

/** The first paper's published grids and corpus counts. */
export interface PublishedData {
  /** By rising parameter count. */
  readonly grids: readonly PublishedGrid[];
  /** Occurrences in C4, keyed `a,b` **as published: always a <= b**; absent means 0. The published analysis looks up the
   * ordered pair, so that `3,2` counts as never seen; {@link pairFrequency} does either. */
  readonly frequency: ReadonlyMap<string, number>;
  /** Where it was read, and the sha256 of each file. */
  readonly folder: string;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
}

/** Where the published files are. */
export interface PublishedOptions {
  /** Read from this folder only. Default: the cache, then `../shared/published/zeh` beside the project. */
  readonly folder?: string;
  /** Download it when it is nowhere. Default false: the answer is then `undefined`. */
  readonly fetch?: boolean;
  readonly cache?: string;
  readonly signal?: AbortSignal;
}

/**
 * All published grids and counts, or `undefined` where the files are not on this machine and `fetch` is not set
 * (`npm run models -- get zeh-published` fetches them). Every file's sha256 is checked against the catalogue; a
 * changed file is an error.
 */
export async function loadPublished(options: PublishedOptions = {}): Promise<PublishedData | undefined> {
  const entry = findEntry(readCatalogue(), "zeh-published");
  const cached = join(options.cache ?? cacheFolder(), "data", entry.name);
  const places =
    options.folder === undefined
      ? [cached, resolve(projectRoot(), "..", "shared", "published", "zeh")]
      : [resolve(expandHome(options.folder))];
  for (const folder of places) {
    if (await holdsAll(folder, entry)) return read(folder, entry);
  }
  if (options.folder !== undefined) {
    throw new Error(
      `loadPublished: ${options.folder} lacks files of zeh-published; expected ${entry.files[0]!.path} and grid_results/`,
    );
  }
  if (options.fetch !== true) return undefined;
  const { fetchEntry } = await import("./fetch-entry.js");
  await fetchEntry(entry, options);
  return read(cached, entry);
}

/**
 * Occurrences of a pair. `ordered` (default false) looks up `a,b` as the published analysis does: 0 for every a > b,
 * since the keys are unordered.
 */
export function pairFrequency(
  frequency: ReadonlyMap<string, number>,
  a: number,
  b: number,
  options: { readonly ordered?: boolean } = {},
): number {
  const key = options.ordered === true || a <= b ? `${a},${b}` : `${b},${a}`;
  return frequency.get(key) ?? 0;
}

async function holdsAll(folder: string, entry: CatalogueEntry): Promise<boolean> {
  for (const file of entry.files) {
    const about = await stat(join(folder, file.path)).catch(() => undefined);
    if (about === undefined || !about.isFile()) return false;
  }
  return true;
}

async function read(folder: string, entry: CatalogueEntry): Promise<PublishedData> {
  const grids: PublishedGrid[] = [];
  const files: { path: string; sha256: string }[] = [];
  let frequency: Map<string, number> | undefined;
  for (const file of entry.files) {
    const bytes = await readFile(join(folder, file.path));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (sha256 !== file.sha256) {
      throw new Error(
        `loadPublished: ${join(folder, file.path)} has sha256 ${sha256}; expected ${file.sha256}; remove it and fetch it again`,
      );
    }
    files.push({ path: file.path, sha256 });
    const json: unknown = JSON.parse(bytes.toString("utf8"));
    if (file.path.startsWith("grid_results/")) grids.push(gridOf(json as RawGrid, file.path));
    else frequency = new Map(Object.entries((json as { pair_counts: Record<string, number> }).pair_counts));
  }
  if (frequency === undefined) throw new Error("loadPublished: the catalogue lists no frequency file");
  grids.sort((a, b) => a.parameters - b.parameters);
  return { grids, frequency, folder, files };
}

interface RawGrid {
  readonly model: string;
  readonly grid_range: [number, number];
  readonly total: number;
  readonly errors: readonly PublishedError[];
  readonly grid?: Readonly<Record<string, { readonly response: string }>>;
}

function gridOf(raw: RawGrid, path: string): PublishedGrid {
  const size = /-([\d.]+)B-/.exec(raw.model)?.[1];
  if (size === undefined)
    throw new Error(`loadPublished: ${path} names the model ${raw.model}; expected ...-<n>B-...`);
  const errors = raw.errors.map(({ a, b, expected, predicted }) => ({
    a,
    b,
    expected,
    predicted: predicted ?? null,
  }));
  errors.sort((x, y) => x.a - y.a || x.b - y.b);
  return {
    model: raw.model,
    parameters: Number(size) * 1e9,
    range: raw.grid_range,
    total: raw.total,
    errors,
    ...(raw.grid === undefined
      ? {}
      : { responses: new Map(Object.entries(raw.grid).map(([key, cell]) => [key, cell.response])) }),
  };
}
