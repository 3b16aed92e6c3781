/**
 * One member out of a zip archive (a wheel, an npz), streamed: the archive is never in memory, only its directory.
 *
 * The directory at the end of the file is what counts, as the format says; the header before the data is only asked
 * where the data begin. Lengths and CRC-32 are checked. ZIP64 is read; encryption, other methods than stored and
 * deflate, and archives in several volumes are refused.
 */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";

export interface ZipMember {
  readonly name: string;
  /** 0 stored, 8 deflate. */
  readonly method: number;
  readonly compressed: number;
  readonly bytes: number;
  readonly crc: number;
  /** Where its local header stands in the archive. */
  readonly offset: number;
}

const MOST_DIRECTORY = 64 << 20;

/** The members of an archive, in its directory's order. */
export async function listMembers(archive: string): Promise<ZipMember[]> {
  const file = await open(archive, "r");
  try {
    return await readDirectory(file, (await file.stat()).size, archive);
  } finally {
    await file.close();
  }
}

/**
 * Give the bytes of `member` to `sink`, chunk by chunk and in order; the next chunk is read when the sink is done with
 * the last. Throws for an archive that is damaged or of another kind, and for a member it does not hold.
 */
export async function extractMember(
  archive: string,
  member: string,
  sink: (chunk: Uint8Array) => Promise<void> | void,
  options: { readonly signal?: AbortSignal } = {},
): Promise<ZipMember> {
  const file = await open(archive, "r");
  try {
    const size = (await file.stat()).size;
    const found = (await readDirectory(file, size, archive)).find((m) => m.name === member);
    if (found === undefined)
      throw new Error(`extractMember: ${archive} holds no ${member}; is it the right file?`);
    const start = await dataStart(file, found, size, archive);
    await stream(archive, found, start, sink, options.signal);
    return found;
  } finally {
    await file.close();
  }
}

async function stream(
  archive: string,
  member: ZipMember,
  start: number,
  sink: (chunk: Uint8Array) => Promise<void> | void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let bytes = 0;
  let crc = 0;
  const take = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > member.bytes)
        damaged(archive, `${member.name} holds more than the ${member.bytes} bytes it says`);
      crc = crc32(chunk, crc);
      await sink(chunk);
    }
  };
  if (member.compressed > 0) {
    const end = start + member.compressed - 1;
    const source = createReadStream(archive, { start, end, highWaterMark: 1 << 18 });
    const options = signal === undefined ? {} : { signal };
    try {
      if (member.method === 0) await pipeline(source, take, options);
      else await pipeline(source, createInflateRaw({ chunkSize: 1 << 18 }), take, options);
    } catch (error) {
      signal?.throwIfAborted();
      const { code } = error as NodeJS.ErrnoException;
      if (code?.startsWith("Z_")) damaged(archive, `${member.name} cannot be unpacked (${code})`);
      throw error;
    }
  }
  if (bytes !== member.bytes) damaged(archive, `${member.name} has ${bytes} bytes; expected ${member.bytes}`);
  if (crc !== member.crc) damaged(archive, `${member.name} has another CRC-32 than it says`);
}

async function readDirectory(file: FileHandle, size: number, archive: string): Promise<ZipMember[]> {
  const tail = await bytesAt(file, Math.max(0, size - 65_557), Math.min(size, 65_557), archive);
  let end = tail.length - 22;
  while (end >= 0 && tail.readUInt32LE(end) !== 0x06054b50) end--;
  if (end < 0) damaged(archive, "it does not end as a zip archive does");
  let count = tail.readUInt16LE(end + 10);
  let length = tail.readUInt32LE(end + 12);
  let offset = tail.readUInt32LE(end + 16);
  if (tail.readUInt16LE(end + 4) !== 0) damaged(archive, "it is one of several volumes");
  if (end >= 20 && tail.readUInt32LE(end - 20) === 0x07064b50) {
    const at = big(tail.readBigUInt64LE(end - 12), archive);
    const zip64 = await bytesAt(file, at, 56, archive);
    if (zip64.readUInt32LE(0) !== 0x06064b50) damaged(archive, "its ZIP64 end is not where it says");
    count = big(zip64.readBigUInt64LE(32), archive);
    length = big(zip64.readBigUInt64LE(40), archive);
    offset = big(zip64.readBigUInt64LE(48), archive);
  }
  if (length > MOST_DIRECTORY || offset + length > size) damaged(archive, "its directory lies outside it");
  const directory = await bytesAt(file, offset, length, archive);
  const members: ZipMember[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > length || directory.readUInt32LE(at) !== 0x02014b50)
      damaged(archive, "its directory is broken");
    const [nameBytes, extraBytes, noteBytes] = [28, 30, 32].map((k) => directory.readUInt16LE(at + k)) as [
      number,
      number,
      number,
    ];
    const next = at + 46 + nameBytes + extraBytes + noteBytes;
    if (next > length) damaged(archive, "its directory is broken");
    members.push(memberOf(directory.subarray(at, next), nameBytes, extraBytes, archive));
    at = next;
  }
  return members;
}

function memberOf(entry: Buffer, nameBytes: number, extraBytes: number, archive: string): ZipMember {
  const name = entry.toString("utf8", 46, 46 + nameBytes);
  let compressed = entry.readUInt32LE(20);
  let bytes = entry.readUInt32LE(24);
  let offset = entry.readUInt32LE(42);
  const extra = entry.subarray(46 + nameBytes, 46 + nameBytes + extraBytes);
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    // ZIP64: only the fields that did not fit are there, in this order.
    const field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    let k = 0;
    const next = () => {
      if (k + 8 > field.length) damaged(archive, `the ZIP64 sizes of ${name} are cut`);
      k += 8;
      return big(field.readBigUInt64LE(k - 8), archive);
    };
    if (bytes === 0xffffffff) bytes = next();
    if (compressed === 0xffffffff) compressed = next();
    if (offset === 0xffffffff) offset = next();
  }
  if ((entry.readUInt16LE(8) & 1) !== 0) damaged(archive, `${name} is encrypted`);
  return { name, method: entry.readUInt16LE(10), compressed, bytes, crc: entry.readUInt32LE(16), offset };
}

async function dataStart(
  file: FileHandle,
  member: ZipMember,
  size: number,
  archive: string,
): Promise<number> {
  const { name, method, offset, compressed } = member;
  if (method !== 0 && method !== 8)
    damaged(archive, `${name} is packed with method ${method}; expected 0 or 8`);
  const header = await bytesAt(file, offset, 30, archive);
  if (header.readUInt32LE(0) !== 0x04034b50) damaged(archive, `${name} is not where the directory says`);
  const start = offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + compressed > size) damaged(archive, `${name} is cut`);
  return start;
}

async function bytesAt(file: FileHandle, position: number, length: number, archive: string): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead !== length) damaged(archive, "it is cut");
  return buffer;
}

function big(value: bigint, archive: string): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) damaged(archive, "it gives an impossible size");
  return Number(value);
}

function damaged(archive: string, what: string): never {
  throw new Error(`zip: ${archive} is damaged or of another kind: ${what}; fetch or make it again`);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c >>> 0;
});

/** CRC-32 of `bytes`, going on from that of what came before (0 at the start). */
export function crc32(bytes: Uint8Array, before = 0): number {
  let c = ~before;
  for (let i = 0; i < bytes.length; i++) c = CRC_TABLE[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}
