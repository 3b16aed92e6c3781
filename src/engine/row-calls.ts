/**
 * Custom edits of an isolated engine: the child stands still inside a decode, so it asks over two pipes of its own, writing
 * and reading synchronously, and this side answers when its event loop comes round.
 *
 * A frame is a header of four 32-bit words [call, function, positions, floats] and then positions and rows; an answer is
 * one word (0, or the length of an error text) and then rows or text.
 */
import { readSync, writeSync } from "node:fs";
import type { Duplex } from "node:stream";

export const ASK_FD = 4;
export const ANSWER_FD = 5;
const HEADER = 16;

type RowFunction = (rows: Float32Array, positions: Int32Array) => void;

/** Child: a function that hands rows over and takes them back changed. */
export function remoteFunction(call: number, number: number): RowFunction {
  return (rows, positions) => {
    const header = Uint32Array.of(call, number, positions.length, rows.length);
    const bytes = [header, positions, rows].map(bytesOf);
    for (const part of bytes) writeAll(part);
    const error = new Uint32Array(1);
    readAll(bytesOf(error));
    if (error[0] !== 0) {
      const text = new Uint8Array(error[0]!);
      readAll(text);
      throw new Error(new TextDecoder().decode(text));
    }
    readAll(bytesOf(rows));
  };
}

/** Parent: answers the child's questions with the functions of the running calls. */
export function answerRowCalls(
  ask: Duplex,
  answer: Duplex,
  find: (call: number, number: number) => RowFunction | undefined,
): void {
  // A child that dies in the middle of a question breaks the pipe. Its end is reported elsewhere; unheard, the error here would
  // end this process.
  for (const pipe of [ask, answer]) pipe.on("error", () => undefined);
  let waiting = Buffer.alloc(0);
  ask.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.length >= HEADER) {
      const [call, number, positionCount, floatCount] = [0, 4, 8, 12].map((at) => waiting.readUInt32LE(at));
      const size = HEADER + 4 * (positionCount! + floatCount!);
      if (waiting.length < size) return;
      // Copies, so that the typed arrays are aligned.
      const body = Uint8Array.from(waiting.subarray(HEADER, size)).buffer;
      waiting = waiting.subarray(size);
      const positions = new Int32Array(body, 0, positionCount);
      const rows = new Float32Array(body, 4 * positionCount!, floatCount);
      answer.write(reply(find(call!, number!), rows, positions));
    }
  });
}

function reply(apply: RowFunction | undefined, rows: Float32Array, positions: Int32Array): Buffer {
  try {
    if (apply === undefined) throw new Error("the call it belongs to is over");
    apply(rows, positions);
    return Buffer.concat([Buffer.alloc(4), bytesOf(rows)]);
  } catch (error) {
    const text = Buffer.from(`custom edit: ${error instanceof Error ? error.message : String(error)}`);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(text.length);
    return Buffer.concat([head, text]);
  }
}

function bytesOf(array: Float32Array | Int32Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

const pause = new Int32Array(new SharedArrayBuffer(4));

function writeAll(bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += patiently(() => writeSync(ASK_FD, bytes, done));
}

function readAll(bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const read = patiently(() => readSync(ANSWER_FD, bytes, done, bytes.length - done, null));
    if (read === 0) throw new Error("custom edit: the notebook's process is gone");
    done += read;
  }
}

/** The pipes do not block, so "not now" is answered by waiting a little. */
function patiently(transfer: () => number): number {
  for (;;) {
    try {
      return transfer();
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
      Atomics.wait(pause, 0, 0, 0.1);
    }
  }
}
