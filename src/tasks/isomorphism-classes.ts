/** The first labelled graph of every isomorphism class. */

function permutations(n: number): number[][] {
  if (n === 0) return [[]];
  return permutations(n - 1).flatMap((rest) =>
    Array.from({ length: n }, (_, at) => [...rest.slice(0, at), n - 1, ...rest.slice(at)]),
  );
}

/**
 * Numbers of the first graph of each isomorphism class, ascending. Bit k of a number is the k-th pair of vertices in
 * dictionary order. Marks whole orbits in a table of 2^(n(n-1)/2) bytes: 2 MB for 7 vertices, the most it takes.
 */
export function isomorphismClasses(n: number): number[] {
  if (!Number.isInteger(n) || n < 1 || n > 7) {
    throw new Error(`isomorphismClasses: ${n} vertices; expected 1 to 7 (use labelled graphs beyond)`);
  }
  const index: number[][] = Array.from({ length: n }, () => new Array<number>(n).fill(0));
  let pairs = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) index[i]![j] = index[j]![i] = pairs++;
  // Where each pair goes under each permutation of the vertices.
  const moves = permutations(n).map((to) => {
    const move = new Uint8Array(pairs);
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) move[index[i]![j]!] = index[to[i]!]![to[j]!]!;
    return move;
  });
  const seen = new Uint8Array(2 ** pairs);
  const first: number[] = [];
  for (let number = 0; number < seen.length; number++) {
    if (seen[number]) continue;
    first.push(number);
    for (const move of moves) {
      let image = 0;
      for (let k = 0; k < pairs; k++) if ((number >> k) & 1) image |= 1 << move[k]!;
      seen[image] = 1;
    }
  }
  return first;
}
