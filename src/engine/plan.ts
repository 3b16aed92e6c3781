/**
 * What has to be read and changed at which node of a forest: the requests' wishes, sorted by node, so that those of a chunk
 * (a range of nodes) are found by a binary search, and every row of every tensor goes back to the request that wants it.
 */
import { tensorsFor } from "./architectures.js";
import { editRow } from "./edit-rows.js";
import type { EngineInfo } from "./engine.js";
import { type Forest, pathOf } from "./forest.js";
import { type HookPoint, hookName } from "./hooks.js";
import type { Edit } from "./request.js";
import { ENOUGH, type Tensor, type Watch } from "./tap.js";
import type { PlacedRequest } from "./validate.js";

/** Things to do at nodes: `[event]`, sorted by node; `item` is an index into a list of the owner's. */
export interface Events {
  readonly node: Int32Array;
  readonly item: Int32Array;
}

/** How the rows of a tensor relate to the batch that is being decoded. */
export interface BatchRows {
  readonly size: number;
  readonly outputs: number;
  readonly outputRow: Int32Array;
}

interface CaptureItem {
  /** Where the row goes. */
  readonly target: Float32Array;
  readonly offset: number;
}

interface EditItem {
  readonly edit: Edit;
  /** Which of the edit's positions. */
  readonly index: number;
  readonly position: number;
}

interface HookPlan {
  readonly hook: HookPoint;
  readonly width: number;
  readonly captures: Events;
  readonly captureItems: readonly CaptureItem[];
  readonly edits: Events;
  readonly editItems: readonly EditItem[];
}

export interface Plan {
  /** `[node]` 1 where logits, or rows that exist only for outputs, are wanted. */
  readonly outputs: Uint8Array;
  /** Rows of logits wanted; `item` is an index into `logitItems`. */
  readonly logits: Events;
  readonly logitItems: readonly { readonly request: number; readonly index: number }[];
  /** What the tap must look at while nodes [start, end) are decoded. */
  watches(start: number, end: number, rows: BatchRows): Watch[];
  /** Throws when something that had to be seen in the last decode was not: an edit must never silently do nothing. */
  checkSeen(): void;
}

/** Range [from, to) of the events at nodes [start, end). */
export function eventsIn(events: Events, start: number, end: number): [number, number] {
  return [lowerBound(events.node, start), lowerBound(events.node, end)];
}

