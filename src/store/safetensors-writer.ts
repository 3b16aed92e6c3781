/** safetensors files, written: all at once, or piece by piece. */
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { hashFile } from "./file-hash.js";
import { DTYPES, dtypeOf, elementsOf, type TensorData } from "./tensor-types.js";

/** A tensor to write. Rank 0 has the shape `[]` and one number. */
export interface TensorToWrite {
  readonly shape: readonly number[];
  readonly data: TensorData;
}

/**
 * Write tensors in the order given, with texts as metadata. Written beside the file and renamed, so that a file of
 * that name is always whole. Dtypes follow the arrays: `Float32Array` is F32, `Uint8Array` U8, and so on.
 */
export async function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, TensorToWrite>>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const specs = Object.entries(tensors).map(([name, { shape, data }]) => ({
    name,
    shape,
    dtype: dtypeOf(data),
  }));
  const writer = await safetensorsWriter(path, specs, metadata);
  try {
    for (const [name, { data }] of Object.entries(tensors)) await writer.append(name, data);
  } catch (error) {
    await writer.discard();
    throw error;
  }
  await writer.close();
}

export interface SafetensorsWriter {
  /** The next numbers of one tensor; the tensors may grow in turns. */
  append(name: string, data: TensorData): Promise<void>;
  /** Finish; throws where numbers are missing. The file has its name from now on. The answer is its sha256. */
  close(): Promise<string>;
  /** Give up and leave nothing behind. */
  discard(): Promise<void>;
}

/** Write a file whose shapes are known before its numbers: for activations that come one batch after the other. */
export async function safetensorsWriter(
  path: string,
  specs: readonly { readonly name: string; readonly shape: readonly number[]; readonly dtype?: string }[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<SafetensorsWriter> {
  const header: Record<string, unknown> = {};
  if (Object.keys(metadata).length > 0) header.__metadata__ = metadata;
  /** Where the next numbers of each tensor go, and where it ends. */
  const places = new Map<string, { next: number; readonly end: number; readonly dtype: string }>();
  let size = 0;
  for (const { name, shape, dtype = "F32" } of specs) {
    const kind = DTYPES.get(dtype);
    if (kind === undefined)
      throw new Error(`safetensorsWriter: ${name} has dtype ${dtype}; expected ${[...DTYPES.keys()]}`);
    if (name === "__metadata__" || places.has(name))
      throw new Error(`safetensorsWriter: the name ${name} cannot be used (twice)`);
    const end = size + elementsOf(shape, `safetensorsWriter: ${name}`) * kind.bytes;
    header[name] = { dtype, shape, data_offsets: [size, end] };
    places.set(name, { next: size, end, dtype });
    size = end;
  }
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const padded = Buffer.alloc(8 + Math.ceil(text.length / 8) * 8, " "); // spaces align the numbers, as the format allows
  padded.writeBigUInt64LE(BigInt(padded.length - 8), 0);
  text.copy(padded, 8);
  const draft = `${path}.${process.pid}.writing`;
  const file = await open(draft, "w");
  const discard = async () => {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
  };
  const orNothing = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await discard();
      throw error;
    }
  };
  await orNothing(() => writeAll(file, padded, 0));
  return {
    async append(name, data) {
      const place = places.get(name);
      if (place === undefined)
        throw new Error(`safetensorsWriter: no tensor ${name}; expected ${[...places.keys()].join(", ")}`);
      if (dtypeOf(data) !== place.dtype)
        throw new Error(`safetensorsWriter: ${name} is ${place.dtype}; got ${dtypeOf(data)}`);
      if (place.next + data.byteLength > place.end)
        throw new Error(`safetensorsWriter: ${data.length} numbers more than ${name} takes`);
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      await writeAll(file, bytes, padded.length + place.next);
      place.next += data.byteLength;
    },
    async close() {
      const missing = [...places.values()].reduce((sum, { next, end }) => sum + end - next, 0);
      if (missing > 0) {
        await discard();
        throw new Error(`safetensorsWriter: ${missing} bytes of ${path} were not given; nothing written`);
      }
      return await orNothing(async () => {
        await file.sync();
        await file.close();
        const { sha256 } = await hashFile(draft);
        await rename(draft, path);
        return sha256;
      });
    },
    discard,
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}
