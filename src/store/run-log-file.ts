/** The file of a run log: read and repaired, appended to and written through, left whole where writing fails. */
import { type FileHandle, open } from "node:fs/promises";
import { decodeLine, encodeLine, type RunLine } from "./run-log-line.js";

export interface RunLogFile {
  /** What the file held when it was opened. */
  readonly lines: readonly RunLine[];
  /** Bytes of a last line that was cut short, now removed. */
  readonly repaired: number;
  /** Written, and written through to the disk, when this resolves. Where it fails the file is as it was. */
  append(lines: readonly RunLine[]): Promise<void>;
  close(): Promise<void>;
}

/** Longest line that is read: an answer of 16 MiB has room in it several times. */
const MOST_LINE = 256 * 2 ** 20;

/** Opens the file, or makes it (its folder is there). A last line without its line break is completed where it is whole, else removed. */
export async function openRunLogFile(path: string): Promise<RunLogFile> {
  let file: FileHandle;
  try {
    // Not in append mode: after a failed write the next one must begin where the good lines end.
    file = await open(path, "r+").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return open(path, "wx+");
      throw error;
    });
  } catch (error) {
    throw cannotOpen(path, error);
  }
  try {
    const { lines, good, tail } = await readLines(file, path);
    let end = good;
    let repaired = 0;
    if (tail !== "") {
      const line = decodeLine(tail);
      repaired = typeof line === "string" ? Buffer.byteLength(tail) : 0;
      if (typeof line !== "string") {
        lines.push(line);
        end += await write(file, "\n", good + Buffer.byteLength(tail));
        end += Buffer.byteLength(tail);
      }
    }
    await file.truncate(end);
    return {
      lines,
      repaired,
      async append(more) {
        const text = more.map(encodeLine).join("");
        try {
          const written = await write(file, text, end);
          await file.datasync();
          end += written;
        } catch (error) {
          // Cutting a file needs no room, so this works on a full disk too.
          await file.truncate(end).catch(() => undefined);
          const code = codeOf(error);
          const why = FULL.has(code) ? `; ${NO_ROOM}` : "";
          throw new Error(
            `run log: ${path} cannot be written (${code})${why}; everything logged before is safe in it: ` +
              "make room and run again",
          );
        }
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const NO_ROOM = "the disk, or what you may use of it, is full";

/** What is said of a log that cannot be opened, or whose lock cannot be taken. */
export function cannotOpen(path: string, error: unknown): Error {
  const code = codeOf(error);
  const next = FULL.has(code)
    ? `${NO_ROOM}: make room and run again`
    : "give a file in a folder that can be written";
  return new Error(`run log: ${path} cannot be opened (${code}); ${next}`);
}

/** Reads a run log without changing it: a last line that was cut short is left out. */
export async function readRunLog(path: string): Promise<RunLine[]> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw new Error(`run log: ${path} cannot be read (${codeOf(error)}); check the path`);
  });
  try {
    const { lines, tail } = await readLines(file, path);
    const last = tail === "" ? "" : decodeLine(tail);
    return typeof last === "string" ? lines : [...lines, last];
  } finally {
    await file.close();
  }
}

/** All lines with a line break, how many bytes they take, and what stands after the last one. */
async function readLines(
  file: FileHandle,
  path: string,
): Promise<{ lines: RunLine[]; good: number; tail: string }> {
  const lines: RunLine[] = [];
  let rest = Buffer.alloc(0);
  let read = 0;
  const chunk = Buffer.alloc(1 << 20);
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, read);
    if (bytesRead === 0) break;
    read += bytesRead;
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let from = 0;
    for (let to = bytes.indexOf(10); to >= 0; to = bytes.indexOf(10, from)) {
      const line = decodeLine(bytes.toString("utf8", from, to));
      if (typeof line === "string") {
        throw new Error(
          `run log: line ${lines.length + 1} of ${path} ${line}; remove that line (its trial is computed again), or give another file`,
        );
      }
      lines.push(line);
      from = to + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > MOST_LINE) throw new Error(`run log: ${path} is no run log: it has no line breaks`);
  }
  return { lines, good: read - rest.length, tail: rest.toString("utf8") };
}

async function write(file: FileHandle, text: string, position: number): Promise<number> {
  const bytes = Buffer.from(text, "utf8");
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
  return bytes.length;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
