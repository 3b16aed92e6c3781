/**
 * Requests checked before anything runs: one line that names the thing, what was expected and what to do.
 *
 * What comes out has its positions resolved (from 0, none negative) and the widths of its rows.
 */
import type { EngineInfo } from "./engine.js";
import { type HookPoint, hookName } from "./hooks.js";
import type { Edit, EditOp, LogitsWanted, Positions, Request } from "./request.js";

export interface PlacedRequest {
  readonly tokens: Int32Array;
  readonly logits?: PlacedLogits;
  readonly captures: readonly {
    readonly hook: HookPoint;
    readonly positions: Int32Array;
    readonly width: number;
  }[];
  readonly edits: readonly { readonly edit: Edit; readonly positions: Int32Array }[];
  /** First edited position, Infinity without edits. */
  readonly privateFrom: number;
  /** Whether attention weights are read or changed: such a request must run alone, from an empty cache. */
  readonly needsPattern: boolean;
}

export interface PlacedLogits {
  readonly positions: Int32Array;
  readonly top: number;
  readonly tokens: readonly (readonly number[])[];
  readonly logSumExp: boolean;
  readonly full: boolean;
}

/** Most bytes of captured activations held in memory at once, unless the caller says otherwise. */
export const CAPTURE_LIMIT = 1e9;

export function placeRequests(
  info: EngineInfo,
  requests: readonly Request[],
  captureLimit = CAPTURE_LIMIT,
): PlacedRequest[] {
  const placed = requests.map((request, i) => placeRequest(info, request, `request ${i}`));
  const bytes = placed.reduce((sum, request) => sum + resultBytes(info, request), 0);
  if (bytes > captureLimit) {
    throw new Error(
      `evaluate: this would hold ${formatBytes(bytes)} of activations in memory; the limit is ${formatBytes(captureLimit)}; ` +
        "ask for fewer layers or positions, or use model.stream(requests), which hands results on as they come",
    );
  }
  return placed;
}

/** What the activations and whole rows of logits of a request take in memory. */
export function resultBytes(info: EngineInfo, { captures, logits }: PlacedRequest): number {
  const rows = logits?.full === true ? logits.positions.length * info.vocabulary : 0;
  return 4 * captures.reduce((sum, { positions, width }) => sum + positions.length * width, rows);
}

export function placeRequest(info: EngineInfo, request: Request, where: string): PlacedRequest {
  const tokens = placeTokens(info, request.tokens, where);
  // Captures of the same positions share one array: a request may have a hundred of them.
  const known = new Map<Positions, Int32Array>();
  const captures = (request.captures ?? []).map(({ hook, positions: asked }) => {
    const positions =
      known.get(asked) ?? placePositions(asked, tokens.length, `${where}, capture ${hookName(hook)}`);
    known.set(asked, positions);
    const width = hook.kind === "attnPattern" ? info.heads * tokens.length : widthOf(info, hook, where);
    return { hook, positions, width };
  });
  for (const { hook } of captures) widthOf(info, hook, where);
  const edits = placeEdits(info, request.edits ?? [], tokens.length, where);
  const patterns = [...captures.map(({ hook }) => hook), ...edits.map(({ edit }) => edit.hook)];
  return {
    tokens,
    captures,
    edits,
    ...(request.logits === undefined
      ? {}
      : { logits: placeLogits(info, request.logits, tokens.length, where) }),
    privateFrom: firstEdited(edits),
    needsPattern: patterns.some(({ kind }) => kind === "attnPattern"),
  };
}

export function placeEdits(
  info: EngineInfo,
  edits: readonly Edit[],
  length: number,
  where: string,
): { edit: Edit; positions: Int32Array }[] {
  return edits.map((edit, e) => {
    const place = `${where}, edit ${e} (${edit.op.type} at ${hookName(edit.hook)})`;
    const width = widthOf(info, edit.hook, place);
    const positions = placePositions(edit.positions, length, place);
    checkOp(edit.op, edit.hook, width, positions.length, length, place);
    if (edit.generated === true && perPosition(edit.op, width)) {
      throw new Error(
        `${place}: generated tokens take one vector; got one row a position; leave generated out`,
      );
    }
    return { edit, positions };
  });
}

export function firstEdited(edits: readonly { readonly positions: Int32Array }[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { positions } of edits) for (const position of positions) first = Math.min(first, position);
  return first;
}

export function placeTokens(
  info: EngineInfo,
  tokens: Int32Array | readonly number[],
  where: string,
): Int32Array {
  if (tokens.length === 0)
    throw new Error(`${where}: no tokens; expected at least one; is the prompt empty?`);
  if (tokens.length > info.context) {
    throw new Error(
      `${where}: ${tokens.length} tokens; the context of ${info.name} is ${info.context}; ` +
        `shorten the prompt or open the model with a longer context (trained: ${info.trainedContext})`,
    );
  }
  const placed = Int32Array.from(tokens);
  for (let i = 0; i < placed.length; i++) {
    if (placed[i] !== tokens[i] || placed[i]! < 0 || placed[i]! >= info.vocabulary) {
      throw new Error(
        `${where}: token ${String(tokens[i])} at position ${i}; expected ids from 0 to ${info.vocabulary - 1}`,
      );
    }
  }
  return placed;
}

