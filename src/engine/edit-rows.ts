/** Edits carried out on one row of activations. */
import type { EditOp } from "./request.js";

/** An edit that changes one row at a time; the others need more than a row and are handled where the rows are. */
export type RowOp = Exclude<EditOp, { type: "custom" } | { type: "knockout" }>;

/**
 * Changes `row` in place.
 *
 * @param row `[width]`
 * @param index which of the edit's positions this row is, for edits that give one row or value a position
 */
export function editRow(op: RowOp, row: Float32Array, index: number): void {
  switch (op.type) {
    case "replace":
      row.set(rowOf(op.rows, row.length, index));
      return;
    case "add": {
      const added = rowOf(op.rows, row.length, index);
      for (let i = 0; i < row.length; i++) row[i] = row[i]! + added[i]!;
      return;
    }
    case "scale":
      for (let i = 0; i < row.length; i++) row[i] = row[i]! * op.factor;
      return;
    case "projectOut":
      shiftTo(row, op.direction, op.center, 0);
      return;
    case "moveTo":
      shiftTo(row, op.direction, op.center, typeof op.value === "number" ? op.value : op.value[index]!);
  }
}

function rowOf(rows: Float32Array, width: number, index: number): Float32Array {
  return rows.length === width ? rows : rows.subarray(index * width, (index + 1) * width);
}

/** Moves a row along a direction until its projection, measured from the centre, is `value`. In double precision. */
function shiftTo(
  row: Float32Array,
  direction: Float32Array,
  center: Float32Array | undefined,
  value: number,
): void {
  let squared = 0;
  let dot = 0;
  for (let i = 0; i < row.length; i++) {
    squared += direction[i]! * direction[i]!;
    dot += (row[i]! - (center?.[i] ?? 0)) * direction[i]!;
  }
  const length = Math.sqrt(squared);
  const step = (value - dot / length) / length;
  for (let i = 0; i < row.length; i++) row[i] = row[i]! + step * direction[i]!;
}
