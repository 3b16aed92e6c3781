/**
 * Captures more than memory holds: straight to the activation store, a shard at a time.
 *
 * A shard is evaluated, written, and forgotten before the next begins, so memory stays flat. Shards depend on nothing but the request,
 * so a capture that was stopped goes on after its last whole shard, and one that is there is found again.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type HookPoint, hookName } from "../engine/hooks.js";
import type { Edit, Positions, Request, Result, RunOptions } from "../engine/request.js";
import { placeRequest } from "../engine/validate.js";
import {
  type ActivationIndex,
  type ActivationShard,
  readActivationIndex,
  writeActivationIndex,
} from "../store/activation-index.js";
import { makeReader, type StoredActivations, TABLE } from "../store/activation-reader.js";
import {
  checkRoom,
  gigabytes,
  STORE_BUDGET,
  type StoreOptions,
  storeFolder,
} from "../store/activation-store.js";
import { contentKey } from "../store/content-key.js";
import { tryLock } from "../store/lock.js";
import { type Json, provenance } from "../store/provenance.js";
import { safetensorsWriter } from "../store/safetensors-writer.js";
import { modelIdentity } from "./identity.js";
import { type Model, requireHook } from "./model.js";
import { watched } from "./watched.js";

/** One prompt of a capture to disk. */
export interface CaptureRequest {
  readonly tokens: Int32Array | readonly number[];
  /** Default: those of the options. */
  readonly positions?: Positions;
  /** Plain operations; a custom function has no content to be found by and is refused. */
  readonly edits?: readonly Edit[];
}

/** Hook points and limits of a capture to disk. */
export interface CaptureOptions extends StoreOptions, Pick<RunOptions, "signal" | "onProgress"> {
  /** Hook points, the same for all requests. Attention weights, whose rows differ in width, are refused. */
  readonly hooks: readonly HookPoint[];
  /** Positions of each request. Default `all`. */
  readonly positions?: Positions;
  /** Most bytes of the whole store, this capture included. Default 50 GB. */
  readonly budget?: number;
  /** Bytes of a shard, about: what is in memory at once. Default 8 MB. A request that is larger is a shard of its own. */
  readonly shardBytes?: number;
  /** Called with a line that says the size, before anything is computed. `console.log` does. */
  readonly onSize?: (text: string) => void;
  /** Goes into the provenance. */
  readonly notes?: Readonly<Record<string, Json>>;
}

/** What a capture to disk would take, before it is made. */
export interface CaptureSize {
  /** Of the files, all shards together. */
  readonly bytes: number;
  readonly rows: number;
  readonly requests: number;
  readonly shards: number;
  /** `1.38 GB: 20,000 rows of 30 hook points`. */
  readonly text: string;
}

/** A capture on disk: made now, or found. */
export interface Captured extends StoredActivations {
  readonly key: string;
  /** Was all of it there already? */
  readonly found: boolean;
}

const SHARD_BYTES = 8e6;
/** What a header takes, at most and about. */
const HEADER_BYTES = 200;

interface Placed {
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
  readonly edits: readonly Edit[];
}

interface Plan {
  readonly hooks: readonly { readonly hook: HookPoint; readonly name: string; readonly width: number }[];
  readonly placed: readonly Placed[];
  /** Requests [from, to) of each shard. */
  readonly shards: readonly (readonly [number, number])[];
  readonly size: CaptureSize;
}

/** What a capture would take on disk; computes and writes nothing. */
export function captureSize(
  model: Model,
  requests: readonly CaptureRequest[],
  options: CaptureOptions,
): CaptureSize {
  return planCapture(model, requests, options).size;
}

/**
 * Captures hook points at positions of many requests to disk.
 *
 * Refused before anything runs: hook points the model does not have, and captures that the budget or the disk has no room for. Another
 * process that captures the same set is named. A stopped capture (interrupt, kill, full disk) goes on where it was.
 *
 * @example
 * const set = await captureActivations(model, prompts, { hooks: [residPost(3)], positions: [-1], onSize: console.log });
 * const { data, width } = await set.read("residPost(3)"); // [row, d_model]
 */
