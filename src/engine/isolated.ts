/**
 * The engine in a child process of its own: the default. An abort inside llama.cpp is an error here; the next call starts
 * a new child. The child is detached, because Jupyter interrupts the whole process group of a kernel.
 */
import { AsyncResource } from "node:async_hooks";
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { childEnvironment, childFile } from "./child-process.js";
import { aborted } from "./core.js";
import type { Engine, EngineInfo } from "./engine.js";
import type { EngineOptions } from "./inline.js";
import { type Answers, type Call, type FromChild, type ToChild, withoutFunctions } from "./messages.js";
import type { EvaluateOptions, GenerateOptions, Progress, RunOptions } from "./request.js";
import { ANSWER_FD, ASK_FD, answerRowCalls } from "./row-calls.js";
import { makeExchangeFolder, unpack } from "./transport.js";

const LOG_BYTES = 16_384;
/** A child that has not heard a cancel after this time hangs and is ended, ms. */
const CANCEL_MS = 60_000;
/** What an engine says that has run out of memory: it is not trusted with another call. */
const OUT_OF_MEMORY = /out of memory|allocation failed|failed to allocate|bad_alloc|cannot allocate|ENOMEM/i;

interface Pending {
  readonly resolve: (value: Answers[keyof Answers]) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly functions: readonly ((rows: Float32Array, positions: Int32Array) => void)[];
}

interface Child {
  readonly process: ChildProcess;
  readonly folder: string;
  readonly pending: Map<number, Pending>;
  /** Cancelled calls it has not answered yet. */
  readonly cancelled: Map<number, NodeJS.Timeout>;
  /** The end of what llama.cpp wrote to stderr. */
  log: string;
}

/** Opens a model in a process of its own. */
export async function openIsolated(options: EngineOptions): Promise<Engine> {
  let child: Child | undefined;
  let opening: Promise<EngineInfo> | undefined;
  let nextId = 0;
  let closed = false;

  /** Starts a child that has the model open, unless there is one. */
  async function ensure(): Promise<Child> {
    if (closed) throw new Error("engine: closed; open the model again");
    if (child !== undefined) {
      await opening;
      return child;
    }
    const started = startChild((gone) => {
      if (child === gone) child = undefined;
    });
    child = started;
    opening = ask(started, { type: "open", options, folder: started.folder });
    try {
      await opening;
    } catch (error) {
      retire(started);
      throw error;
    }
    return started;
  }

  /** No further calls for this child: the next one starts another. */
  function retire(old: Child): void {
    if (child === old) child = undefined;
    old.process.kill("SIGKILL");
  }

  async function ask<T extends Call["type"]>(
    to: Child,
    call: Call & { type: T },
    run: RunOptions = {},
    functions: Pending["functions"] = [],
  ): Promise<Answers[T]> {
    try {
      return await send(to, call, run, functions);
    } catch (error) {
      // It was made where the child's message came in; what the caller needs is the line that asked.
      if (!(error instanceof DOMException)) Error.captureStackTrace(error as Error, ask);
      throw error;
    }
  }

  function send<T extends Call["type"]>(
    to: Child,
    call: Call,
    { signal, onProgress }: RunOptions,
    functions: Pending["functions"],
  ): Promise<Answers[T]> {
    if (signal?.aborted === true) return Promise.reject(aborted(signal));
    const id = nextId++;
    return new Promise<Answers[keyof Answers]>((resolve, reject) => {
      const cancel = () => {
        // The file is for a child that is inside a decode, the message for one that is between two.
        if (existsSync(to.folder)) writeFileSync(join(to.folder, `cancel-${id}`), "");
        tell(to, { id, cancel: true });
        const late = setTimeout(() => retire(to), CANCEL_MS);
        late.unref();
        to.cancelled.set(id, late);
        to.pending.get(id)?.reject(aborted(signal));
      };
      const settle = () => {
        signal?.removeEventListener("abort", cancel);
        to.pending.delete(id);
        holdOpen(to, to.pending.size > 0);
      };
      signal?.addEventListener("abort", cancel, { once: true });
      to.pending.set(id, {
        resolve: (value) => {
          settle();
          resolve(value);
        },
        reject: (error) => {
          settle();
          if (OUT_OF_MEMORY.test(error.message)) retire(to);
          reject(error);
        },
        // What it prints belongs to the cell that asked, not to the one that opened the child.
        onProgress: onProgress && AsyncResource.bind(onProgress),
        functions,
      });
      holdOpen(to, true);
      tell(to, { id, call });
    }) as Promise<Answers[T]>;
  }

  let info: EngineInfo;
  try {
    await ensure();
    info = await opening!;
  } catch (error) {
    closed = true;
    throw error;
  }

  return {
    info,
    async evaluate(requests, run = {}) {
      const functions: Pending["functions"][number][] = [];
      const call = {
        type: "evaluate",
        requests: withoutFunctions(requests, functions),
        options: plain(run),
      } as const;
      const to = await ensure();
      const parcel = await ask(to, call, run, functions);
      const evaluation = unpack(parcel, run.allocate);
      if (parcel.file !== undefined) tell(to, { read: parcel.file });
      return evaluation;
    },
    async generate(requests, run = {}) {
      const functions: Pending["functions"][number][] = [];
      const call = {
        type: "generate",
        requests: withoutFunctions(requests, functions),
        options: plain(run),
      } as const;
      return await ask(await ensure(), call, run, functions);
    },
    async tokenize(texts, special) {
      return await ask(await ensure(), { type: "tokenize", texts, special });
    },
    async pieces(tokens) {
      return await ask(await ensure(), { type: "pieces", tokens: Int32Array.from(tokens) });
    },
    async pieceBytes(tokens) {
      return await ask(await ensure(), { type: "pieceBytes", tokens: Int32Array.from(tokens) });
    },
    async detokenize(tokens, special = false) {
      return await ask(await ensure(), { type: "detokenize", tokens: Int32Array.from(tokens), special });
    },
    async close() {
      closed = true;
      if (child === undefined) return;
      const last = child;
      child = undefined;
      await ask(last, { type: "close" }).catch(() => undefined);
      last.process.disconnect();
    },
  };
}

