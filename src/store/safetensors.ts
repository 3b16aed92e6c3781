/**
 * safetensors files: named tensors behind a JSON header (the form that Python's `safetensors` reads and writes).
 *
 * A file is opened by its header alone; tensors, or some rows of one, are read when asked for, so that no whole
 * file need be in memory. Everything in the header is checked before a byte is used.
 */
import { type FileHandle, open } from "node:fs/promises";
import { counts, DTYPES, elementsOf, type TensorData } from "./tensor-types.js";

export interface TensorInfo {
  readonly name: string;
  /** As in the file, for example `F32`, `BF16`. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Where its bytes begin and end, from the start of the file. */
  readonly start: number;
  readonly end: number;
}

export interface SafetensorsHeader {
  /** In the order of their bytes. */
  readonly tensors: readonly TensorInfo[];
  /** The header's `__metadata__`: texts by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** A tensor that was read. */
export interface Tensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Row-major. F16 and BF16 come as `Float32Array`, BOOL as `Uint8Array`, 64-bit integers as bigint arrays. */
  readonly data: TensorData;
}

/** The format's own limit on the header. */
const MOST_HEADER = 100_000_000;

/** Read and check the header of a file. */
export async function readSafetensorsHeader(path: string): Promise<SafetensorsHeader> {
  return withFile(path, async (file) => headerOf(file, path));
}

/**
 * Read tensors by name (default all), each `[...shape]` row-major. Throws for a name that is not there, a dtype that
 * has no array here (8-bit floats), and any fault of the file.
 */
export async function readSafetensors(
  path: string,
  names?: readonly string[],
): Promise<{ tensors: Map<string, Tensor>; metadata: Readonly<Record<string, string>> }> {
  return withFile(path, async (file) => {
    const header = await headerOf(file, path);
    const tensors = new Map<string, Tensor>();
    for (const name of names ?? header.tensors.map((t) => t.name)) {
      const info = tensorInfo(header, name, path);
      tensors.set(name, await readRange(file, info, info.start, info.end, info.shape, path));
    }
    return { tensors, metadata: header.metadata };
  });
}

/** Rows `from` to `to` (the end not included) of a tensor's first axis. */
export async function readSafetensorsRows(
  path: string,
  name: string,
  from: number,
  to: number,
): Promise<Tensor> {
  return withFile(path, async (file) => {
    const info = tensorInfo(await headerOf(file, path), name, path);
    const [rows] = info.shape;
    const good =
      Number.isInteger(from) && Number.isInteger(to) && 0 <= from && from <= to && to <= (rows ?? 0);
    if (rows === undefined || !good) {
      throw new Error(`readSafetensorsRows: rows ${from}..${to} of ${name}; it has shape [${info.shape}]`);
    }
    const rowBytes = rows === 0 ? 0 : (info.end - info.start) / rows;
    const shape = [to - from, ...info.shape.slice(1)];
    return readRange(file, info, info.start + from * rowBytes, info.start + to * rowBytes, shape, path);
  });
}

/**
 * Check a header: `bytes` are the file's first bytes, at least the whole header; `fileBytes` its length. Refused are
 * headers that are cut or over 100 MB, that are no JSON, unknown dtypes, shapes whose product is not what the offsets
 * span, and tensors that overlap, leave gaps or end outside the file.
 */
