/**
 * The schedule: a forest cut into chunks that fit one decode, with the sequence ids that let branches share the KV
 * cache. Pure; the evaluation carries it out.
 *
 * A chunk is a contiguous range of nodes in depth-first order. All that it needs of earlier chunks is the path above its
 * first node: the *spine*, kept under two reserved ids (a cell with a single owner may be reused by a sliding-window
 * model once it is masked, even where a later branch still needs it; one with two owners never is). Inside a chunk each
 * leaf has an id of its own, and a node belongs to the ids of the leaves below it, which are consecutive.
 */
import type { Forest } from "./forest.js";

export const MAX_SEQUENCES = 256;
/** The two ids that own the spine. */
export const SPINE: readonly [number, number] = [254, 255];
/** Ids 0..253 are for the leaves of a chunk. */
export const MAX_LEAVES = 254;

export interface Chunk {
  /** Nodes [start, end). */
  readonly start: number;
  readonly end: number;
  /** `[leaf]` how many positions of the spine the leaf's path starts with. */
  readonly branch: Int32Array;
  /** `[node - start]` first leaf below the node. */
  readonly firstLeaf: Int32Array;
  /** `[node - start]` number of leaves below it. */
  readonly leaves: Int32Array;
  /** Positions of the old spine that the next chunk still needs; the rest of it is dropped before the decode. */
  readonly keep: number;
  /** `[node - start]` 1 where the node is on the next chunk's spine. */
  readonly onSpine: Uint8Array;
}

export interface ScheduleLimits {
  /** Most nodes in a chunk. */
  readonly tokens: number;
  /** Most nodes with an output in a chunk. */
  readonly outputs: number;
}

/**
 * Cuts a forest into chunks. `isOutput(node)`: logits, or rows of the last layer, are wanted there.
 *
 * A chunk that is full in the middle of a branch ends before that branch where it is half full by then: the spine is shorter, and every
 * token of the next chunk is weighed against fewer cells.
 */
export function schedule(
  forest: Forest,
  limits: ScheduleLimits,
  isOutput: (node: number) => boolean,
): Chunk[] {
  const ranges: [number, number][] = [];
  let start = 0;
  let leaves = 0;
  let outputs = 0;
  // Where the branch begins that is being read, and its outputs.
  let branch = 0;
  let branchOutputs = 0;
  for (let node = 0; node < forest.size; node++) {
    // A new leaf appears whenever a node does not continue the one before it.
    const opensLeaf = node === start || forest.parent[node] !== node - 1;
    const full =
      node - start >= limits.tokens ||
      (opensLeaf && leaves >= MAX_LEAVES) ||
      (isOutput(node) && outputs >= limits.outputs);
    if (full) {
      const whole = !opensLeaf && branch - start >= limits.tokens / 2 && branchOutputs < limits.outputs;
      const end = whole ? branch : node;
      ranges.push([start, end]);
      start = end;
      leaves = whole ? 1 : 0;
      outputs = whole ? branchOutputs : 0;
    }
    if (opensLeaf || node === start) {
      leaves++;
      branch = node;
      branchOutputs = 0;
    }
    if (isOutput(node)) {
      outputs++;
      branchOutputs++;
    }
  }
  if (start < forest.size) ranges.push([start, forest.size]);
  return ranges.map(([from, to]) => chunkOf(forest, from, to));
}

function chunkOf(forest: Forest, start: number, end: number): Chunk {
  const count = end - start;
  const firstLeaf = new Int32Array(count);
  const leaves = new Int32Array(count);
  const branch: number[] = [];
  for (let i = 0; i < count; i++) {
    const node = start + i;
    // The node's leaves start with the next leaf to be met.
    firstLeaf[i] = branch.length;
    const isLeaf = node + 1 >= end || forest.parent[node + 1] !== node;
    if (!isLeaf) continue;
    let top = node;
    while (forest.parent[top]! >= start) top = forest.parent[top]!;
    branch.push(forest.depth[top]!);
  }
  // Children come after their parents, so one pass from the end adds up the leaves below each node.
  for (let i = count - 1; i >= 0; i--) {
    if (leaves[i] === 0) leaves[i] = 1;
    const above = forest.parent[start + i]! - start;
    if (above >= 0) leaves[above] = leaves[above]! + leaves[i]!;
  }
  const onSpine = new Uint8Array(count);
  let keep = 0;
  if (end < forest.size) {
    let node = forest.parent[end]!;
    while (node >= start) {
      onSpine[node - start] = 1;
      node = forest.parent[node]!;
    }
    keep = node === -1 ? 0 : forest.depth[node]! + 1;
  }
  return { start, end, branch: Int32Array.from(branch), firstLeaf, leaves, keep, onSpine };
}

/** KV cells the schedule needs at most: the spine and the chunk. */
export function cellsNeeded(forest: Forest, chunks: readonly Chunk[]): number {
  let most = 0;
  for (const { start, end } of chunks) most = Math.max(most, forest.depth[start]! + end - start);
  return most;
}