function placePositions(positions: Positions, length: number, where: string): Int32Array {
  if (positions === "all") return Int32Array.from({ length }, (_, i) => i);
  return Int32Array.from(positions, (position) => {
    const at = position < 0 ? length + position : position;
    if (!Number.isInteger(position) || at < 0 || at >= length) {
      throw new Error(
        `${where}: position ${position} out of range; there are ${length} tokens, 0..${length - 1} or -${length}..-1`,
      );
    }
    return at;
  });
}

function placeLogits(info: EngineInfo, wanted: LogitsWanted, length: number, where: string): PlacedLogits {
  const positions = placePositions(wanted.positions, length, `${where}, logits`);
  const top = wanted.top ?? 2;
  if (!Number.isInteger(top) || top < 1 || top > info.vocabulary) {
    throw new Error(`${where}, logits: top is ${top}; expected a whole number from 1 to ${info.vocabulary}`);
  }
  const given = wanted.tokens ?? [];
  const nested = Array.isArray(given[0]);
  const tokens = nested
    ? (given as readonly (readonly number[])[])
    : Array.from(positions, () => given as readonly number[]);
  if (tokens.length !== positions.length) {
    throw new Error(`${where}, logits: ${tokens.length} lists of tokens for ${positions.length} positions`);
  }
  for (const list of tokens) {
    if (list.length !== tokens[0]!.length)
      throw new Error(`${where}, logits: lists of tokens of different lengths`);
    for (const id of list) {
      if (!Number.isInteger(id) || id < 0 || id >= info.vocabulary) {
        throw new Error(`${where}, logits: token ${id}; expected ids from 0 to ${info.vocabulary - 1}`);
      }
    }
  }
  return { positions, top, tokens, logSumExp: wanted.logSumExp ?? false, full: wanted.full ?? false };
}

function widthOf(info: EngineInfo, hook: HookPoint, where: string): number {
  const known = info.hookPoints.find(
    (point) => point.hook.kind === hook.kind && point.hook.layer === hook.layer,
  );
  if (known !== undefined) return known.width;
  const layers = info.hookPoints
    .filter((point) => point.hook.kind === hook.kind)
    .map((point) => point.hook.layer);
  if (layers.length === 0) {
    const kinds = [...new Set(info.hookPoints.map((point) => point.hook.kind))].join(", ");
    throw new Error(`${where}: ${info.name} (${info.architecture}) has no ${hook.kind}; it has ${kinds}`);
  }
  throw new Error(
    `${where}: layer ${hook.layer} out of range; ${info.name} has ${hook.kind} at layers ${Math.min(...layers)}..${Math.max(...layers)}`,
  );
}

function perPosition(op: EditOp, width: number): boolean {
  if (op.type === "replace" || op.type === "add") return op.rows.length !== width;
  return op.type === "moveTo" && typeof op.value !== "number";
}

function checkOp(
  op: EditOp,
  hook: HookPoint,
  width: number,
  count: number,
  length: number,
  where: string,
): void {
  const finite = (values: Float32Array, what: string) => {
    const bad = values.findIndex((value) => !Number.isFinite(value));
    if (bad !== -1)
      throw new Error(`${where}: ${what} holds ${values[bad]} at ${bad}; expected finite numbers`);
  };
  const wide = (values: Float32Array, what: string) => {
    if (values.length !== width)
      throw new Error(`${where}: ${what} has ${values.length} numbers; the hook point is ${width} wide`);
    finite(values, what);
  };
  if (hook.kind === "attnPattern" && op.type !== "knockout") {
    throw new Error(`${where}: attention weights are changed with the knockout edit only`);
  }
  switch (op.type) {
    case "replace":
    case "add":
      if (op.rows.length !== width && op.rows.length !== width * count) {
        throw new Error(
          `${where}: ${op.rows.length} numbers; expected ${width} (one vector) or ${width * count} (${count} positions x ${width})`,
        );
      }
      finite(op.rows, "rows");
      return;
    case "scale":
      if (!Number.isFinite(op.factor))
        throw new Error(`${where}: factor is ${op.factor}; expected a finite number`);
      return;
    case "projectOut":
    case "moveTo":
      wide(op.direction, "direction");
      if (op.direction.every((value) => value === 0)) throw new Error(`${where}: the direction is zero`);
      if (op.center !== undefined) wide(op.center, "center");
      if (op.type === "projectOut") return;
      if (typeof op.value !== "number" && op.value.length !== count) {
        throw new Error(`${where}: ${op.value.length} values for ${count} positions`);
      }
      finite(typeof op.value === "number" ? Float32Array.of(op.value) : op.value, "value");
      return;
    case "knockout":
      if (hook.kind !== "attnPattern") throw new Error(`${where}: knockout works at attnPattern(layer)`);
      placePositions(op.keys, length, `${where}, keys`);
      return;
    case "custom":
      return;
  }
}

export function formatBytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}
