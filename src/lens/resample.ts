/** Rows of one prompt brought to the length of another. */

/**
 * `[row, width]` resampled to `to` rows by linear interpolation with the end points aligned: row i of the result lies at
 * i x (rows - 1) / (to - 1) of the given ones. One row is repeated; where one is wanted it is the last, which has seen
 * the whole list. The same number of rows comes back unchanged, bit for bit.
 *
 * Paper: Methods, "Residual stream projections and targeted causal interventions". Weakness: what two rows hold that is
 * not linear between them is lost.
 */
export function resampleRows(data: Float32Array, width: number, to: number): Float32Array {
  const rows = data.length / width;
  if (!(Number.isInteger(rows) && rows > 0 && width > 0))
    throw new Error(
      `resampleRows: ${data.length} numbers in rows of ${width}; expected whole rows, at least one`,
    );
  if (!Number.isInteger(to) || to < 1)
    throw new Error(`resampleRows: to ${to} rows; expected a whole number from 1`);
  if (rows === to) return data.slice();
  const out = new Float32Array(to * width);
  for (let i = 0; i < to; i++) {
    const at = to === 1 ? rows - 1 : (i * (rows - 1)) / (to - 1);
    const low = Math.min(Math.floor(at), rows - 1);
    const high = Math.min(low + 1, rows - 1);
    const share = at - low;
    for (let k = 0; k < width; k++) {
      const from = data[low * width + k]!;
      out[i * width + k] = from + share * (data[high * width + k]! - from);
    }
  }
  return out;
}
