/**
 * How far something has got: what, done of total, rate, time left. Quiet for two seconds, then one line that updates
 * in place (terminal, notebook); where nobody watches (CI, a log file) one line every 30 s at most.
 */
import { randomBytes } from "node:crypto";
import { inNotebook, writeDisplay } from "./notebook-display.js";

/** What the engine and the downloads report; `what` and `unit` default to those given to `progress`. */
export interface ProgressUpdate {
  readonly what?: string;
  readonly done: number;
  /** 0 or NaN where it is not known. */
  readonly total: number;
  readonly unit?: string;
}

/** Where and how often progress is written. */
export interface ProgressOptions {
  /** What is counted. Default none. */
  readonly unit?: string;
  /** Nothing is written before. Default 2000 ms. */
  readonly delayMs?: number;
  /** Default: a notebook where there is one, `line` on a terminal, `log` otherwise and in CI; `none` writes nothing. */
  readonly mode?: "line" | "log" | "notebook" | "none";
  /** Default `process.stderr`. */
  readonly stream?: {
    /** Writes a piece of text. */
    write(text: string): unknown;
    columns?: number;
    isTTY?: boolean;
  };
  /** Milliseconds; for tests. Default `performance.now`. */
  readonly now?: () => number;
}

/** A line of progress that updates itself. */
export interface ProgressReporter {
  /** Says how far it has come; written at most a few times a second. */
  update(update: ProgressUpdate): void;
  /** `update`, to be handed on as an `onProgress` option. */
  readonly onProgress: (update: ProgressUpdate) => void;
  /** Says that it is over: the last line stays where one was written. Later updates are ignored. */
  end(): void;
}

const EVERY: Readonly<Record<string, number>> = { line: 100, notebook: 500, log: 30_000 };

/**
 * A reporter for one piece of work.
 *
 * @example
 * const p = progress("capturing", { unit: "tokens" });
 * await model.evaluate(requests, { onProgress: p.onProgress });
 * p.end();
 */
export function progress(what: string, options: ProgressOptions = {}): ProgressReporter {
  const stream = options.stream ?? process.stderr;
  const now = options.now ?? (() => performance.now());
  const mode = options.mode ?? usualMode(stream.isTTY ?? false);
  const id = randomBytes(8).toString("hex");
  const start = now();
  let written = 0;
  let last: { at: number; state: ProgressUpdate } | undefined;
  let wroteAt = Number.NEGATIVE_INFINITY;
  let ended = false;

  const write = (state: ProgressUpdate, final: boolean): void => {
    const text = progressLine(
      { what, ...(options.unit === undefined ? {} : { unit: options.unit }), ...state },
      now() - start,
      final,
    );
    if (mode === "line") {
      const room = (stream.columns ?? 80) - 1;
      stream.write(`\r\u001b[K${text.slice(0, room)}${final ? "\n" : ""}`);
    } else if (mode === "notebook") {
      writeDisplay({ "text/plain": text }, { id, update: written > 0 });
    } else if (mode === "log") {
      stream.write(`${text}\n`);
    }
    written++;
    wroteAt = now();
  };
  const update = (state: ProgressUpdate): void => {
    if (ended || mode === "none") return;
    last = { at: now(), state };
    if (last.at - start >= (options.delayMs ?? 2000) && last.at - wroteAt >= EVERY[mode]!)
      write(state, false);
  };
  return {
    update,
    onProgress: update,
    end: () => {
      if (!ended && last && written > 0) write(last.state, true);
      ended = true;
    },
  };
}

function usualMode(isTerminal: boolean): "line" | "log" | "notebook" {
  if (inNotebook()) return "notebook";
  return isTerminal && !process.env.CI ? "line" : "log";
}

/** One line: `capturing 1,200/4,000 tokens (30 %), 410 tokens/s, 6.8 s left`. */
export function progressLine(update: ProgressUpdate, elapsedMs: number, final = false): string {
  const { what = "", done, total, unit } = update;
  const of = total > 0 ? `/${count(total)}` : "";
  const percent = total > 0 && !final ? ` (${Math.floor((100 * done) / total)} %)` : "";
  const rate = elapsedMs > 0 ? (done / elapsedMs) * 1000 : 0;
  const parts = [`${what} ${count(done)}${of}${unit ? ` ${unit}` : ""}${percent}`.trim()];
  if (rate > 0) parts.push(`${count(rate)} ${unit ? `${unit}/s` : "a second"}`);
  if (final) parts.push(`took ${duration(elapsedMs)}`);
  else if (rate > 0 && total > done) parts.push(`${duration(((total - done) / rate) * 1000)} left`);
  return parts.join(", ");
}

function count(value: number): string {
  return value >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString("en-US")
    : String(Number(value.toPrecision(2)));
}

/** `340 ms`, `6.8 s`, `4 min 10 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.round(seconds) / 60;
  if (minutes < 60) return `${Math.floor(minutes)} min ${Math.round(seconds) % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}
