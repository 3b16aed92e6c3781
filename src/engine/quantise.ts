/** Runs llama.cpp's quantiser in a process of its own. */
import { type ChildProcess, fork } from "node:child_process";
import { childEnvironment, childFile } from "./child-process.js";
import { aborted } from "./core.js";
import type { QuantiseJob } from "./quantise-child.js";
import type { RunOptions } from "./request.js";

const LOG_CHARACTERS = 16_384;

/**
 * Writes `job.target`. Rejects with llama.cpp's own reason where it fails, and with the signal's where that aborts: the
 * process is ended then. What is left of the target is the caller's to remove.
 */
export function runQuantiser(
  job: QuantiseJob,
  { signal, onProgress }: Pick<RunOptions, "signal" | "onProgress"> = {},
): Promise<void> {
  if (signal?.aborted === true) return Promise.reject(aborted(signal));
  const child = fork(childFile("quantise-child.js"), [], {
    detached: true,
    serialization: "advanced",
    execArgv: [],
    env: childEnvironment(),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let log = "";
  return new Promise((resolve, reject) => {
    const cancel = () => child.kill("SIGKILL");
    signal?.addEventListener("abort", cancel, { once: true });
    let answer: { code?: number; error?: string } | undefined;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-LOG_CHARACTERS);
      const last = [...text.matchAll(/\[\s*(\d+)\/\s*(\d+)\]/g)].at(-1);
      if (last !== undefined)
        onProgress?.({ what: "quantising", done: Number(last[1]), total: Number(last[2]), unit: "tensors" });
    });
    child.on("message", (message: { code?: number; error?: string }) => {
      answer = message;
    });
    child.on("error", (error) =>
      finish(new Error(`quantise: its process could not start: ${error.message}`)),
    );
    // Not `exit`: the reason may still be in the pipe.
    child.on("close", (code, by) => {
      if (signal?.aborted === true) finish(aborted(signal));
      else if (answer?.error !== undefined) finish(new Error(`quantise: ${answer.error}`));
      else if (answer?.code === 0) finish();
      else finish(new Error(`quantise: llama.cpp could not: ${reason(log) ?? by ?? `exit code ${code}`}`));
    });
    child.send(job, (error) => {
      if (error !== null) finish(new Error(`quantise: its process did not take the job: ${error.message}`));
    });

    function finish(error?: Error): void {
      signal?.removeEventListener("abort", cancel);
      end(child);
      if (error === undefined) resolve();
      else reject(error);
    }
  });
}

function end(child: ChildProcess): void {
  if (child.connected) child.disconnect();
}

/** The line that says why, out of all that llama.cpp writes. */
function reason(log: string): string | undefined {
  const lines = log.split("\n").map((line) => line.trim());
  const telling = lines.filter((line) => /failed to quantize|GGML_ASSERT|error/i.test(line)).at(-1);
  return telling?.replace(/^\S+: failed to quantize: /, "").slice(0, 300);
}