export function parseSafetensorsHeader(
  bytes: Uint8Array,
  fileBytes: number,
  path = "file",
): SafetensorsHeader {
  const length = headerLength(bytes, fileBytes, path);
  if (bytes.length < 8 + length) fault(path, "its header is cut");
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, 8 + length)));
  } catch {
    fault(path, "its header is no JSON");
  }
  if (typeof json !== "object" || json === null || Array.isArray(json))
    fault(path, "its header is no object");
  const metadata: Record<string, string> = {};
  const tensors: TensorInfo[] = [];
  for (const [name, value] of Object.entries(json)) {
    if (name !== "__metadata__") {
      tensors.push(infoOf(name, value, 8 + length, path));
      continue;
    }
    if (typeof value !== "object" || value === null) fault(path, "its metadata is no object");
    for (const [key, text] of Object.entries(value)) {
      if (typeof text !== "string") fault(path, `its metadata ${key} is no text`);
      metadata[key] = text;
    }
  }
  tensors.sort((a, b) => a.start - b.start || a.end - b.end);
  let at = 8 + length;
  for (const { name, start, end } of tensors) {
    if (start !== at)
      fault(path, `${name} ${start < at ? "overlaps another tensor" : "leaves a gap before it"}`);
    at = end;
  }
  if (at !== fileBytes) fault(path, `its tensors end at byte ${at}, the file at ${fileBytes}`);
  return { tensors, metadata };
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    throw new Error(
      `safetensors: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}); check the path`,
    );
  }
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function headerOf(file: FileHandle, path: string): Promise<SafetensorsHeader> {
  const fileBytes = (await file.stat()).size;
  const first = await bytesAt(file, 0, Math.min(8, fileBytes), path);
  const length = headerLength(first, fileBytes, path);
  return parseSafetensorsHeader(await bytesAt(file, 0, 8 + length, path), fileBytes, path);
}

function headerLength(bytes: Uint8Array, fileBytes: number, path: string): number {
  if (bytes.length < 8) fault(path, `it has ${bytes.length} bytes; expected at least 8`);
  const length = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(MOST_HEADER) || 8n + length > BigInt(fileBytes)) {
    fault(path, `it says its header has ${length} bytes; the file has ${fileBytes}`);
  }
  return Number(length);
}

function infoOf(name: string, value: unknown, base: number, path: string): TensorInfo {
  const raw = (value ?? {}) as { dtype?: unknown; shape?: unknown; data_offsets?: unknown };
  const kind = typeof raw.dtype === "string" ? DTYPES.get(raw.dtype) : undefined;
  if (kind === undefined)
    fault(path, `${name} has dtype ${JSON.stringify(raw.dtype)}; known are ${[...DTYPES.keys()]}`);
  if (!counts(raw.shape)) fault(path, `${name} has no shape of whole numbers`);
  const offsets = raw.data_offsets;
  if (!counts(offsets) || offsets.length !== 2 || offsets[0]! > offsets[1]!)
    fault(path, `${name} has no data_offsets`);
  const [start, end] = offsets as [number, number];
  const bytes = elementsOf(raw.shape, `safetensors: ${path}: ${name}`) * kind.bytes;
  if (bytes !== end - start)
    fault(path, `${name} has ${end - start} bytes; its shape [${raw.shape}] needs ${bytes}`);
  return { name, dtype: raw.dtype as string, shape: raw.shape, start: base + start, end: base + end };
}

async function readRange(
  file: FileHandle,
  { name, dtype }: TensorInfo,
  start: number,
  end: number,
  shape: readonly number[],
  path: string,
): Promise<Tensor> {
  const decode = DTYPES.get(dtype)?.decode;
  if (decode === undefined)
    throw new Error(`safetensors: ${name} of ${path} is ${dtype}; convert it to F16 or F32 first`);
  const bytes = await bytesAt(file, start, end - start, path);
  return { name, dtype, shape, data: decode(bytes.buffer as ArrayBuffer) };
}

/** A fresh buffer of its own, so that any number type can look at it (views need alignment). */
async function bytesAt(
  file: FileHandle,
  position: number,
  length: number,
  path: string,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(new ArrayBuffer(length));
  // One read call takes at most 2 GiB.
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, Math.min(length - done, 1 << 30), position + done);
    if (bytesRead === 0) fault(path, "it is cut");
    done += bytesRead;
  }
  return bytes;
}

function tensorInfo(header: SafetensorsHeader, name: string, path: string): TensorInfo {
  const info = header.tensors.find((t) => t.name === name);
  if (info !== undefined) return info;
  const names = header.tensors.slice(0, 10).map((t) => t.name);
  throw new Error(`safetensors: ${path} has no tensor ${name}; it has ${names.join(", ")}`);
}

function fault(path: string, what: string): never {
  throw new Error(`safetensors: ${path} is damaged or of another kind: ${what}`);
}