function lowerBound(sorted: Int32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sortEvents(nodes: readonly number[]): Events {
  const order = Int32Array.from(nodes, (_, i) => i);
  // Stable for equal nodes: edits of one row are carried out in the order given.
  order.sort((a, b) => nodes[a]! - nodes[b]! || a - b);
  return { node: Int32Array.from(order, (i) => nodes[i]!), item: order };
}

/** Lays out the wishes of `requests` over their forest. `captureTarget(request, capture)` is where its rows go. */
export function makePlan(
  info: EngineInfo,
  forest: Forest,
  requests: readonly PlacedRequest[],
  captureTarget: (request: number, capture: number) => Float32Array,
): Plan {
  const outputs = new Uint8Array(forest.size);
  const logitNodes: number[] = [];
  const logitItems: { request: number; index: number }[] = [];
  const hooks = new Map<
    string,
    {
      hook: HookPoint;
      captureNodes: number[];
      captureItems: CaptureItem[];
      editNodes: number[];
      editItems: EditItem[];
    }
  >();
  const planOf = (hook: HookPoint) => {
    const key = hookName(hook);
    let plan = hooks.get(key);
    if (plan === undefined) {
      plan = { hook, captureNodes: [], captureItems: [], editNodes: [], editItems: [] };
      hooks.set(key, plan);
    }
    return plan;
  };

  requests.forEach((request, r) => {
    const path = pathOf(forest, r);
    request.logits?.positions.forEach((position, index) => {
      outputs[path[position]!] = 1;
      logitNodes.push(path[position]!);
      logitItems.push({ request: r, index });
    });
    request.captures.forEach(({ hook, positions, width }, c) => {
      if (hook.kind === "attnPattern") return;
      const plan = planOf(hook);
      const target = captureTarget(r, c);
      for (let i = 0; i < positions.length; i++) {
        const node = path[positions[i]!]!;
        if (needsOutput(hook, info.layers)) outputs[node] = 1;
        plan.captureNodes.push(node);
        plan.captureItems.push({ target, offset: i * width });
      }
    });
    request.edits.forEach(({ edit, positions }) => {
      if (edit.hook.kind === "attnPattern") return;
      const plan = planOf(edit.hook);
      for (let i = 0; i < positions.length; i++) {
        const node = path[positions[i]!]!;
        if (needsOutput(edit.hook, info.layers)) outputs[node] = 1;
        plan.editNodes.push(node);
        plan.editItems.push({ edit, index: i, position: positions[i]! });
      }
    });
  });

  const plans: HookPlan[] = [...hooks.values()].map((plan) => ({
    hook: plan.hook,
    width: info.hookPoints.find((known) => hookName(known.hook) === hookName(plan.hook))!.width,
    captures: sortEvents(plan.captureNodes),
    captureItems: plan.captureItems,
    edits: sortEvents(plan.editNodes),
    editItems: plan.editItems,
  }));
  // Where only hook points are wanted, a decode ends with the last of them (docs/decisions/0016): the layers above and the product with the vocabulary, most
  // of a small model's work, are left out. Not where the graph may be cut into parts for several devices: each would go on by itself,
  // with whatever is in its memory. And not in a decode that lacks a hook point: a later one may need that layer's keys and values.
  const mayStop =
    logitNodes.length === 0 &&
    !requests.some((request) => request.needsPattern) &&
    info.settings.gpuLayers === 0 &&
    process.platform !== "darwin";
  let unseen = new Set<string>();
  return {
    outputs,
    logits: sortEvents(logitNodes),
    logitItems,
    watches(start, end, rows) {
      unseen = new Set();
      const watches: Watch[] = [];
      const enough = () =>
        mayStop && watches.length === plans.length && unseen.size === 0 ? ENOUGH : undefined;
      for (const plan of plans) {
        const captures = eventsIn(plan.captures, start, end);
        const edits = eventsIn(plan.edits, start, end);
        if (captures[0] === captures[1] && edits[0] === edits[1]) continue;
        const name = hookName(plan.hook);
        unseen.add(name);
        watches.push({
          tensors: tensorsFor(info.architecture, plan.hook, info.layers),
          onTensor(tensor) {
            unseen.delete(name);
            const rowOf = rowFinder(plan, tensor, rows, start);
            if (edits[0] < edits[1]) applyEdits(plan, tensor, edits, rowOf);
            if (captures[0] < captures[1]) copyRows(plan, tensor, captures, rowOf);
            return enough();
          },
        });
      }
      return watches;
    },
    checkSeen() {
      if (unseen.size > 0) {
        throw new Error(
          `engine: ${[...unseen].join(", ")} was not computed; this is a bug, please report it`,
        );
      }
    },
  };
}

/** Hook points after the place where the last block drops the rows that are not outputs. */
function needsOutput(hook: HookPoint, layers: number): boolean {
  if (hook.kind === "finalNorm") return true;
  return (
    hook.layer === layers - 1 &&
    (hook.kind === "residMid" ||
      hook.kind === "mlpOut" ||
      hook.kind === "residPost" ||
      hook.kind === "attnOut")
  );
}

/** Node to row of the tensor, which has either a row for every token of the batch or one for every output. */
function rowFinder(plan: HookPlan, tensor: Tensor, rows: BatchRows, start: number): (node: number) => number {
  const count = tensor.elements / plan.width;
  if (!tensor.readable)
    throw new Error(`engine: ${hookName(plan.hook)} (${tensor.name}) is not plain F32 here`);
  if (count === rows.size) return (node) => node - start;
  if (count === rows.outputs) return (node) => rows.outputRow[node - start]!;
  throw new Error(
    `engine: ${hookName(plan.hook)} (${tensor.name}) has ${count} rows of ${plan.width}; ` +
      `expected ${rows.size} tokens or ${rows.outputs} outputs`,
  );
}

function applyEdits(
  plan: HookPlan,
  tensor: Tensor,
  [from, to]: readonly [number, number],
  rowOf: (node: number) => number,
): void {
  const { width, edits, editItems } = plan;
  const row = new Float32Array(width);
  for (let e = from; e < to; e++) {
    const { edit, index } = editItems[edits.item[e]!]!;
    if (edit.op.type === "custom") {
      e = applyCustom(plan, tensor, e, to, rowOf);
    } else if (edit.op.type !== "knockout") {
      const offset = rowOf(edits.node[e]!) * width;
      tensor.read(row, offset, width);
      editRow(edit.op, row, index);
      tensor.write(row, offset, width);
    }
  }
}

/** Hands the function all rows of its edit that follow each other here, since each call may be a round trip. Returns the last event done. */
function applyCustom(
  plan: HookPlan,
  tensor: Tensor,
  from: number,
  to: number,
  rowOf: (node: number) => number,
): number {
  const { width, edits, editItems } = plan;
  const itemAt = (e: number) => editItems[edits.item[e]!]!;
  const { edit } = itemAt(from);
  let end = from + 1;
  while (end < to && itemAt(end).edit === edit) end++;
  const rows = new Float32Array((end - from) * width);
  const slice = (e: number) => rows.subarray((e - from) * width, (e - from + 1) * width);
  for (let e = from; e < end; e++) tensor.read(slice(e), rowOf(edits.node[e]!) * width, width);
  const positions = Int32Array.from({ length: end - from }, (_, i) => itemAt(from + i).position);
  if (edit.op.type === "custom") edit.op.apply(rows, positions);
  for (let e = from; e < end; e++) tensor.write(slice(e), rowOf(edits.node[e]!) * width, width);
  return end - 1;
}

/** Rows of a tensor on their way: taken once, because every tensor of every decode passes through. */
let passage = new Float32Array(0);

function copyRows(
  plan: HookPlan,
  tensor: Tensor,
  [from, to]: readonly [number, number],
  rowOf: (node: number) => number,
): void {
  const { width, captures, captureItems } = plan;
  const total = tensor.elements / width;
  // One large copy is cheaper than many small ones, unless few of the rows are wanted.
  const all = (to - from) * 4 >= total;
  if (all && passage.length < tensor.elements) passage = new Float32Array(tensor.elements);
  if (all) tensor.read(passage, 0, tensor.elements);
  for (let c = from; c < to; c++) {
    const { target, offset } = captureItems[captures.item[c]!]!;
    const row = rowOf(captures.node[c]!) * width;
    if (all) target.set(passage.subarray(row, row + width), offset);
    else tensor.read(target.subarray(offset, offset + width), row, width);
  }
}