export async function captureActivations(
  model: Model,
  requests: readonly CaptureRequest[],
  options: CaptureOptions,
): Promise<Captured> {
  const plan = planCapture(model, requests, options);
  const key = contentKey({
    model: modelIdentity(model),
    hooks: plan.hooks.map(({ name }) => name),
    requests: plan.placed.map(({ tokens, positions, edits }) => ({ tokens, positions, edits })),
  }).slice(0, 32);
  const folder = join(storeFolder(options), key);
  const known = await readActivationIndex(folder);
  if (known?.complete === true) return { ...makeReader(folder, known), key, found: true };
  const there = known?.shards.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  await makeFolder(storeFolder(options));
  await checkRoom(plan.size.bytes, there, options.budget ?? STORE_BUDGET, options);
  await makeFolder(folder);
  const lock = await tryLock(`${folder}.lock`);
  if (!lock.held)
    throw new Error(
      `captureActivations: process ${lock.pid} on ${lock.host} is capturing the same set; wait for it and call again`,
    );
  try {
    const index = await captureInto(model, plan, key, folder, options);
    return { ...makeReader(folder, index), key, found: false };
  } finally {
    await lock.release();
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `captureActivations: ${path} cannot be made (${error.code}); give a store that can be written`,
    );
  });
}

function planCapture(model: Model, requests: readonly CaptureRequest[], options: CaptureOptions): Plan {
  const { hooks, positions = "all", shardBytes = SHARD_BYTES } = options;
  if (requests.length === 0) throw new Error("captureActivations: no requests; expected at least one");
  if (hooks.length === 0)
    throw new Error("captureActivations: no hook points; expected at least one, e.g. residPost(3)");
  if (!(shardBytes > 0)) throw new Error(`captureActivations: shardBytes ${shardBytes}; expected above 0`);
  const named = hooks.map((hook) => {
    const width = requireHook(model, hook, "captureActivations");
    if (hook.kind === "attnPattern")
      throw new Error(
        "captureActivations: attention weights have no fixed width; read them with model.evaluate",
      );
    return { hook, name: hookName(hook), width };
  });
  if (new Set(named.map(({ name }) => name)).size < named.length)
    throw new Error("captureActivations: a hook point is given twice");
  const placed = requests.map(({ tokens, positions: own = positions, edits = [] }, i): Placed => {
    const captures = [{ hook: hooks[0]!, positions: own }];
    const request = placeRequest(model.info, { tokens, captures, edits }, `request ${i}`);
    return { tokens: request.tokens, positions: request.captures[0]!.positions, edits };
  });
  const rowBytes = 4 * (named.reduce((sum, { width }) => sum + width, 0) + TABLE.length);
  const shards: [number, number][] = [];
  let held = 0;
  placed.forEach(({ positions: own }, i) => {
    const bytes = own.length * rowBytes;
    if (shards.length === 0 || held + bytes > shardBytes) {
      shards.push([i, i]);
      held = 0;
    }
    held += bytes;
    shards.at(-1)![1] = i + 1;
  });
  const rows = placed.reduce((sum, one) => sum + one.positions.length, 0);
  const bytes = rows * rowBytes + shards.length * HEADER_BYTES * (named.length + TABLE.length);
  const text = `${gigabytes(bytes)}: ${rows.toLocaleString("en")} rows of ${named.length} hook points`;
  return {
    hooks: named,
    placed,
    shards,
    size: { bytes, rows, requests: placed.length, shards: shards.length, text },
  };
}

