import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { encodePng } from "../../src/figures/encode-png.js";

/** Chunks by type, their checksums recomputed bit by bit. */
function chunks(png: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const body = png.subarray(at + 4, at + 8 + length);
    let crc = 0xffffffff;
    for (const byte of body) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
    expect(png.readUInt32BE(at + 8 + length)).toBe((crc ^ 0xffffffff) >>> 0);
    found.set(body.subarray(0, 4).toString("latin1"), body.subarray(4));
    at += 12 + length;
  }
  return found;
}

describe("encodePng", () => {
  it("keeps every pixel, in lines without a filter", () => {
    const pixels = Uint8Array.from({ length: 3 * 2 * 3 }, (_, i) => i * 10);
    const png = encodePng(pixels, 3, 2);
    expect([...png.subarray(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const parts = chunks(png);
    expect([...parts.keys()]).toEqual(["IHDR", "IDAT", "IEND"]);
    const header = parts.get("IHDR")!;
    expect([header.readUInt32BE(0), header.readUInt32BE(4), ...header.subarray(8)]).toEqual([
      3, 2, 8, 2, 0, 0, 0,
    ]);
    const lines = inflateSync(parts.get("IDAT")!);
    expect([...lines]).toEqual([0, ...pixels.subarray(0, 9), 0, ...pixels.subarray(9)]);
  });

  it("refuses pixels of another number", () => {
    expect(() => encodePng(new Uint8Array(5), 2, 1)).toThrow(
      "encodePng: 5 bytes for 2 x 1; expected 3 a pixel",
    );
    expect(() => encodePng(new Uint8Array(0), 0, 0)).toThrow("encodePng: 0 bytes for 0 x 0");
  });
});
