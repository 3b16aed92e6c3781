/** The number types of tensors in files, and how their bytes become arrays. */
import { bfloatToFloat, halfToFloat } from "./half-float.js";

/** The arrays that tensors are held in. */
export type TensorData =
  | Float32Array
  | Float64Array
  | Int32Array
  | Int16Array
  | Int8Array
  | Uint32Array
  | Uint16Array
  | Uint8Array
  | BigInt64Array
  | BigUint64Array;

export interface Dtype {
  readonly bytes: number;
  /** Absent: the header may name it, reading it is refused. */
  readonly decode?: (buffer: ArrayBuffer) => TensorData;
}

/** The dtypes of safetensors, by the names in its headers. */
export const DTYPES: ReadonlyMap<string, Dtype> = new Map<string, Dtype>([
  ["F64", { bytes: 8, decode: (b) => new Float64Array(b) }],
  ["F32", { bytes: 4, decode: (b) => new Float32Array(b) }],
  ["F16", { bytes: 2, decode: (b) => halfToFloat(new Uint16Array(b)) }],
  ["BF16", { bytes: 2, decode: (b) => bfloatToFloat(new Uint16Array(b)) }],
  ["I64", { bytes: 8, decode: (b) => new BigInt64Array(b) }],
  ["U64", { bytes: 8, decode: (b) => new BigUint64Array(b) }],
  ["I32", { bytes: 4, decode: (b) => new Int32Array(b) }],
  ["U32", { bytes: 4, decode: (b) => new Uint32Array(b) }],
  ["I16", { bytes: 2, decode: (b) => new Int16Array(b) }],
  ["U16", { bytes: 2, decode: (b) => new Uint16Array(b) }],
  ["I8", { bytes: 1, decode: (b) => new Int8Array(b) }],
  ["U8", { bytes: 1, decode: (b) => new Uint8Array(b) }],
  ["BOOL", { bytes: 1, decode: (b) => new Uint8Array(b) }],
  ["F8_E4M3", { bytes: 1 }],
  ["F8_E5M2", { bytes: 1 }],
]);

/** The dtype that an array is written as. */
export function dtypeOf(data: TensorData): string {
  if (data instanceof Float32Array) return "F32";
  if (data instanceof Float64Array) return "F64";
  if (data instanceof Int32Array) return "I32";
  if (data instanceof Int16Array) return "I16";
  if (data instanceof Int8Array) return "I8";
  if (data instanceof Uint32Array) return "U32";
  if (data instanceof Uint16Array) return "U16";
  if (data instanceof Uint8Array) return "U8";
  return data instanceof BigInt64Array ? "I64" : "U64";
}

/** Whether a value is a list of whole numbers, none negative: a shape. */
export function counts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && (n as number) >= 0);
}

/** Elements of a shape; throws for one that no file can hold. `what` begins the error. */
export function elementsOf(shape: readonly number[], what: string): number {
  const size = shape.reduce((a, b) => a * b, 1);
  if (!counts([...shape]) || !Number.isSafeInteger(size * 8))
    throw new Error(`${what} has the impossible shape [${shape}]`);
  return size;
}
