/** The rows that a patch puts in place, and those of its controls. Pure. */
import type { Random } from "../stats/random.js";
import { resampleRows } from "./resample.js";

/**
 * A donor's rows brought to the recipient's positions, run by run.
 *
 * @param data `[position, width]` of the donor, its runs one after another
 */
export function donorRows(
  data: Float32Array,
  width: number,
  from: readonly Int32Array[],
  to: readonly Int32Array[],
): Float32Array {
  const rows = new Float32Array(to.reduce((sum, run) => sum + run.length, 0) * width);
  let [read, write] = [0, 0];
  from.forEach((run, r) => {
    const part = data.subarray(read, read + run.length * width);
    rows.set(resampleRows(part, width, to[r]!.length), write);
    read += run.length * width;
    write += to[r]!.length * width;
  });
  return rows;
}

/**
 * The control of equal norm: each of the recipient's rows moved in a random direction as far as the patch would move it, so that
 * what the patch does beyond being a change of that size is its content. `[position, width]` both.
 */
export function randomShift(
  recipient: Float32Array,
  donor: Float32Array,
  width: number,
  draw: Random,
): Float32Array {
  const rows = recipient.slice();
  for (let start = 0; start < rows.length; start += width) {
    let moved = 0;
    for (let k = start; k < start + width; k++) moved += (donor[k]! - recipient[k]!) ** 2;
    const direction = Float64Array.from({ length: width }, () => draw.normal());
    const scale = Math.sqrt(moved / direction.reduce((sum, value) => sum + value * value, 0));
    for (let k = 0; k < width; k++) rows[start + k] = rows[start + k]! + scale * direction[k]!;
  }
  return rows;
}

/** The recipient's rows with one head's share, `[head x d_head]` of each row, taken from the donor. */
export function onlyHead(
  recipient: Float32Array,
  donor: Float32Array,
  width: number,
  head: number,
  heads: number,
): Float32Array {
  const rows = recipient.slice();
  const each = width / heads;
  for (let start = head * each; start < rows.length; start += width)
    rows.set(donor.subarray(start, start + each), start);
  return rows;
}

/** A seeded order in which no donor keeps its place: one random cycle through all. Fewer than two have none. */
export function derangement(count: number, draw: Random): number[] {
  if (count < 2) throw new Error(`derangement: ${count} donors; expected at least 2 to exchange`);
  const order = draw.shuffle(Array.from({ length: count }, (_, i) => i));
  const partner = new Array<number>(count);
  order.forEach((from, i) => {
    partner[from] = order[(i + 1) % count]!;
  });
  return partner;
}
