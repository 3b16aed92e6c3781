/**
 * The forest: token sequences merged into tries, so that a token is evaluated once for all requests that share it and
 * everything before it.
 *
 * Nodes are numbered in depth-first order. That makes three things simple: a subtree is a contiguous range of node
 * ids; a node's first child, if it has one, is the next id; and any contiguous range of ids can be evaluated as soon
 * as the path above its first node is in the KV cache.
 */

export interface Forest {
  /** Number of nodes: tokens to evaluate. */
  readonly size: number;
  /** `[node]` token id. */
  readonly token: Int32Array;
  /** `[node]` id of the node before it, -1 for the first token of a sequence. */
  readonly parent: Int32Array;
  /** `[node]` position in the sequence, from 0. */
  readonly depth: Int32Array;
  /** `[request]` node of the request's last token. */
  readonly end: Int32Array;
}

/**
 * Merges sequences.
 *
 * @param sequences at least one token each
 * @param privateFrom `[request]` position from which a request's path is its own (its first edited position);
 *   Infinity where the whole of it may be shared, 0 where nothing may.
 */
export function growForest(
  sequences: readonly (Int32Array | readonly number[])[],
  privateFrom: (request: number) => number = () => Number.POSITIVE_INFINITY,
): Forest {
  let capacity = 0;
  for (const sequence of sequences) capacity += sequence.length;
  // First pass: nodes numbered as they appear, with children in a linked list in order of appearance.
  const token = new Int32Array(capacity);
  const parent = new Int32Array(capacity);
  const firstChild = new Int32Array(capacity + 1).fill(-1);
  const lastChild = new Int32Array(capacity + 1).fill(-1);
  const nextSibling = new Int32Array(capacity).fill(-1);
  const end = new Int32Array(sequences.length);
  const shared = new Map<number, number>();
  let size = 0;

  for (let r = 0; r < sequences.length; r++) {
    const sequence = sequences[r]!;
    const own = privateFrom(r);
    let node = -1;
    for (let position = 0; position < sequence.length; position++) {
      const id = sequence[position]!;
      const key = (node + 1) * 2 ** 24 + id;
      let next = position < own ? shared.get(key) : undefined;
      if (next === undefined) {
        next = size++;
        token[next] = id;
        parent[next] = node;
        if (firstChild[node + 1] === -1) firstChild[node + 1] = next;
        else nextSibling[lastChild[node + 1]!] = next;
        lastChild[node + 1] = next;
        if (position < own) shared.set(key, next);
      }
      node = next;
    }
    end[r] = node;
  }
  return renumber(size, token, parent, firstChild, nextSibling, end);
}

function renumber(
  size: number,
  token: Int32Array,
  parent: Int32Array,
  firstChild: Int32Array,
  nextSibling: Int32Array,
  end: Int32Array,
): Forest {
  const number = new Int32Array(size);
  const forest = {
    size,
    token: new Int32Array(size),
    parent: new Int32Array(size),
    depth: new Int32Array(size),
    end: new Int32Array(end.length),
  };
  let id = 0;
  // Children of node n hang from firstChild[n + 1]; those of no node at all, the roots, from firstChild[0].
  let node = firstChild[0]!;
  while (node !== -1) {
    const above = parent[node]!;
    number[node] = id;
    forest.token[id] = token[node]!;
    forest.parent[id] = above === -1 ? -1 : number[above]!;
    forest.depth[id] = above === -1 ? 0 : forest.depth[number[above]!]! + 1;
    id++;
    if (firstChild[node + 1] !== -1) {
      node = firstChild[node + 1]!;
      continue;
    }
    while (node !== -1 && nextSibling[node] === -1) node = parent[node]!;
    if (node !== -1) node = nextSibling[node]!;
  }
  for (let r = 0; r < end.length; r++) forest.end[r] = number[end[r]!]!;
  return forest;
}

/** `[position]` the nodes of one request, from its first token to its last. */
export function pathOf(forest: Forest, request: number): Int32Array {
  let node = forest.end[request]!;
  const path = new Int32Array(forest.depth[node]! + 1);
  for (let position = path.length - 1; position >= 0; position--) {
    path[position] = node;
    node = forest.parent[node]!;
  }
  return path;
}
