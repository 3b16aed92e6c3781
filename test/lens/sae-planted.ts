/** Activations made by hand, as they would come from an SAE. */
import type { SparseActivations } from "../../src/lens/sae-encode.js";

/** From dense rows `[position, feature]`. */
export function sparse(dense: readonly (readonly number[])[]): SparseActivations {
  const entries = dense.map((row) => row.flatMap((value, id) => (value > 0 ? [[id, value] as const] : [])));
  const offsets = new Int32Array(dense.length + 1);
  entries.forEach((row, i) => {
    offsets[i + 1] = offsets[i]! + row.length;
  });
  return {
    positions: dense.length,
    features: dense[0]!.length,
    offsets,
    ids: Int32Array.from(entries.flat(), ([id]) => id),
    values: Float32Array.from(entries.flat(), ([, value]) => value),
  };
}
