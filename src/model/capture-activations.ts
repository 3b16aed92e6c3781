/**
 * Captures more than memory holds: straight to the activation store.
 *
 * A slice of a few megabytes is evaluated, written, and forgotten before the next begins, so memory stays flat; a shard is as many of them as
 * make a file of a handy size. Shards depend on nothing but the request, so a capture that was stopped goes on after its last whole shard, and
 * one that is there is found again.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Arena } from "../engine/arena.js";
import {
  type ActivationIndex,
  readActivationIndex,
  writeActivationIndex,
} from "../store/activation-index.js";
import { makeReader, type StoredActivations } from "../store/activation-reader.js";
import { checkRoom, STORE_BUDGET, storeFolder } from "../store/activation-store.js";
import { contentKey } from "../store/content-key.js";
import { tryLock } from "../store/lock.js";
import { provenance } from "../store/provenance.js";
import {
  type CaptureOptions,
  type CapturePlan,
  type CaptureRequest,
  type CaptureSize,
  planCapture,
  shardsFrom,
} from "./capture-plan.js";
import { captureShard, sliceBytes } from "./capture-shard.js";
import { modelIdentity } from "./identity.js";
import type { Model } from "./model.js";
import { watched } from "./watched.js";

export type { CaptureOptions, CaptureRequest, CaptureSize } from "./capture-plan.js";

/** A capture on disk: made now, or found. */
export interface Captured extends StoredActivations {
  readonly key: string;
  /** Was all of it there already? */
  readonly found: boolean;
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

async function captureInto(
  model: Model,
  plan: CapturePlan,
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
  const what = `capturing ${size.text}`;
  const arena = new Arena(sliceBytes(model));
  await watched(what, options, async ({ signal, onProgress }) => {
    const shards = [...index.shards];
    // Shards of an earlier run may have had another size: this one goes on with the next request.
    for (const requests of shardsFrom(plan, shards.at(-1)?.requests[1] ?? 0)) {
      const first = shards.at(-1)?.rows[1] ?? 0;
      const file = `shard-${String(shards.length).padStart(5, "0")}.safetensors`;
      const path = join(folder, file);
      const onRows = (rows: number) =>
        onProgress?.({ what, done: first + rows, total: size.rows, unit: "rows" });
      const about = index.provenance;
      try {
        const job = { model, plan, requests, path, about, arena, signal, onRows };
        const { rows, ...written } = await captureShard(job);
        shards.push({ file, requests, rows: [first, first + rows], ...written });
        const complete = requests[1] === placed.length;
        await writeActivationIndex(folder, { ...index, shards, complete });
        index = { ...index, shards: [...shards], complete };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (typeof code !== "string") throw error; // not of the file system
        throw new Error(
          `captureActivations: ${path} cannot be written (${code}); ${index.shards.length} shards are whole: ` +
            "make room (npm run activations -- list) and call again, and it goes on from there",
        );
      }
    }
  });
  return index;
}
