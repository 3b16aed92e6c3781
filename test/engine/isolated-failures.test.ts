import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chooseBackend } from "../../src/engine/backend.js";
import type { Engine } from "../../src/engine/engine.js";
import { residPost } from "../../src/engine/hooks.js";
import { openIsolated } from "../../src/engine/isolated.js";
import type { Request } from "../../src/engine/request.js";
import { fixturePath } from "./models.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-failures-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Engines of this process, by their process ids. */
function engines(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
        return (
          Number(stat[1]) === process.pid &&
          stat[0] !== "Z" &&
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("child.js")
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

const small: Request = { tokens: [3, 9, 27, 41], logits: { positions: [-1], full: true } };
const long = (count: number): Request[] =>
  Array.from({ length: count }, (_, i) => ({
    tokens: Array.from({ length: 100 }, (_, k) => 3 + ((i * 7 + k * k) % 90)),
  }));

describe.skipIf(!existsSync("/proc/self/stat"))("an engine under fire", () => {
  let engine: Engine;
  let expected: Float32Array;
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);

  const opened = async () =>
    openIsolated({ path: fixturePath("llama"), backend: await chooseBackend(false), threads: 1 });
  const answers = async () => {
    const { results } = await engine.evaluate([small]);
    expect(results[0]!.logits!.full).toEqual(expected);
  };

  beforeAll(async () => {
    process.on("uncaughtException", note);
    engine = await opened();
    expected = (await engine.evaluate([small])).results[0]!.logits!.full!;
  });
  afterEach(() => expect(unhandled).toEqual([]));
  afterAll(async () => {
    process.off("uncaughtException", note);
    await engine?.close();
  });

  it("ggml's own abort inside a decode is an error with its words, and the next call goes on", async () => {
    const trigger = join(folder, "abort-now");
    const before = process.env.NODE_OPTIONS;
    process.env.NODE_OPTIONS = `--import=${pathToFileURL(join(import.meta.dirname, "abort-in-decode.mjs")).href}`;
    process.env.COUNTLENS_TEST_ABORT = trigger;
    const fragile = await opened();
    try {
      for (let round = 0; round < 3; round++) {
        writeFileSync(trigger, "");
        await expect(fragile.evaluate([small])).rejects.toThrow(
          /^engine: the engine's process ended \(SIGABRT\); llama.cpp said: .*forced by a test.*; nothing in this process is lost, and the next call starts it again$/,
        );
        rmSync(trigger);
        expect((await fragile.evaluate([small])).results[0]!.logits!.full).toEqual(expected);
      }
      // An abort while it is being opened again: that call fails, the one after it does not.
      writeFileSync(trigger, "");
      await expect(fragile.evaluate([small])).rejects.toThrow(/SIGABRT/);
      await expect(fragile.evaluate([small])).rejects.toThrow(/SIGABRT/);
      rmSync(trigger);
      expect((await fragile.evaluate([small])).results[0]!.logits!.full).toEqual(expected);
    } finally {
      if (before === undefined) delete process.env.NODE_OPTIONS;
      else process.env.NODE_OPTIONS = before;
      delete process.env.COUNTLENS_TEST_ABORT;
      await fragile.close();
    }
  }, 120_000);

  it("kill -9 at random moments, 12 times: an error each, and the same answers after", async () => {
    let errors = 0;
    for (let round = 0; round < 12; round++) {
      await expect.poll(() => engines().length, { timeout: 10_000 }).toBe(1);
      const [pid] = engines();
      setTimeout(() => process.kill(pid!, "SIGKILL"), round * 7);
      const several = await Promise.allSettled([
        engine.evaluate(long(3000)),
        engine.generate([{ tokens: [3, 4, 5] }], { maxTokens: 5 }),
        engine.pieces([5]),
      ]);
      for (const one of several)
        if (one.status === "rejected") {
          errors++;
          expect((one.reason as Error).message).toMatch(
            /^engine: the engine's process ended \(SIGKILL\); nothing in this process is lost/,
          );
        }
      await answers();
    }
    expect(errors).toBeGreaterThanOrEqual(12);
  }, 120_000);

  it("killed in the middle of a custom edit", async () => {
    const [pid] = engines();
    const edits = [
      {
        hook: residPost(0),
        positions: [1],
        op: {
          type: "custom" as const,
          apply: () => {
            process.kill(pid!, "SIGKILL");
            // Long enough for the pipe to be broken when the answer is written.
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
          },
        },
      },
    ];
    await expect(engine.evaluate([{ ...small, edits }])).rejects.toThrow(/SIGKILL/);
    await answers();
  });

  it.skipIf(!hasPrlimit())(
    "out of memory: an error, and the next call has an engine with room",
    async () => {
      for (const room of [1e6, 8e6, 40e6]) {
        // An engine of its own: one that was not hungry enough would keep its limit for the tests after this one.
        const others = engines();
        // glibc sets 64 MB of address space aside for every thread that allocates, and falls back on it.
        process.env.MALLOC_ARENA_MAX = "1";
        const poor = await opened();
        delete process.env.MALLOC_ARENA_MAX;
        try {
          const pid = engines().find((engine) => !others.includes(engine))!;
          const size = 1024 * Number(/VmSize:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
          execFileSync("prlimit", ["--pid", String(pid), `--as=${size + room}`]);
          // 4 x 2400 x 100 x vocabulary bytes, about 400 MB of logits: far more than the room, and than what Node may have
          // set aside beforehand.
          const hungry = long(2400).map((request) => ({
            ...request,
            logits: { positions: "all" as const, full: true },
          }));
          await expect(poor.evaluate(hungry)).rejects.toThrow(/^[^\n]{20,700}$/);
          expect((await poor.evaluate([small])).results[0]!.logits!.full).toEqual(expected);
        } finally {
          await poor.close();
        }
      }
    },
    120_000,
  );

  it("the system ends the engine before the notebook when memory runs out", async () => {
    const [pid] = engines();
    const score = (of: number | string) => Number(readFileSync(`/proc/${of}/oom_score_adj`, "utf8"));
    expect(score(pid!)).toBeGreaterThan(score("self"));
  });

  it("a model that cannot be opened again is an error each time, until it can", async () => {
    const copy = join(folder, "moving.gguf");
    writeFileSync(copy, readFileSync(fixturePath("llama")));
    const moving = await openIsolated({ path: copy, backend: await chooseBackend(false), threads: 1 });
    const pids = engines();
    rmSync(copy);
    process.kill(pids.at(-1)!, "SIGKILL");
    await expect(moving.evaluate(long(2000))).rejects.toThrow();
    await expect(moving.evaluate([small])).rejects.toThrow(/no file .*moving.gguf/);
    await expect(moving.evaluate([small])).rejects.toThrow(/no file .*moving.gguf/);
    writeFileSync(copy, readFileSync(fixturePath("llama")));
    expect((await moving.evaluate([small])).results[0]!.logits!.full).toEqual(expected);
    await moving.close();
    await expect.poll(() => engines().length, { timeout: 10_000 }).toBe(1);
  });

  it("cancelling is prompt, and leaves an engine that answers", async () => {
    const stop = new AbortController();
    const running = engine.evaluate(long(5000), { signal: stop.signal });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const started = performance.now();
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    expect(performance.now() - started).toBeLessThan(100);
    await answers();
  });
});

function hasPrlimit(): boolean {
  try {
    execFileSync("prlimit", ["--version"]);
    return true;
  } catch {
    return false;
  }
}
