/** One shard of a capture to disk, evaluated and written a slice at a time. */
import type { Arena } from "../engine/arena.js";
import type { Request } from "../engine/request.js";
import type { ActivationShard } from "../store/activation-index.js";
import { TABLE } from "../store/activation-reader.js";
import type { Provenance } from "../store/provenance.js";
import { safetensorsWriter } from "../store/safetensors-writer.js";
import { type CapturePlan, cut, type Range } from "./capture-plan.js";
import type { Model } from "./model.js";

const LEAST_SLICE = 2e6;

/**
 * Bytes of activations in memory at once, in the engine's process and again in this one: small beside the model, and enough tokens for a
 * decode to be worth its while.
 */
export function sliceBytes(model: Model): number {
  return Math.max(LEAST_SLICE, model.info.bytes / 50);
}

export interface ShardJob {
  readonly model: Model;
  readonly plan: CapturePlan;
  readonly requests: Range;
  readonly path: string;
  readonly about: Provenance;
  /** Memory for one slice after the other. */
  readonly arena: Arena;
  readonly signal?: AbortSignal | undefined;
  /** Called after each slice with the rows written so far. */
  readonly onRows: (rows: number) => void;
}

/** Each hook point is a tensor, and so is each column of the table: a slice adds its rows to all of them. */
export async function captureShard(
  job: ShardJob,
): Promise<Pick<ActivationShard, "bytes" | "sha256"> & { readonly rows: number }> {
  const { model, plan, path, about, arena, signal, onRows } = job;
  const { hooks, placed, rowBytes } = plan;
  const [first, end] = job.requests;
  const rows = placed.slice(first, end).reduce((sum, { positions }) => sum + positions.length, 0);
  const writer = await safetensorsWriter(
    path,
    [
      ...TABLE.map((name) => ({ name, shape: [rows], dtype: "I32" })),
      ...hooks.map(({ name, width }) => ({ name, shape: [rows, width], dtype: "F32" })),
    ],
    { model: about.model?.sha256 ?? "", engine: about.engine?.llamaVersion ?? "" },
  );
  try {
    let done = 0;
    for (const [from, to] of cut(placed, first, end, rowBytes, sliceBytes(model))) {
      signal?.throwIfAborted();
      const slice = placed.slice(from, to);
      const requests = slice.map(({ tokens, positions, edits }): Request => {
        const all = [...positions];
        return { tokens, captures: hooks.map(({ hook }) => ({ hook, positions: all })), edits };
      });
      const { results } = await model.evaluate(requests, {
        ...(signal && { signal }),
        onProgress: () => undefined,
        allocate: arena.allocate,
      });
      for (const [i, { tokens, positions }] of slice.entries()) {
        await writer.append("request", new Int32Array(positions.length).fill(from + i));
        await writer.append("position", positions);
        await writer.append(
          "token",
          positions.map((position) => tokens[position]!),
        );
        done += positions.length;
      }
      for (const [h, { name }] of hooks.entries())
        for (const { captures } of results) await writer.append(name, captures[h]!.data);
      arena.reset();
      onRows(done);
    }
    return { rows, bytes: rows * rowBytes, sha256: await writer.close() };
  } catch (error) {
    await writer.discard();
    throw error;
  }
}
