/** What a capture to disk consists of, and what it would take: worked out, and checked, before anything is computed. */
import { type HookPoint, hookName } from "../engine/hooks.js";
import type { Edit, Positions, RunOptions } from "../engine/request.js";
import { placeRequest } from "../engine/validate.js";
import { TABLE } from "../store/activation-reader.js";
import { gigabytes, type StoreOptions } from "../store/activation-store.js";
import type { Json } from "../store/provenance.js";
import { type Model, requireHook } from "./model.js";

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
  /** Bytes of a shard, about. Default 32 MB. A request that is larger is a shard of its own. */
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

const SHARD_BYTES = 32e6;
/** What a header takes, at most and about. */
const HEADER_BYTES = 200;

/** Requests [from, to). */
export type Range = readonly [number, number];

/** A request, its positions counted from the front. */
export interface Placed {
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
  readonly edits: readonly Edit[];
}

export interface CapturePlan {
  readonly hooks: readonly { readonly hook: HookPoint; readonly name: string; readonly width: number }[];
  readonly placed: readonly Placed[];
  /** Of one row at all hook points, and in the table. */
  readonly rowBytes: number;
  /** Requests [from, to) of each shard. */
  readonly shards: readonly Range[];
  readonly size: CaptureSize;
}

/** Throws what is wrong with a capture, by its request or option. */
export function planCapture(
  model: Model,
  requests: readonly CaptureRequest[],
  options: CaptureOptions,
): CapturePlan {
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
  const shards = cut(placed, 0, placed.length, rowBytes, shardBytes);
  const rows = placed.reduce((sum, one) => sum + one.positions.length, 0);
  const bytes = rows * rowBytes + shards.length * HEADER_BYTES * (named.length + TABLE.length);
  const text = `${gigabytes(bytes)}: ${rows.toLocaleString("en")} rows of ${named.length} hook points`;
  return {
    hooks: named,
    placed,
    rowBytes,
    shards,
    size: { bytes, rows, requests: placed.length, shards: shards.length, text },
  };
}

/** Cuts requests [from, to) into ranges of at most `most` bytes each; one that is larger is a range of its own. */
export function cut(
  placed: readonly Placed[],
  from: number,
  to: number,
  rowBytes: number,
  most: number,
): Range[] {
  const ranges: [number, number][] = [];
  let held = 0;
  for (let i = from; i < to; i++) {
    const bytes = placed[i]!.positions.length * rowBytes;
    if (ranges.length === 0 || held + bytes > most) {
      ranges.push([i, i]);
      held = 0;
    }
    held += bytes;
    ranges.at(-1)![1] = i + 1;
  }
  return ranges;
}

/** The shards that are left from request `start` on. */
export function shardsFrom({ shards }: CapturePlan, start: number): Range[] {
  return shards.flatMap(([from, to]) => (to <= start ? [] : [[Math.max(from, start), to] as const]));
}
