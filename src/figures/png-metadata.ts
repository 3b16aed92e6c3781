/**
 * PNG chunks: the resolution (pHYs) and one text entry per key (iTXt, UTF-8), put behind the header.
 */

/** A PNG with its resolution and metadata. Values that are not strings are written as JSON. */
export function withPngMetadata(
  png: Buffer,
  about: Readonly<Record<string, unknown>>,
  dotsPerInch: number,
): Buffer {
  const headerEnd = 8 + 12 + png.readUInt32BE(8);
  const perMetre = Math.round(dotsPerInch / 0.0254);
  const density = Buffer.alloc(9);
  density.writeUInt32BE(perMetre, 0);
  density.writeUInt32BE(perMetre, 4);
  density.writeUInt8(1, 8);
  const texts = Object.entries(about)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => {
      // Keyword of 1 to 79 Latin-1 characters, then: not compressed, no language, no translated keyword.
      const keyword = key.replace(/[^\x20-\x7e]/g, "_").slice(0, 79);
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return pngChunk(
        "iTXt",
        Buffer.concat([Buffer.from(keyword), Buffer.from([0, 0, 0, 0, 0]), Buffer.from(text)]),
      );
    });
  return Buffer.concat([
    png.subarray(0, headerEnd),
    pngChunk("pHYs", density),
    ...texts,
    png.subarray(headerEnd),
  ]);
}

/** One chunk of a PNG, with its length and checksum. */
export function pngChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(content.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
