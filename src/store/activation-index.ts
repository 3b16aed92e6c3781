/** The index of a set of stored activations: what was captured of what, and in which files it lies. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathInside } from "./cache.js";
import type { Provenance } from "./provenance.js";
import { counts } from "./tensor-types.js";

/** One file of a set. */
export interface ActivationShard {
  /** Name of the safetensors file in the set's folder. */
  readonly file: string;
  /** Requests and rows in it, [from, to). */
  readonly requests: readonly [number, number];
  readonly rows: readonly [number, number];
  readonly bytes: number;
  /** Of the file. */
  readonly sha256: string;
}

/** What a set of activations on disk holds, and where. */
export interface ActivationIndex {
  /** Form of this file. */
  readonly form: 2;
  /** What the set is found by: model, settings, tokens, positions, edits, hook points. */
  readonly key: string;
  /** Every shard is there. */
  readonly complete: boolean;
  /** Names as in `residPost(3)`, which are the names of the tensors, with the width of a row. */
  readonly hooks: readonly { readonly name: string; readonly width: number }[];
  readonly requests: number;
  /** Captured positions of all requests together: rows of each tensor over all shards. */
  readonly rows: number;
  /** Of all shards once complete. */
  readonly bytes: number;
  /** Those that are written, in order. */
  readonly shards: readonly ActivationShard[];
  readonly provenance: Provenance;
}

export const INDEX_FILE = "index.json";

/** Reads and checks the index of a folder; undefined where there is none. */
export async function readActivationIndex(folder: string): Promise<ActivationIndex | undefined> {
  const path = join(folder, INDEX_FILE);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new Error(`activations: ${path} cannot be read (${code})`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return fail(path, "it is no JSON");
  }
  return checkIndex(json, folder, path);
}

/** Replaces the index in one step, so that it is always whole. */
export async function writeActivationIndex(folder: string, index: ActivationIndex): Promise<void> {
  const draft = join(folder, `${INDEX_FILE}.${process.pid}.writing`);
  await writeFile(draft, `${JSON.stringify(index, null, 1)}\n`, { flush: true } as object);
  await rename(draft, join(folder, INDEX_FILE));
}

function checkIndex(json: unknown, folder: string, path: string): ActivationIndex {
  if (typeof json !== "object" || json === null) return fail(path, "it is no object");
  const index = json as ActivationIndex;
  if (index.form !== 2) fail(path, `it has form ${JSON.stringify(index.form)}; expected 2`);
  if (typeof index.key !== "string" || typeof index.complete !== "boolean")
    fail(path, "it lacks key or complete");
  if (!counts([index.requests, index.rows, index.bytes]))
    fail(path, "requests, rows or bytes are no numbers");
  const named = (hook: { name?: unknown; width?: unknown } | null) =>
    typeof hook?.name === "string" && Number.isSafeInteger(hook.width) && (hook.width as number) > 0;
  if (!Array.isArray(index.hooks) || index.hooks.length === 0 || !index.hooks.every(named))
    fail(path, "its hook points lack a name or a width");
  if (!Array.isArray(index.shards)) fail(path, "it has no list of shards");
  let [request, row] = [0, 0];
  for (const [i, shard] of index.shards.entries()) {
    const { file, requests, rows, bytes, sha256 } = (shard ?? {}) as ActivationShard;
    const range = (pair: unknown, from: number): pair is [number, number] =>
      counts(pair) && pair.length === 2 && pair[0] === from && pair[1]! >= from;
    if (typeof file !== "string" || !counts([bytes]) || !range(requests, request) || !range(rows, row))
      return fail(path, `its shard ${i} does not follow the one before it`);
    if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256))
      return fail(path, `its shard ${i} lacks a sha256`);
    pathInside(folder, file);
    [request, row] = [requests[1]!, rows[1]!];
  }
  if (index.complete && (request !== index.requests || row !== index.rows))
    fail(
      path,
      `its shards hold ${row} rows of ${request} requests; it says ${index.rows} of ${index.requests}`,
    );
  return index;
}

function fail(path: string, what: string): never {
  throw new Error(
    `activations: ${path} is damaged or of another kind: ${what}; remove its folder and capture again`,
  );
}
