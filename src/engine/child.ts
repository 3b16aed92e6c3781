/** The engine's own process: takes calls over the IPC channel and answers them with the inline engine. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import koffi from "koffi";
import { Arena } from "./arena.js";
import { type InlineEngine, openInline } from "./inline.js";
import { AbortCallback } from "./layouts.js";
import { type Answers, type Call, type FromChild, type ToChild, withFunctions } from "./messages.js";
import type { Progress } from "./request.js";
import { remoteFunction } from "./row-calls.js";
import { Outbox } from "./transport.js";

const ASK_EVERY_MS = 50;
const PROGRESS_EVERY_MS = 50;

let engine: InlineEngine | undefined;
let folder = "";
let running = -1;
let asked = 0;
let outbox: Outbox | undefined;
/** For the answers, one at a time: the next call may begin before the last answer is packed. */
let spare: Arena | undefined = new Arena();
const controllers = new Map<number, AbortController>();

try {
  // When memory runs out Linux ends the process with the highest score: this one, which can be started again, and not the notebook.
  writeFileSync("/proc/self/oom_score_adj", "600");
} catch {
  // not Linux, or not allowed
}

const send = (message: FromChild) => process.send?.(message);

/** While llama.cpp computes no message can come in, so the other side also leaves a file. */
function cancelled(): boolean {
  const now = performance.now();
  if (now - asked < ASK_EVERY_MS) return false;
  asked = now;
  return existsSync(join(folder, `cancel-${running}`));
}

async function answer(id: number, call: Call): Promise<Answers[keyof Answers]> {
  if (call.type === "open") {
    folder = call.folder;
    outbox = new Outbox(folder);
    const onAbort = koffi.register(cancelled, koffi.pointer(AbortCallback));
    engine = openInline(call.options, onAbort, true);
    return engine.info;
  }
  if (engine === undefined || outbox === undefined) throw new Error("engine: not open");
  const controller = new AbortController();
  controllers.set(id, controller);
  try {
    switch (call.type) {
      case "evaluate": {
        const requests = withFunctions(call.requests, (number) => remoteFunction(id, number));
        const arena = spare ?? new Arena();
        spare = undefined;
        try {
          const { allocate } = arena;
          return outbox.pack(
            await engine.evaluate(requests, { ...call.options, allocate, ...control(id, controller) }),
          );
        } finally {
          arena.reset();
          spare = arena;
        }
      }
      case "generate": {
        const requests = withFunctions(call.requests, (number) => remoteFunction(id, number));
        return await engine.generate(requests, { ...call.options, ...control(id, controller) });
      }
      case "tokenize":
        return await engine.tokenize(call.texts, call.special);
      case "pieces":
        return await engine.pieces(call.tokens);
      case "pieceBytes":
        return await engine.pieceBytes(call.tokens);
      case "detokenize":
        return await engine.detokenize(call.tokens, call.special);
      case "close":
        await engine.close();
        return undefined;
    }
  } finally {
    controllers.delete(id);
  }
}

function control(id: number, controller: AbortController) {
  let last = 0;
  return {
    signal: controller.signal,
    onProgress(progress: Progress) {
      running = id;
      const now = performance.now();
      if (now - last < PROGRESS_EVERY_MS) return;
      last = now;
      send({ id, progress });
    },
  };
}

process.on("message", (message: ToChild) => {
  if ("read" in message) {
    outbox?.takeBack(message.read);
    return;
  }
  if ("cancel" in message) {
    controllers.get(message.id)?.abort();
    return;
  }
  if (controllers.size === 0) running = message.id;
  answer(message.id, message.call).then(
    (value) => send({ id: message.id, value }),
    (error: unknown) => {
      const { name, message: text } =
        error instanceof Error ? error : { name: "Error", message: String(error) };
      send({ id: message.id, error: { name, message: text } });
    },
  );
});

// The notebook's process is gone, however it went: nothing may be left behind.
process.on("disconnect", () => {
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
