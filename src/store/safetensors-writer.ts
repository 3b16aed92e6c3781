/** safetensors files, written: all at once, or piece by piece. */
import { createHash } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
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
    for (const { data } of Object.values(tensors)) await writer.append(data);
  } catch (error) {
    await writer.discard();
    throw error;
  }
  await writer.close();
}

export interface SafetensorsWriter {
  /** The next numbers, in the order of the tensors; an array may not reach over the end of a tensor. */
  append(data: TensorData): Promise<void>;
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
  const ends: number[] = [];
  let offset = 0;
  for (const { name, shape, dtype = "F32" } of specs) {
    const kind = DTYPES.get(dtype);
    if (kind === undefined)
      throw new Error(`safetensorsWriter: ${name} has dtype ${dtype}; expected ${[...DTYPES.keys()]}`);
    if (name === "__metadata__" || name in header)
      throw new Error(`safetensorsWriter: the name ${name} cannot be used (twice)`);
    const end = offset + elementsOf(shape, `safetensorsWriter: ${name}`) * kind.bytes;
    header[name] = { dtype, shape, data_offsets: [offset, end] };
    ends.push(end);
    offset = end;
  }
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const padded = Buffer.alloc(8 + Math.ceil(text.length / 8) * 8, " "); // spaces align the numbers, as the format allows
  padded.writeBigUInt64LE(BigInt(padded.length - 8), 0);
  text.copy(padded, 8);
  const draft = `${path}.${process.pid}.writing`;
  const file = await open(draft, "w");
  let current = 0;
  let at = 0;
  const discard = async () => {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
  };
  const sha256 = createHash("sha256").update(padded);
  const orNothing = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      await discard();
      throw error;
    }
  };
  await orNothing(() => writeAll(file, padded, 0));
  return {
    async append(data) {
      if (data.length === 0) return;
      while (current < ends.length && at === ends[current]) current++;
      const spec = specs[current];
      const end = ends[current];
      if (spec === undefined || end === undefined || at + data.byteLength > end) {
        throw new Error(
          `safetensorsWriter: ${data.length} numbers more than ${spec?.name ?? "the file"} takes`,
        );
      }
      if (dtypeOf(data) !== (spec.dtype ?? "F32")) {
        throw new Error(`safetensorsWriter: ${spec.name} is ${spec.dtype ?? "F32"}; got ${dtypeOf(data)}`);
      }
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      await writeAll(file, bytes, padded.length + at);
      sha256.update(bytes);
      at += data.byteLength;
    },
    async close() {
      if (at !== offset) {
        await discard();
        throw new Error(`safetensorsWriter: ${offset - at} bytes of ${path} were not given; nothing written`);
      }
      await orNothing(async () => {
        await file.sync();
        await file.close();
        await rename(draft, path);
      });
      return sha256.digest("hex");
    },
    discard,
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}
