/**
 * The two sections of a GGUF header: metadata and tensor infos. Nothing is believed before it was checked against what
 * is left of the file, so that a damaged length can neither allocate much nor loop for long.
 */

import { TENSOR_TYPES } from "./ggml-types.js";
import type { Cursor, NumberKind } from "./gguf-cursor.js";

export type GgufScalar = number | string | boolean;

/** An array of the metadata: its values where they are few and numeric, else only its length. */
export interface GgufArray {
  readonly type: string;
  readonly length: number;
  readonly values?: readonly number[];
}

export interface GgufTensor {
  readonly name: string;
  readonly type: string;
  /** Elements along each dimension, the contiguous one first. */
  readonly dims: readonly number[];
  /** From the start of the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly elements: number;
}

export interface Metadata {
  readonly scalars: ReadonlyMap<string, GgufScalar>;
  readonly arrays: ReadonlyMap<string, GgufArray>;
  /** Two ids of the vocabulary with the same text, which llama.cpp aborts on. */
  readonly doubledToken: readonly [number, number] | undefined;
}

type Fail = (what: string) => Error;

const MAX_KEYS = 65_536;
const MAX_KEY_BYTES = 65_535;
const MAX_TENSORS = 262_144;
/** Strings in one array; the largest vocabularies have a quarter of a million. */
const MAX_STRINGS = 8_388_608;
/** Longest string that is kept (chat templates reach a few hundred kB) and longest numeric array. */
const MAX_KEPT_BYTES = 4 << 20;
const MAX_KEPT_VALUES = 1024;
const MAX_NAME_BYTES = 63;

const NUMBERS: Readonly<Record<number, NumberKind>> = {
  0: "u8",
  1: "i8",
  2: "u16",
  3: "i16",
  4: "u32",
  5: "i32",
  6: "f32",
  12: "f64",
};
const BOOL = 7;
const STRING = 8;
const ARRAY = 9;
const U64 = 10;
const I64 = 11;
const BYTES: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  [BOOL]: 1,
  [STRING]: 8,
  [U64]: 8,
  [I64]: 8,
  12: 8,
};
const NAMES: Readonly<Record<number, string>> = {
  ...NUMBERS,
  [BOOL]: "bool",
  [STRING]: "string",
  [U64]: "u64",
  [I64]: "i64",
};

/** Reads `count` keys and values. */
export function readMetadata(cursor: Cursor, count: number, fail: Fail): Metadata {
  if (count > MAX_KEYS || count * 13 > cursor.remaining()) {
    throw fail(`it announces ${count} metadata keys, more than the file can hold`);
  }
  const scalars = new Map<string, GgufScalar>();
  const arrays = new Map<string, GgufArray>();
  let doubledToken: Metadata["doubledToken"];
  for (let i = 0; i < count; i++) {
    const length = cursor.count(`the length of metadata key ${i}`, MAX_KEY_BYTES);
    const key = cursor.text(length, `metadata key ${i}`);
    if (key === "") throw fail(`metadata key ${i} is empty`);
    if (scalars.has(key) || arrays.has(key)) throw fail(`metadata key ${shown(key)} occurs twice`);
    const type = cursor.number("u32", `the type of ${shown(key)}`);
    if (type !== ARRAY) {
      const value = readScalar(cursor, type, key, fail);
      if (value !== undefined) scalars.set(key, value);
      continue;
    }
    const element = cursor.number("u32", `the element type of ${shown(key)}`);
    const size = BYTES[element];
    if (size === undefined) throw fail(`metadata array ${shown(key)} has unknown element type ${element}`);
    const elements = cursor.count(`the length of ${shown(key)}`, Math.floor(cursor.remaining() / size));
    if (element === STRING && elements > MAX_STRINGS) {
      throw fail(
        `metadata array ${shown(key)} announces ${elements} strings; at most ${MAX_STRINGS} are read`,
      );
    }
    const name = NAMES[element]!;
    if (key === "tokenizer.ggml.tokens" && element === STRING) {
      doubledToken = readTokens(cursor, elements);
      arrays.set(key, { type: name, length: elements });
    } else if (element === STRING) {
      const [length, text] = [`a length in ${shown(key)}`, shown(key)];
      for (let j = 0; j < elements; j++) cursor.skip(cursor.count(length, cursor.remaining()), text);
      arrays.set(key, { type: name, length: elements });
    } else if (elements > MAX_KEPT_VALUES || element === U64 || element === I64) {
      cursor.skip(elements * size, shown(key));
      arrays.set(key, { type: name, length: elements });
    } else {
      const kind = NUMBERS[element] ?? "u8";
      const values = Array.from({ length: elements }, () => cursor.number(kind, shown(key)));
      arrays.set(key, { type: name, length: elements, values });
    }
  }
  return { scalars, arrays, doubledToken };
}

