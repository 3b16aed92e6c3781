/**
 * How large tensors cross from the engine's process: through a file in shared memory (an ordinary temporary file where
 * the system has none), because a pipe is ten times slower. Small ones travel inside the message. The reader gives the file back, and
 * the next tensors are written over it: memory that is there already is written seven times as fast as new memory.
 */
import {
  accessSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Activation, Evaluation, LogitsRead, Result } from "./request.js";

/** Below this many bytes a file is not worth opening. */
const INSIDE_MESSAGE = 256 * 1024;
/** A file given back is kept for the next tensors up to this many bytes; one at most is. */
const KEEP_BYTES = 64 * 2 ** 20;

/** An evaluation whose large arrays are in a file: they are empty here, and `lengths` says how to fill them, in order. */
export interface Parcel {
  readonly evaluation: Evaluation;
  readonly file?: string;
  readonly lengths: readonly number[];
}

export function makeExchangeFolder(): string {
  let parent = tmpdir();
  try {
    accessSync("/dev/shm", constants.W_OK);
    parent = "/dev/shm";
  } catch {
    // macOS, Windows, or a container without shared memory.
  }
  return mkdtempSync(join(parent, "countlens-"));
}

/** The writer's side: a folder of files, all but one of them on their way or being read. */
export class Outbox {
  #made = 0;
  #kept: string | undefined;

  constructor(private readonly folder: string) {}

  /** Puts the large arrays of an evaluation into a file. */
  pack(evaluation: Evaluation): Parcel {
    const kept = this.#kept;
    this.#kept = undefined; // not to be tried again should this fail
    const parcel = pack(evaluation, kept ?? join(this.folder, `tensors-${this.#made++}`), kept !== undefined);
    if (parcel.file === undefined) this.#kept = kept;
    return parcel;
  }

  /** The reader is done with `file`. */
  takeBack(file: string): void {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY;
    if (this.#kept === undefined && size <= KEEP_BYTES) this.#kept = file;
    else rmSync(file, { force: true });
  }
}

function pack(evaluation: Evaluation, file: string, there: boolean): Parcel {
  let bytes = 0;
  visit(evaluation, (array) => {
    bytes += array.byteLength;
    return array;
  });
  if (bytes < INSIDE_MESSAGE) return { evaluation, lengths: [] };
  const arrays: Float32Array[] = [];
  const handle = openSync(file, there ? "r+" : "w");
  try {
    const emptied = visit(evaluation, (array) => {
      arrays.push(array);
      return new Float32Array(0);
    });
    for (const view of spans(arrays))
      for (let done = 0; done < view.length; ) done += writeSync(handle, view, done);
    return { evaluation: emptied, file, lengths: arrays.map(({ length }) => length) };
  } catch (error) {
    rmSync(file, { force: true });
    throw new Error(
      `engine: could not hand over ${bytes} bytes of activations through ${file}: ${String(error)}`,
    );
  } finally {
    closeSync(handle);
  }
}

/** Takes them out again, into arrays of `allocate`; the file is then the writer's. */
export function unpack(parcel: Parcel, allocate: (length: number) => Float32Array = uncleared): Evaluation {
  const { file, lengths } = parcel;
  if (file === undefined) return parcel.evaluation;
  const arrays = lengths.map(allocate);
  const handle = openSync(file, "r");
  try {
    for (const view of spans(arrays)) {
      for (let done = 0; done < view.length; ) {
        const read = readSync(handle, view, done, view.length - done, null);
        if (read === 0) throw new Error(`engine: ${file} ended early`);
        done += read;
      }
    }
  } finally {
    closeSync(handle);
  }
  let next = 0;
  return visit(parcel.evaluation, () => arrays[next++]!);
}

/** Not cleared: every byte is read over. */
function uncleared(length: number): Float32Array {
  return new Float32Array(Buffer.allocUnsafeSlow(4 * length).buffer);
}

/** The bytes of arrays, those that follow each other in memory as one. */
function spans(arrays: readonly Float32Array[]): Uint8Array[] {
  const out: Uint8Array[] = [];
  for (const { buffer, byteOffset, byteLength } of arrays) {
    const last = out.at(-1);
    if (last?.buffer === buffer && last.byteOffset + last.length === byteOffset)
      out[out.length - 1] = new Uint8Array(buffer, last.byteOffset, last.length + byteLength);
    else out.push(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return out;
}

/** Replaces every array that may be large, in a fixed order. */
function visit(evaluation: Evaluation, replace: (array: Float32Array) => Float32Array): Evaluation {
  const inLogits = (logits: LogitsRead): LogitsRead =>
    logits.full === undefined ? logits : { ...logits, full: replace(logits.full) };
  const inCapture = (capture: Activation): Activation => ({ ...capture, data: replace(capture.data) });
  const results: Result[] = evaluation.results.map((result) => ({
    captures: result.captures.map(inCapture),
    ...(result.logits === undefined ? {} : { logits: inLogits(result.logits) }),
  }));
  return { ...evaluation, results };
}