async function captureInto(
  model: Model,
  plan: Plan,
  key: string,
  folder: string,
  options: CaptureOptions,
): Promise<ActivationIndex> {
  const { onSize, notes = {} } = options;
  const { size, hooks, placed } = plan;
  for (const name of await readdir(folder))
    if (name.endsWith(".writing")) await rm(join(folder, name), { force: true }); // of a process that was killed
  let index: ActivationIndex = (await readActivationIndex(folder)) ?? {
    form: 2,
    key,
    complete: false,
    hooks: hooks.map(({ name, width }) => ({ name, width })),
    requests: size.requests,
    rows: size.rows,
    bytes: size.bytes,
    shards: [],
    provenance: provenance({ model, notes: { ...notes, capture: hooks.map(({ name }) => name) } }),
  };
  onSize?.(`capturing ${size.text}, to ${folder}`);
  await watched(`capturing ${size.text}`, options, async (run) => {
    const { signal, onProgress } = run;
    const shards = [...index.shards];
    // Shards of an earlier run may have had another size: this one goes on with the next request.
    const rest = shardsFrom(plan, shards.at(-1)?.requests[1] ?? 0);
    for (const [from, to] of rest) {
      signal?.throwIfAborted();
      const mine = placed.slice(from, to);
      const row = shards.at(-1)?.rows[1] ?? 0;
      const { results } = await model.evaluate(
        mine.map(
          (one): Request => ({
            tokens: one.tokens,
            captures: hooks.map(({ hook }) => ({ hook, positions: [...one.positions] })),
            edits: one.edits,
          }),
        ),
        { ...(signal && { signal }), onProgress: () => undefined },
      );
      const rows = mine.reduce((sum, one) => sum + one.positions.length, 0);
      const file = `shard-${String(shards.length).padStart(5, "0")}.safetensors`;
      const path = join(folder, file);
      const written = await writeShard(path, plan, mine, from, rows, results, index.provenance).catch(
        (error: NodeJS.ErrnoException) => {
          throw new Error(
            `captureActivations: ${path} cannot be written (${error.code ?? error.message}); ${shards.length} shards are whole: ` +
              "make room (npm run activations -- list) and call again, and it goes on from there",
          );
        },
      );
      shards.push({ file, requests: [from, to], rows: [row, row + rows], ...written });
      index = { ...index, shards, complete: to === placed.length };
      await writeActivationIndex(folder, index);
      onProgress?.({ what: `capturing ${size.text}`, done: row + rows, total: size.rows, unit: "rows" });
    }
  });
  return index;
}

function shardsFrom({ shards }: Plan, start: number): (readonly [number, number])[] {
  return shards.flatMap(([from, to]) => (to <= start ? [] : [[Math.max(from, start), to] as const]));
}

/** A tensor after the other, each request's rows after those of the one before: nothing is copied. */
async function writeShard(
  path: string,
  { hooks }: Plan,
  requests: readonly Placed[],
  first: number,
  rows: number,
  results: readonly Result[],
  about: ActivationIndex["provenance"],
): Promise<Pick<ActivationShard, "bytes" | "sha256">> {
  const specs = [
    ...TABLE.map((name) => ({ name, shape: [rows], dtype: "I32" })),
    ...hooks.map(({ name, width }) => ({ name, shape: [rows, width], dtype: "F32" })),
  ];
  const metadata = { model: about.model?.sha256 ?? "", engine: about.engine?.llamaVersion ?? "" };
  const writer = await safetensorsWriter(path, specs, metadata);
  let bytes = 0;
  try {
    const append = async (data: Float32Array | Int32Array) => {
      bytes += data.byteLength;
      await writer.append(data);
    };
    for (const [i, { positions }] of requests.entries())
      await append(new Int32Array(positions.length).fill(first + i));
    for (const { positions } of requests) await append(positions);
    for (const { tokens, positions } of requests)
      await append(positions.map((position) => tokens[position]!));
    for (const h of hooks.keys()) for (const { captures } of results) await append(captures[h]!.data);
  } catch (error) {
    await writer.discard();
    throw error;
  }
  return { bytes, sha256: await writer.close() };
}