function readScalar(cursor: Cursor, type: number, key: string, fail: Fail): GgufScalar | undefined {
  const kind = NUMBERS[type];
  if (kind !== undefined) return cursor.number(kind, shown(key));
  switch (type) {
    case BOOL:
      return cursor.number("u8", shown(key)) !== 0;
    case U64:
    case I64:
      return cursor.integer(type === I64, shown(key));
    case STRING: {
      const bytes = cursor.count(`the length of ${shown(key)}`, cursor.remaining());
      if (bytes <= MAX_KEPT_BYTES) return cursor.text(bytes, shown(key));
      cursor.skip(bytes, shown(key));
      return undefined;
    }
    default:
      throw fail(`metadata ${shown(key)} has unknown type ${type}`);
  }
}

/** Looks for a token that occurs twice. llama.cpp reads tokens as C strings, so what follows a zero byte is not seen. */
function readTokens(cursor: Cursor, count: number): readonly [number, number] | undefined {
  const seen = new Map<string, number>();
  let doubled: readonly [number, number] | undefined;
  for (let id = 0; id < count; id++) {
    const bytes = cursor.count("the length of a token", cursor.remaining());
    if (bytes > MAX_KEY_BYTES) {
      cursor.skip(bytes, "a token");
      continue;
    }
    const whole = cursor.latin1(bytes, "a token");
    const end = whole.indexOf("\0");
    const text = end < 0 ? whole : whole.slice(0, end);
    const token = text === "" ? `[EMPTY_${id}]` : text;
    const first = seen.get(token);
    if (first === undefined) seen.set(token, id);
    else doubled ??= [first, id];
  }
  return doubled;
}

/** Reads `count` tensor infos and checks that their data, back to back, end inside the file. */
export function readTensors(
  cursor: Cursor,
  count: number,
  alignment: number,
  size: number,
  fail: Fail,
): GgufTensor[] {
  if (count > MAX_TENSORS || count * 24 > cursor.remaining()) {
    throw fail(`it announces ${count} tensors, more than the file can hold`);
  }
  const names = new Set<string>();
  const tensors: GgufTensor[] = [];
  for (let i = 0; i < count; i++) {
    const length = cursor.count(`the length of the name of tensor ${i}`, MAX_NAME_BYTES);
    const name = cursor.text(length, `the name of tensor ${i}`);
    if (names.has(name)) throw fail(`tensor ${shown(name)} occurs twice`);
    names.add(name);
    const rank = cursor.number("u32", `the rank of ${shown(name)}`);
    if (rank > 4) throw fail(`tensor ${shown(name)} has ${rank} dimensions; ggml has at most 4`);
    const dims = Array.from({ length: rank }, () => cursor.count(`a dimension of ${shown(name)}`, 2 ** 48));
    const id = cursor.number("u32", `the type of ${shown(name)}`);
    const type = TENSOR_TYPES.get(id);
    if (type === undefined)
      throw fail(`tensor ${shown(name)} has unknown type ${id}; this llama.cpp cannot read it`);
    const row = dims[0] ?? 1;
    if (row % type.block !== 0) {
      throw fail(
        `tensor ${shown(name)} (${type.name}) has rows of ${row}, not a whole number of blocks of ${type.block}`,
      );
    }
    const elements = dims.reduce((product, dim) => product * dim, 1);
    // Not a safe integer: certainly larger than the file, and the next check says so.
    const bytes = (elements / type.block) * type.bytes;
    const offset = cursor.count(`the offset of ${shown(name)}`, 2 ** 53);
    tensors.push({ name, type: type.name, dims, offset, bytes, elements });
  }
  const data = aligned(cursor.position(), alignment);
  let expected = 0;
  return tensors.map((tensor) => {
    if (tensor.offset !== expected) {
      throw fail(`tensor ${shown(tensor.name)} starts at ${tensor.offset} of the data, expected ${expected}`);
    }
    const end = data + expected + tensor.bytes;
    if (end > size) {
      throw fail(
        `the data of tensor ${shown(tensor.name)} end at byte ${end}, but the file has ${size}; it is incomplete or damaged, ` +
          "download it again",
      );
    }
    expected = aligned(expected + tensor.bytes, alignment);
    return { ...tensor, offset: data + tensor.offset };
  });
}

function aligned(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment;
}

/** A name from the file, safe to print: one line, of bounded length. */
export function shown(name: string): string {
  const printable = name.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/g, "?");
  return printable.length > 80 ? `${printable.slice(0, 77)}...` : printable;
}
