/** NumPy's `.npy` arrays and `.npz` archives of them, read. Numbers only: pickled objects and records are refused. */
import { halfToFloat } from "./half-float.js";
import type { TensorData } from "./tensor-types.js";
import { extractMember, listMembers } from "./zip-archive.js";

export interface NpyArray {
  /** As in the file, for example `<f4`. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Row-major, also where the file is in Fortran order. `f2` comes as `Float32Array`, `b1` as `Uint8Array`, 64-bit
   * integers as bigint arrays. */
  readonly data: TensorData;
}

const KINDS: ReadonlyMap<string, { bytes: number; view: (b: ArrayBuffer) => TensorData }> = new Map([
  ["f8", { bytes: 8, view: (b: ArrayBuffer) => new Float64Array(b) }],
  ["f4", { bytes: 4, view: (b: ArrayBuffer) => new Float32Array(b) }],
  ["f2", { bytes: 2, view: (b: ArrayBuffer) => halfToFloat(new Uint16Array(b)) }],
  ["i8", { bytes: 8, view: (b: ArrayBuffer) => new BigInt64Array(b) }],
  ["u8", { bytes: 8, view: (b: ArrayBuffer) => new BigUint64Array(b) }],
  ["i4", { bytes: 4, view: (b: ArrayBuffer) => new Int32Array(b) }],
  ["u4", { bytes: 4, view: (b: ArrayBuffer) => new Uint32Array(b) }],
  ["i2", { bytes: 2, view: (b: ArrayBuffer) => new Int16Array(b) }],
  ["u2", { bytes: 2, view: (b: ArrayBuffer) => new Uint16Array(b) }],
  ["i1", { bytes: 1, view: (b: ArrayBuffer) => new Int8Array(b) }],
  ["u1", { bytes: 1, view: (b: ArrayBuffer) => new Uint8Array(b) }],
  ["b1", { bytes: 1, view: (b: ArrayBuffer) => new Uint8Array(b) }],
]);

/**
 * Arrays of an `.npz` by name (without `.npy`), default all. Each array is in memory as a whole, the archive is not.
 * Throws for an array that is not there, that has more than `mostBytes` (default 4 GiB), or is damaged.
 */
export async function readNpz(
  path: string,
  names?: readonly string[],
  options: { readonly mostBytes?: number; readonly signal?: AbortSignal } = {},
): Promise<Map<string, NpyArray>> {
  const members = (await listMembers(path)).filter((m) => m.name.endsWith(".npy"));
  const here = members.map((m) => m.name.slice(0, -4));
  const arrays = new Map<string, NpyArray>();
  for (const name of names ?? here) {
    const member = members.find((m) => m.name === `${name}.npy`);
    if (member === undefined) throw new Error(`readNpz: ${path} has no ${name}; it has ${here.join(", ")}`);
    const most = options.mostBytes ?? 2 ** 32;
    if (member.bytes > most)
      throw new Error(`readNpz: ${name} has ${member.bytes} bytes; expected at most ${most}`);
    const bytes = new Uint8Array(member.bytes);
    let at = 0;
    const sink = (chunk: Uint8Array) => {
      bytes.set(chunk, at);
      at += chunk.length;
    };
    await extractMember(path, member.name, sink, options.signal ? { signal: options.signal } : {});
    arrays.set(name, parseNpy(bytes, `${name} of ${path}`));
  }
  return arrays;
}

/** Read one `.npy`. Throws one line for anything that is not a whole array of numbers. */
export function parseNpy(bytes: Uint8Array, what = "array"): NpyArray {
  if (bytes.length < 12 || String.fromCharCode(...bytes.subarray(0, 6)) !== "\x93NUMPY")
    fault(what, "it is no npy file");
  const version = bytes[6]!;
  if (version < 1 || version > 3) fault(what, `it has format ${version}; expected 1, 2 or 3`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = version === 1 ? 10 : 12;
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (start + length > bytes.length) fault(what, "its header is cut");
  const header = Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString(
    version === 3 ? "utf8" : "latin1",
  );
  const dtype = /['"]descr['"]\s*:\s*['"]([<>|=]?[a-z]\d+)['"]/.exec(header)?.[1];
  const fortran = /['"]fortran_order['"]\s*:\s*(True|False)/.exec(header)?.[1];
  const dims = /['"]shape['"]\s*:\s*\(([\d,\sL]*)\)/.exec(header)?.[1];
  if (dtype === undefined)
    fault(what, "its type is not one of plain numbers (objects and records are not read)");
  if (fortran === undefined || dims === undefined) fault(what, "its header lacks fortran_order or shape");
  const kind = KINDS.get(dtype.slice(-2));
  if (kind === undefined || !/^[<>|=]?..$/.test(dtype))
    fault(what, `it has the type ${dtype}; known are ${[...KINDS.keys()]}`);
  const shape = dims
    .split(",")
    .map((d) => d.replace("L", "").trim())
    .filter((d) => d !== "")
    .map(Number);
  const count = shape.reduce((a, b) => a * b, 1);
  const size = bytes.length - start - length;
  if (shape.some((n) => !Number.isSafeInteger(n)) || count * kind.bytes !== size) {
    fault(what, `it has ${size} bytes of numbers; its shape [${shape}] needs ${count * kind.bytes}`);
  }
  const raw = new Uint8Array(size);
  raw.set(bytes.subarray(start + length));
  if (dtype.startsWith(">")) swapBytes(raw, kind.bytes);
  const data = kind.view(raw.buffer as ArrayBuffer);
  return { dtype, shape, data: fortran === "True" && shape.length > 1 ? rowMajor(data, shape) : data };
}

function swapBytes(bytes: Uint8Array, width: number): void {
  for (let at = 0; at + width <= bytes.length; at += width) bytes.subarray(at, at + width).reverse();
}

/** Fortran order (first axis fastest) to row-major. */
function rowMajor(data: TensorData, shape: readonly number[]): TensorData {
  const out = data.slice() as { [i: number]: number | bigint } & TensorData;
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((a, b) => a * b, 1));
  const index = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < data.length; to++) {
    out[to] = data[from]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis]!;
      if (++index[axis]! < shape[axis]!) break;
      from -= strides[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  }
  return out;
}

function fault(what: string, why: string): never {
  throw new Error(`npy: ${what} is damaged or of another kind: ${why}`);
}
