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
  const lengths: number[] = [];
  const handle = openSync(file, there ? "r+" : "w");
  try {
    const emptied = visit(evaluation, (array) => {
      const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let done = 0; done < view.length; ) done += writeSync(handle, view, done);
      lengths.push(array.length);
      return new Float32Array(0);
    });
    return { evaluation: emptied, file, lengths };
  } catch (error) {
    rmSync(file, { force: true });
    throw new Error(
      `engine: could not hand over ${bytes} bytes of activations through ${file}: ${String(error)}`,
    );
  } finally {
    closeSync(handle);
  }
}

/** Takes them out again; the file is then the writer's. */
export function unpack(parcel: Parcel): Evaluation {
  const { file, lengths } = parcel;
  if (file === undefined) return parcel.evaluation;
  const handle = openSync(file, "r");
  try {
    let next = 0;
    return visit(parcel.evaluation, () => {
      // Not cleared first: every byte is read over.
      const view = Buffer.allocUnsafeSlow(4 * lengths[next++]!);
      for (let done = 0; done < view.length; ) {
        const read = readSync(handle, view, done, view.length - done, null);
        if (read === 0) throw new Error(`engine: ${file} ended early`);
        done += read;
      }
      return new Float32Array(view.buffer, 0, view.length / 4);
    });
  } finally {
    closeSync(handle);
  }
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
