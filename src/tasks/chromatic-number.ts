/** Chromatic number of simple undirected graphs; size is the number of vertices (first paper, example 4). */
import { integerReader } from "./integer-reader.js";
import { isomorphismClasses } from "./isomorphism-classes.js";
import type { Task } from "./task.js";

/** A simple graph on vertices 1..`vertices`; edges as pairs i < j, in dictionary order. */
export interface Graph {
  readonly vertices: number;
  readonly edges: readonly (readonly [number, number])[];
}

/** All pairs i < j of 1..n in dictionary order: bit k of a graph's number is pair k. */
export function vertexPairs(n: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let i = 1; i <= n; i++) for (let j = i + 1; j <= n; j++) pairs.push([i, j]);
  return pairs;
}

/** The fewest colours that leave no edge with one colour at both ends, by backtracking: exact, meant for a dozen vertices. */
export function chromaticNumber(graph: Graph): number {
  const neighbours: number[][] = Array.from({ length: graph.vertices + 1 }, () => []);
  for (const [i, j] of graph.edges) neighbours[j]!.push(i); // earlier ones are all that a vertex must avoid
  const colour = new Array<number>(graph.vertices + 1).fill(0);
  const place = (vertex: number, used: number, limit: number): boolean => {
    if (vertex > graph.vertices) return true;
    // A colour not used yet is as good as any other: trying one of them is enough.
    for (let c = 1; c <= Math.min(used + 1, limit); c++) {
      if (neighbours[vertex]!.some((other) => colour[other] === c)) continue;
      colour[vertex] = c;
      if (place(vertex + 1, Math.max(used, c), limit)) return true;
    }
    return false;
  };
  for (let limit = 1; ; limit++) if (place(1, 0, limit)) return limit;
}

/** `(1,2), (1,4)`; the empty graph has its own words, since the paper prints none for it. */
function describe(graph: Graph): string {
  const edges = graph.edges.map(([i, j]) => `(${i},${j})`).join(", ");
  return edges === "" ? "no edges" : `edges ${edges}`;
}

/**
 * All labelled graphs of n vertices (2^(n(n-1)/2): 1, 2, 8, 64, 1,024, 32,768, ...), ordered by their number, whose bit k
 * says whether the k-th pair of vertices in dictionary order is an edge.
 *
 * @param options.graphs `labelled` (default, the paper's definition) or `classes`: only the first graph of each isomorphism
 * class (1, 2, 4, 11, 34, 156, 1,044 for up to 7 vertices), which is another task and named so in results
 */
export function chromaticNumberTask(options: { readonly graphs?: "labelled" | "classes" } = {}): Task<Graph> {
  const classes = options.graphs === "classes";
  return {
    name: classes ? "chromatic number (one graph per isomorphism class)" : "chromatic number",
    order: "by graph number, whose bit k is the k-th pair of vertices in dictionary order",
    templates: [
      {
        name: "baseline",
        system: "What is the chromatic number of this graph? Answer with only the integer.",
        user: "Graph with {vertices} vertices and {edges}.",
      },
    ],
    *instances(size) {
      const pairs = vertexPairs(size);
      const edgesOf = (number: number) => pairs.filter((_, k) => Math.floor(number / 2 ** k) % 2 === 1);
      if (classes) {
        for (const number of isomorphismClasses(size)) yield { vertices: size, edges: edgesOf(number) };
        return;
      }
      for (let number = 0; number < 2 ** pairs.length; number++)
        yield { vertices: size, edges: edgesOf(number) };
    },
    fields: (graph) => ({ vertices: String(graph.vertices), edges: describe(graph) }),
    answer: (graph) => String(chromaticNumber(graph)),
    reader: integerReader(),
  };
}
