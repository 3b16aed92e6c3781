import { describe, expect, it } from "vitest";
import {
  chromaticNumber,
  chromaticNumberTask,
  type Graph,
  vertexPairs,
} from "../../src/tasks/chromatic-number.js";
import { isomorphismClasses } from "../../src/tasks/isomorphism-classes.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { isBalanced, parentheses } from "../../src/tasks/parentheses.js";
import { parity } from "../../src/tasks/parity.js";
import { itemsOf } from "../../src/tasks/task.js";

const keys = (items: readonly { key: string }[]) => items.map((item) => item.key);

describe("multiplication", () => {
  it("has all ordered pairs whose larger operand is the size, once each", () => {
    expect(keys(itemsOf(multiplication(), 3))).toEqual(["1,3", "2,3", "3,1", "3,2", "3,3"]);
    const all = new Set<string>();
    for (let n = 1; n <= 99; n++) for (const item of itemsOf(multiplication(), n)) all.add(item.key);
    expect(all.size).toBe(9801);
    expect(itemsOf(multiplication(), 99).at(-1)!.answer).toBe("9801");
  });
});

describe("parity", () => {
  it("has every string of the length", () => {
    expect(itemsOf(parity(), 2).map((i) => [i.key, i.answer])).toEqual([
      ["00", "0"],
      ["01", "1"],
      ["10", "1"],
      ["11", "0"],
    ]);
    expect(itemsOf(parity(), 5).find((i) => i.key === "11000")!.answer).toBe("0");
  });
});

describe("parentheses", () => {
  it("has every string of the length, and as many balanced ones as Catalan numbers say", () => {
    expect(keys(itemsOf(parentheses(), 2))).toEqual(["((", "()", ")(", "))"]);
    const balanced = [2, 4, 6, 8, 10].map(
      (n) => itemsOf(parentheses(), n).filter((i) => i.answer === "Yes").length,
    );
    expect(balanced).toEqual([1, 2, 5, 14, 42]);
    expect(itemsOf(parentheses(), 5).every((i) => i.answer === "No")).toBe(true);
    expect(isBalanced("((((())))))")).toBe(false);
  });
});

describe("chromatic number", () => {
  const graph = (vertices: number, edges: [number, number][]): Graph => ({ vertices, edges });

  it("asks in the paper's words", () => {
    const items = itemsOf(chromaticNumberTask(), 5);
    const limiter = items.find(
      (i) => i.prompt.user === "Graph with 5 vertices and edges (1,2), (1,4), (1,5), (2,3).",
    );
    expect(limiter!.answer).toBe("2");
    expect(limiter!.prompt.system).toBe(
      "What is the chromatic number of this graph? Answer with only the integer.",
    );
    expect(items[0]!.prompt.user).toBe("Graph with 5 vertices and no edges.");
  });

  it("counts labelled graphs and isomorphism classes", () => {
    expect([1, 2, 3, 4, 5].map((n) => itemsOf(chromaticNumberTask(), n).length)).toEqual([1, 2, 8, 64, 1024]);
    expect([1, 2, 3, 4, 5, 6].map((n) => isomorphismClasses(n).length)).toEqual([1, 2, 4, 11, 34, 156]);
    expect(itemsOf(chromaticNumberTask({ graphs: "classes" }), 4)).toHaveLength(11);
    expect(() => isomorphismClasses(8)).toThrow("isomorphismClasses: 8 vertices; expected 1 to 7");
  });

  it("knows cycles, complete graphs, wheels and the empty graph", () => {
    const cycle = (n: number) =>
      graph(
        n,
        Array.from({ length: n }, (_, i) => (i + 1 < n ? [i + 1, i + 2] : [1, n])),
      );
    expect([3, 4, 5, 6, 7].map((n) => chromaticNumber(cycle(n)))).toEqual([3, 2, 3, 2, 3]);
    expect([1, 2, 3, 4, 5, 6].map((n) => chromaticNumber(graph(n, vertexPairs(n))))).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
    const wheel = graph(6, [...cycle(5).edges, [1, 6], [2, 6], [3, 6], [4, 6], [5, 6]] as [number, number][]);
    expect(chromaticNumber(wheel)).toBe(4);
    expect(chromaticNumber(graph(4, []))).toBe(1);
  });

  // Independent of the search: every assignment of k colours, all labelled graphs of 4 vertices.
  it("agrees with trying every colouring", () => {
    for (const { instance, answer } of itemsOf(chromaticNumberTask(), 4)) {
      const fits = (k: number) =>
        Array.from({ length: k ** 4 }, (_, code) =>
          [0, 1, 2, 3].map((v) => Math.floor(code / k ** v) % k),
        ).some((colours) => instance.edges.every(([i, j]) => colours[i - 1] !== colours[j - 1]));
      expect([1, 2, 3, 4].find(fits)).toBe(Number(answer));
    }
  });
});
