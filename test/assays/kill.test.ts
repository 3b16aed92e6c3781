import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../src/stats/random.js";
import { canonicalLog } from "../../src/store/merge-logs.js";
import { readRunLog } from "../../src/store/run-log-file.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-kill-"));
afterAll(() => rmSync(folder, { recursive: true }));
const command = join(import.meta.dirname, "..", "..", "dist", "src", "assays", "assay-command.js");
const KILLS = 50;

interface End {
  readonly signal: NodeJS.Signals | null;
  readonly ms: number;
  /** Time until the log had its first line, where it was watched. */
  readonly firstLine: number;
}

/** The real command in a process of its own, killed after `killAfter` ms unless it has ended by then. */
async function run(args: readonly string[], log: string, out: string, killAfter?: number): Promise<End> {
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [command, ...args, "--model", "tally-25k", "--in-process", "--threads", "1", "--log", log, "--out", out],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (text) => {
    said += text;
  });
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once("exit", (...how) => resolve(how)),
  );
  let firstLine = Number.NaN;
  if (killAfter === undefined) {
    while (child.exitCode === null && !(existsSync(log) && statSync(log).size > 0)) await sleep(5);
    firstLine = performance.now() - started;
  }
  const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfter);
  const [code, signal] = await ended;
  clearTimeout(timer);
  expect(code === 0 || signal === "SIGKILL", said).toBe(true);
  return { signal, ms: performance.now() - started, firstLine };
}

describe.concurrent("kill -9 at random moments, resumed each time", () => {
  it.each([
    ["horizon", ["horizon", "--up-to", "24", "--whole-grid"]],
    ["ladder", ["capacity", "--seeds", "1-4"]],
  ])(
    "%s: the log is that of the uninterrupted run, trial by trial",
    async (name, args) => {
      const at = (file: string) => join(folder, `${name}-${file}`);
      const whole = await run(args, at("whole.jsonl"), at("whole.json"));
      const lines = await readRunLog(at("whole.jsonl"));
      const expected = canonicalLog(lines);
      expect(lines.length).toBeGreaterThan(100);
      const result = withoutTimes(readFileSync(at("whole.json"), "utf8"));

      const draw = random(1, "kill", name);
      let kills = 0;
      let rounds = 0;
      let partial = 0;
      while (kills < KILLS) {
        const log = at(`${rounds}.jsonl`);
        for (;;) {
          const after = draw.uniform(0.8 * whole.firstLine, whole.ms);
          const { signal } = await run(args, log, at("resumed.json"), kills < KILLS ? after : undefined);
          if (signal === null) break;
          kills++;
          // What is there is right, and nothing is twice.
          const so = existsSync(log) ? await readRunLog(log) : [];
          expect(new Set(so.map(({ key }) => key)).size).toBe(so.length);
          if (so.length > 0 && so.length < lines.length) partial++;
        }
        const resumed = await readRunLog(log);
        expect(resumed.length).toBe(lines.length);
        expect(canonicalLog(resumed)).toBe(expected);
        expect(withoutTimes(readFileSync(at("resumed.json"), "utf8"))).toBe(result);
        rounds++;
      }
      console.log(`${name}: ${kills} kills, ${partial} of them with a log in part, over ${rounds} runs`);
      expect(partial).toBeGreaterThan(5);
    },
    600_000,
  );
});

function withoutTimes(json: string): string {
  const volatile = new Set(["provenance", "counts", "cost", "ms", "date"]);
  return JSON.stringify(JSON.parse(json), (key, value) => (volatile.has(key) ? undefined : value));
}
