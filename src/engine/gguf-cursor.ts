/**
 * Reading a binary file from front to back without ever reading past its end or holding more than one window of it.
 */
import { readSync } from "node:fs";

/** Numbers are little-endian. Every read throws through `fail` when the file ends first. */
export interface Cursor {
  position(): number;
  remaining(): number;
  /** Signed and unsigned integers of 1, 2 and 4 bytes, and floats of 4 and 8. */
  number(kind: NumberKind, what: string): number;
  /** An unsigned count or length of 8 bytes; at most `max`, which no honest file exceeds. */
  count(what: string, max: number): number;
  /** A signed or unsigned number of 8 bytes, exactly: a number where that is possible, else decimal digits. */
  integer(signed: boolean, what: string): number | string;
  skip(bytes: number, what: string): void;
  /** UTF-8 text of that many bytes. */
  text(bytes: number, what: string): string;
  /** The bytes as they are, one character each. */
  latin1(bytes: number, what: string): string;
}

export type NumberKind = "u8" | "i8" | "u16" | "i16" | "u32" | "i32" | "f32" | "f64";

const WIDTH: Readonly<Record<NumberKind, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  f64: 8,
};
const WINDOW = 1 << 18;

/** `fail` makes the error for a file that ends too early or contradicts itself. */
export function openCursor(file: number, size: number, fail: (what: string) => Error): Cursor {
  let window = Buffer.alloc(0);
  let start = 0; // offset in the file of the window's first byte
  let at = 0; // offset in the file of the next byte to read

  const remaining = () => size - at;
  /** Makes the next `bytes` bytes available and returns where they are in the window. */
  function need(bytes: number, what: string): number {
    if (bytes > remaining()) {
      throw fail(`the file ends inside ${what} (${bytes} bytes wanted at byte ${at} of ${size})`);
    }
    if (at < start || at + bytes > start + window.length) {
      const wanted = Math.min(Math.max(bytes, WINDOW), remaining());
      window = Buffer.allocUnsafe(wanted);
      start = at;
      for (let filled = 0; filled < wanted; ) {
        const read = readSync(file, window, filled, wanted - filled, at + filled);
        if (read === 0) throw fail(`the file was cut off at byte ${at + filled} while it was read`);
        filled += read;
      }
    }
    const offset = at - start;
    at += bytes;
    return offset;
  }

  return {
    position: () => at,
    remaining,
    number(kind, what) {
      const offset = need(WIDTH[kind], what);
      switch (kind) {
        case "u8":
          return window.readUInt8(offset);
        case "i8":
          return window.readInt8(offset);
        case "u16":
          return window.readUInt16LE(offset);
        case "i16":
          return window.readInt16LE(offset);
        case "u32":
          return window.readUInt32LE(offset);
        case "i32":
          return window.readInt32LE(offset);
        case "f32":
          return window.readFloatLE(offset);
        case "f64":
          return window.readDoubleLE(offset);
      }
    },
    count(what, max) {
      const offset = need(8, what);
      const value = window.readUInt32LE(offset + 4) * 2 ** 32 + window.readUInt32LE(offset);
      if (value > max)
        throw fail(`${what} is ${value}, but at most ${max} is possible there; it is truncated or damaged`);
      return value;
    },
    integer(signed, what) {
      const offset = need(8, what);
      const value = signed ? window.readBigInt64LE(offset) : window.readBigUInt64LE(offset);
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : value.toString();
    },
    skip(bytes, what) {
      if (bytes > remaining()) {
        throw fail(`the file ends inside ${what} (${bytes} bytes wanted at byte ${at} of ${size})`);
      }
      at += bytes;
    },
    text(bytes, what) {
      const offset = need(bytes, what);
      return window.toString("utf8", offset, offset + bytes);
    },
    latin1(bytes, what) {
      const offset = need(bytes, what);
      return window.toString("latin1", offset, offset + bytes);
    },
  };
}
