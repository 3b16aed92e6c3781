/** What is kept of a row of logits: never all of it unless asked. */

/**
 * Finds the `k` largest logits of a row; ties go to the smaller id. Writes ids and logits by falling logit at `offset`.
 *
 * @returns false when the row holds a NaN, which would make any ranking meaningless
 */
export function topK(
  row: Float32Array,
  k: number,
  ids: Int32Array,
  logits: Float32Array,
  offset: number,
): boolean {
  let filled = 0;
  let least = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < row.length; id++) {
    const logit = row[id]!;
    // Written so that a NaN comes through: it fails every comparison.
    if (filled === k && logit <= least) continue;
    if (Number.isNaN(logit)) return false;
    let at = filled < k ? filled++ : k - 1;
    while (at > 0 && logits[offset + at - 1]! < logit) {
      logits[offset + at] = logits[offset + at - 1]!;
      ids[offset + at] = ids[offset + at - 1]!;
      at--;
    }
    logits[offset + at] = logit;
    ids[offset + at] = id;
    least = logits[offset + filled - 1]!;
  }
  return true;
}

/** log(sum(exp(row))), in nats, without overflow. */
export function logSumExp(row: Float32Array): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < row.length; id++) if (row[id]! > most) most = row[id]!;
  let sum = 0;
  for (let id = 0; id < row.length; id++) sum += Math.exp(row[id]! - most);
  return most + Math.log(sum);
}
