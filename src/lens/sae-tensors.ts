/** Arrays of a weights file as F32, with the shapes an SAE must have. */
import type { TensorData } from "../store/tensor-types.js";

export type Arrays = ReadonlyMap<string, { readonly shape: readonly number[]; readonly data: TensorData }>;

/** A matrix of two axes; throws for what is none. */
export function matrix(
  arrays: Arrays,
  name: string,
  what: string,
): { shape: readonly [number, number]; data: Float32Array } {
  const shape = arrays.get(name)?.shape ?? [];
  const data = floats(arrays, name, what);
  if (shape.length !== 2 || data.length === 0)
    throw new Error(`${what}: ${name} has shape [${shape}]; expected [d_model, feature]`);
  return { shape: [shape[0]!, shape[1]!], data };
}

/** Numbers as F32; 64-bit floats are rounded. Throws where the array is absent or of whole numbers. */
export function floats(arrays: Arrays, name: string, what: string): Float32Array {
  const data = arrays.get(name)?.data;
  if (data === undefined)
    throw new Error(`${what} has no ${name}; it has ${[...arrays.keys()].slice(0, 10).join(", ")}`);
  if (data instanceof Float32Array) return data;
  if (data instanceof Float64Array) return Float32Array.from(data);
  throw new Error(`${what}: ${name} holds whole numbers; expected floating point`);
}
