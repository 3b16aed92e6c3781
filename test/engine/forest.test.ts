import { describe, expect, it } from "vitest";
import { growForest, pathOf } from "../../src/engine/forest.js";
import { cellsNeeded, MAX_LEAVES, schedule } from "../../src/engine/schedule.js";

function tokensOf(forest: ReturnType<typeof growForest>, request: number): number[] {
  return [...pathOf(forest, request)].map((node) => forest.token[node]!);
}

/** A linear congruential stream: enough for shapes of test trees. */
function stream(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

function randomSequences(count: number, length: number, vocabulary: number, seed: number): number[][] {
  const next = stream(seed);
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + Math.floor(next() * length) }, () => Math.floor(next() * vocabulary)),
  );
}

describe("growForest", () => {
  it("keeps every sequence and shares common prefixes", () => {
    const sequences = [
      [1, 2, 3, 4],
      [1, 2, 5],
      [1, 2],
      [7, 2, 3],
      [1, 2, 3, 4],
    ];
    const forest = growForest(sequences);
    expect(forest.size).toBe(8);
    sequences.forEach((sequence, r) => {
      expect(tokensOf(forest, r)).toEqual(sequence);
    });
    expect(forest.end[0]).toBe(forest.end[4]);
  });

  it("numbers nodes depth first: a first child is the next node", () => {
    const forest = growForest(randomSequences(200, 12, 3, 1));
    for (let node = 1; node < forest.size; node++) {
      expect(forest.parent[node]).toBeLessThan(node);
      // The parent is the previous node or one of its ancestors.
      let ancestor = node - 1;
      while (ancestor !== -1 && ancestor !== forest.parent[node]) ancestor = forest.parent[ancestor]!;
      expect(ancestor).toBe(forest.parent[node]);
    }
  });

  it("gives an edited request its own path from the first edited position on", () => {
    const sequences = [
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ];
    const forest = growForest(sequences, (r) => (r === 1 ? 1 : Number.POSITIVE_INFINITY));
    expect(forest.size).toBe(3 + 2);
    const [a, b, c] = [0, 1, 2].map((r) => pathOf(forest, r));
    expect(a![0]).toBe(b![0]);
    expect(a![1]).not.toBe(b![1]);
    expect(a).toEqual(c);
  });
});

describe("schedule", () => {
  /** Replays a schedule on a model of the KV cache and checks that each node sees exactly its ancestors. */
  function replay(sequences: number[][], tokens: number, outputs: number): void {
    const forest = growForest(sequences);
    const isOutput = (node: number) => node % 3 === 0;
    const chunks = schedule(forest, { tokens, outputs }, isOutput);
    let spine: number[] = [];
    let done = 0;
    let mostCells = 0;
    for (const chunk of chunks) {
      mostCells = Math.max(mostCells, spine.length + chunk.end - chunk.start);
      expect(chunk.start).toBe(done);
      expect(chunk.end - chunk.start).toBeLessThanOrEqual(tokens);
      expect(chunk.branch.length).toBeLessThanOrEqual(MAX_LEAVES);
      const cells: number[][] = Array.from(chunk.branch, (depth) => spine.slice(0, depth));
      const nextSpine = spine.slice(0, chunk.keep);
      let outputRows = 0;
      for (let i = 0; i < chunk.end - chunk.start; i++) {
        const node = chunk.start + i;
        if (isOutput(node)) outputRows++;
        expect(chunk.leaves[i]).toBeGreaterThan(0);
        for (let leaf = chunk.firstLeaf[i]!; leaf < chunk.firstLeaf[i]! + chunk.leaves[i]!; leaf++) {
          const ancestors: number[] = [];
          for (let above = forest.parent[node]!; above !== -1; above = forest.parent[above]!)
            ancestors.unshift(above);
          expect(cells[leaf]).toEqual(ancestors);
          cells[leaf]!.push(node);
        }
        if (chunk.onSpine[i] === 1) nextSpine.push(node);
      }
      expect(outputRows).toBeLessThanOrEqual(outputs);
      spine = nextSpine;
      done = chunk.end;
    }
    expect(done).toBe(forest.size);
    expect(cellsNeeded(forest, chunks)).toBe(mostCells);
  }

  it.each([
    [1, 8],
    [2, 8],
    [7, 3],
    [64, 64],
    [512, 512],
  ])("chunks of %i tokens: every node sees its ancestors and nothing else", (tokens, outputs) => {
    replay(randomSequences(300, 20, 3, tokens), tokens, outputs);
  });

  it("never has more leaves than ids", () => {
    const sequences = Array.from({ length: 1000 }, (_, i) => [0, 1, 2 + i]);
    replay(sequences, 2000, 2000);
  });

  it("splits a long sequence over chunks", () => {
    replay([Array.from({ length: 1000 }, (_, i) => i)], 64, 64);
  });

  it("ends a chunk before a branch that it would cut, where it is half full by then", () => {
    const branches = (count: number, length: number) =>
      Array.from({ length: count }, (_, b) => Array.from({ length }, (_, i) => 1000 * b + i));
    const ends = (sequences: number[][], tokens: number, outputs = tokens) =>
      schedule(growForest(sequences), { tokens, outputs }, (node) => node % 2 === 0).map(({ end }) => end);
    expect(ends(branches(4, 40), 64)).toEqual([40, 80, 120, 160]);
    expect(ends(branches(5, 20), 64)).toEqual([60, 100]);
    // Not half full: the branch is cut, or chunks would shrink to nothing.
    expect(ends(branches(3, 100), 128)).toEqual([100, 200, 300]);
    expect(ends(branches(2, 100), 64)).toEqual([64, 100, 164, 200]);
    for (const outputs of [3, 9, 20, 64])
      for (const [count, length] of [
        [4, 40],
        [7, 33],
        [50, 5],
      ] as const)
        replay(branches(count, length), 64, outputs);
  });
});
