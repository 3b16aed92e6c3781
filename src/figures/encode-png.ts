/** A picture of raw pixels as PNG, without a browser: 8 bits a channel, no alpha, one filter for all lines. */
import { deflateSync } from "node:zlib";
import { pngChunk } from "./png-metadata.js";

/**
 * A PNG from `[row, column, channel]` bytes, red, green and blue.
 *
 * @throws when the pixels are not `width x height x 3` bytes
 */
export function encodePng(pixels: Uint8Array, width: number, height: number): Buffer {
  if (!(width > 0 && height > 0) || pixels.length !== width * height * 3)
    throw new Error(`encodePng: ${pixels.length} bytes for ${width} x ${height}; expected 3 a pixel`);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const lines = Buffer.alloc((width * 3 + 1) * height);
  for (let row = 0; row < height; row++)
    lines.set(pixels.subarray(row * width * 3, (row + 1) * width * 3), row * (width * 3 + 1) + 1);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(lines)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}