/** What of the options can cross over. */
function plain<O extends EvaluateOptions & GenerateOptions>(options: O): O {
  const { signal: _signal, onProgress: _onProgress, allocate: _allocate, ...rest } = options;
  return rest as O;
}

function startChild(onGone: (child: Child) => void): Child {
  const folder = makeExchangeFolder();
  const childProcess = fork(childFile("child.js"), [], {
    detached: true,
    serialization: "advanced",
    execArgv: [],
    env: childEnvironment(),
    stdio: ["ignore", "ignore", "pipe", "ipc", "pipe", "pipe"],
  });
  const child: Child = { process: childProcess, folder, pending: new Map(), cancelled: new Map(), log: "" };
  childProcess.stderr?.setEncoding("utf8");
  childProcess.stderr?.on("data", (text: string) => {
    child.log = (child.log + text).slice(-LOG_BYTES);
  });
  const streams = childProcess.stdio as unknown as Record<number, Duplex>;
  answerRowCalls(
    streams[ASK_FD]!,
    streams[ANSWER_FD]!,
    (call, number) => child.pending.get(call)?.functions[number],
  );
  childProcess.on("message", (message: FromChild) => receive(child, message));
  childProcess.on("error", (error) => end(child, onGone, error.message));
  childProcess.on("exit", (code, signal) => end(child, onGone, signal ?? `exit code ${code}`));
  holdOpen(child, false);
  return child;
}

function receive(child: Child, message: FromChild): void {
  const pending = child.pending.get(message.id);
  if (!("progress" in message)) {
    clearTimeout(child.cancelled.get(message.id));
    child.cancelled.delete(message.id);
  }
  if (pending === undefined) discard(child, message);
  else if ("progress" in message) pending.onProgress?.(message.progress);
  else if ("error" in message) pending.reject(toError(message.error, child.log));
  else pending.resolve(message.value);
}

/** An answer nobody waits for any more, because the call was cancelled: its file is free again. */
function discard(child: Child, message: FromChild): void {
  if (!("value" in message)) return;
  const { value } = message;
  if (typeof value === "object" && "file" in value && value.file !== undefined)
    tell(child, { read: value.file });
}

function end(child: Child, onGone: (child: Child) => void, how: string): void {
  rmSync(child.folder, { recursive: true, force: true });
  for (const late of child.cancelled.values()) clearTimeout(late);
  onGone(child);
  const said = lastWords(child.log);
  const error = new Error(
    `engine: the engine's process ended (${how})${said === "" ? "" : `; llama.cpp said: ${said}`}; ` +
      "nothing in this process is lost, and the next call starts it again",
  );
  for (const pending of [...child.pending.values()]) pending.reject(error);
}

function toError({ name, message }: { name: string; message: string }, log: string): Error {
  if (name === "AbortError") return new DOMException(message, name);
  const said = message.includes("llama.cpp could not") ? lastWords(log) : "";
  return new Error(said === "" ? message : `${message} (${said})`);
}

/** The line that says why, out of all that llama.cpp writes. */
function lastWords(log: string): string {
  const lines = log
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const telling = lines.filter((line) => /GGML_ASSERT|error|failed|unable|out of memory/i.test(line));
  return telling.at(-1)?.slice(0, 300) ?? "";
}

function tell(child: Child, message: ToChild): void {
  if (!child.process.connected) return;
  child.process.send(message);
}

/** A child that is idle must not keep a finished program from ending; one that works must keep it alive. */
function holdOpen(child: Child, hold: boolean): void {
  const streams = [child.process.stderr, ...child.process.stdio.slice(ASK_FD)];
  for (const one of [child.process, child.process.channel, ...streams]) {
    const handle = one as { ref?: () => void; unref?: () => void } | null | undefined;
    if (hold) handle?.ref?.();
    else handle?.unref?.();
  }
}
