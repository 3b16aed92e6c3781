/**
 * The run log: finished trials on disk, one a line, found again by what was asked.
 *
 * A trial counts only once its line is written through to the disk (`fdatasync`, once a batch), so whatever ends a process,
 * what it has reported is there. A run that is started again finds its finished trials and computes the rest.
 *
 * Trials are computed in batches, and rounding depends on the batch. So every line says which batch its trial came from, and a
 * batch of which only some lines arrived is computed again as a whole, and only the missing lines are added: the log of a
 * run that was killed and resumed is the log of a run that was not, to the last digit.
 */
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { contentKey } from "./content-key.js";
import { type HeldLock, tryLock } from "./lock.js";
import type { Json } from "./provenance.js";
import { cannotOpen, openRunLogFile, type RunLogFile } from "./run-log-file.js";
import type { RunLine } from "./run-log-line.js";

/** What is asked of a log at once, and how it is computed. */
export interface Batch<T extends Json> {
  /** What is asked, in order: see `trialKey`. Equal ones are computed once. */
  readonly keys: readonly string[];
  /** Computes the trials at these indices of `keys`, in this order. */
  compute(indices: readonly number[]): Promise<readonly T[]>;
  /** Does the same question always get the same answer? If not (servers, unseeded draws), a batch that is there in part is
   * not asked again. Default true. */
  readonly repeatable?: boolean;
}

/** Trials of a batch, computed or found. */
export interface Logged<T extends Json> {
  readonly trials: readonly T[];
  /** When each was computed, ISO 8601, UTC; and an equal share of the time its batch took, ms. */
  readonly runs: readonly RunLine["run"][];
  /** How many of the keys were found rather than computed. */
  readonly found: number;
}

/** A log of trials, found again by content. */
export interface RunLog {
  readonly path: string;
  /** Trials in it. */
  readonly size: number;
  /** Bytes of a last line that was cut short, and was removed when the log was opened. */
  readonly repaired: number;
  /** Is there a trial under this key? */
  has(key: string): boolean;
  /** The trials of a batch: those that are in the log, and the others computed, written through and then handed back. */
  batch<T extends Json>(batch: Batch<T>): Promise<Logged<T>>;
  /** Gives the file free. A log that was opened twice in one process is closed by the second call. */
  close(): Promise<void>;
}

/** The key of a trial: 128 bits of the sha256 of everything that decides it. See `contentKey` for what may be in it. */
export function trialKey(content: unknown): string {
  return contentKey(content).slice(0, 32);
}

interface Opened {
  readonly log: RunLog;
  users: number;
}

const openHere = new Map<string, Promise<Opened>>();

/**
 * Opens a run log, or makes it. While it is open no other process can open it: the error names the process that has it. A lock
 * that a dead process left behind is taken over. In one process a path is one log, however often it is opened.
 *
 * @throws where the file is no run log, or a line was changed: one line that says which and what to do
 * @example const log = await openRunLog("runs/tally-400k.jsonl");
 */
export async function openRunLog(path: string): Promise<RunLog> {
  const full = resolve(path);
  let opened = openHere.get(full);
  if (opened === undefined) {
    opened = openOnce(full, path);
    openHere.set(full, opened);
    opened.catch(() => openHere.delete(full));
  }
  const entry = await opened;
  entry.users++;
  return entry.log;
}

async function openOnce(full: string, path: string): Promise<Opened> {
  const lock = await lockFor(full, path);
  let file: RunLogFile;
  try {
    file = await openRunLogFile(full);
  } catch (error) {
    await lock.release();
    throw error;
  }
  const entry: Opened = {
    users: 0,
    log: makeLog(path, file, async () => {
      if (--entry.users > 0) return;
      openHere.delete(full);
      await file.close();
      await lock.release();
    }),
  };
  return entry;
}

async function lockFor(full: string, path: string): Promise<HeldLock> {
  let lock: Awaited<ReturnType<typeof tryLock>>;
  try {
    await mkdir(dirname(full), { recursive: true });
    lock = await tryLock(`${full}.lock`);
  } catch (error) {
    throw cannotOpen(path, error);
  }
  if (lock.held) return lock;
  const seconds = Math.max(0, Math.round((Date.now() - lock.alive) / 1000));
  throw new Error(
    `run log: ${path} is being written by process ${lock.pid} on ${lock.host || "another machine"} ` +
      `(last sign of life ${seconds} s ago); wait for it, end it, or give another file`,
  );
}

function makeLog(path: string, file: RunLogFile, close: () => Promise<void>): RunLog {
  const known = new Map<string, RunLine>();
  const arrived = new Map<string, number>();
  let writing: Promise<unknown> = Promise.resolve();

  const take = (line: RunLine) => {
    if (known.has(line.key)) return; // two logs put together by hand
    known.set(line.key, line);
    arrived.set(line.batch, (arrived.get(line.batch) ?? 0) + 1);
  };
  for (const line of file.lines) take(line);
  const isWhole = (line: RunLine) => (arrived.get(line.batch) ?? 0) >= line.of;

  /** Adds what is not there yet; one write at a time. */
  const add = (lines: readonly RunLine[]): Promise<void> => {
    const run = async () => {
      const fresh = lines.filter(({ key }) => !known.has(key));
      if (fresh.length === 0) return;
      await file.append(fresh);
      for (const line of fresh) take(line);
    };
    const done = writing.then(run, run);
    writing = done.catch(() => undefined);
    return done;
  };

  return {
    path,
    get size() {
      return known.size;
    },
    repaired: file.repaired,
    has: (key) => known.has(key),
    async batch<T extends Json>({ keys, compute, repeatable = true }: Batch<T>): Promise<Logged<T>> {
      const first = new Map<string, number>();
      keys.forEach((key, i) => {
        if (!first.has(key)) first.set(key, i);
      });
      const distinct = [...first.keys()];
      const missing = distinct.filter((key) => !known.has(key));
      const absent = new Set(missing);
      if (missing.length > 0) {
        // Lines of a batch that is there in part are computed again with the rest: rounding depends on the batch.
        const asked = repeatable
          ? distinct.filter((key) => !known.has(key) || !isWhole(known.get(key)!))
          : missing;
        const started = performance.now();
        const trials = await compute(asked.map((key) => first.get(key)!));
        if (trials.length !== asked.length)
          throw new Error(`run log: ${trials.length} trials for ${asked.length} questions; expected as many`);
        const ms = Math.round((1000 * (performance.now() - started)) / asked.length) / 1000;
        const date = new Date().toISOString();
        const name = trialKey(asked).slice(0, 16);
        // Leftovers of a batch of another shape stay what they are; then the new lines are whole by themselves.
        const same = asked.every((key) => (known.get(key)?.batch ?? name) === name);
        const of = same ? asked.length : missing.length;
        const batch = same ? name : trialKey([asked, missing]).slice(0, 16);
        const lines = asked.map(
          (key, i): RunLine => ({ key, batch, of, trial: trials[i]!, run: { date, ms } }),
        );
        await add(lines.filter(({ key }) => !known.has(key)));
      }
      // The log has the last word, also where another batch of this process was quicker.
      const lines = keys.map((key) => known.get(key)!);
      return {
        trials: lines.map(({ trial }) => trial as T),
        runs: lines.map(({ run }) => run),
        found: keys.filter((key) => !absent.has(key)).length,
      };
    },
    close,
  };
}
