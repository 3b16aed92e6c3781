import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { canonicalLog, mergeRunLogs } from "../../src/store/merge-logs.js";
import { openRunLog, type RunLog, trialKey } from "../../src/store/run-log.js";
import { readRunLog } from "../../src/store/run-log-file.js";
import { mutate, seededInts } from "./mutations.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-log-"));
afterAll(() => rmSync(folder, { recursive: true }));
const build = join(import.meta.dirname, "..", "..", "dist", "src", "store", "run-log.js");

const keys = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => trialKey({ n: from + i }));

/** Squares; every trial also says with how many it was computed, as rounding would. */
async function squares(log: RunLog, from: number, to: number, repeatable = true) {
  const computed: number[] = [];
  const { trials, found } = await log.batch({
    keys: keys(from, to),
    repeatable,
    compute: async (indices) => {
      computed.push(...indices.map((i) => from + i));
      return indices.map((i) => ({ square: (from + i) ** 2, together: indices.length }));
    },
  });
  return { trials, computed, found };
}

async function inLog<T>(path: string, work: (log: RunLog) => Promise<T>): Promise<T> {
  const log = await openRunLog(path);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

describe("a run log", () => {
  it("computes a trial once, in this run and the next", async () => {
    const path = join(folder, "deep", "er", "once.jsonl");
    const first = await inLog(path, (log) => squares(log, 0, 10));
    expect(first.computed).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const second = await inLog(path, (log) => squares(log, 0, 15));
    expect(second.computed).toEqual([10, 11, 12, 13, 14]);
    expect(second.found).toBe(10);
    expect(second.trials.slice(0, 10)).toEqual(first.trials);
    const lines = await readRunLog(path);
    expect(lines.map(({ key }) => key)).toEqual(keys(0, 15));
    expect(lines[0]).toMatchObject({ of: 10, trial: { square: 0, together: 10 } });
    expect(Date.parse(lines[0]!.run.date)).toBeGreaterThan(0);
    expect(readdirSync(join(folder, "deep", "er"))).toEqual(["once.jsonl"]);
  });

  it("equal keys of one batch are one trial", async () => {
    await inLog(join(folder, "equal.jsonl"), async (log) => {
      const key = trialKey("a");
      const { trials } = await log.batch({
        keys: [key, key, key],
        compute: async (i) => i.map((n) => n + 7),
      });
      expect(trials).toEqual([7, 7, 7]);
      expect(log.size).toBe(1);
    });
  });

  it("whatever is cut off its end, the resumed log is that of the uninterrupted run, and no trial is twice", async () => {
    const whole = join(folder, "whole.jsonl");
    const run = async (path: string) =>
      inLog(path, async (log) => {
        for (const [from, to] of [
          [0, 7],
          [7, 9],
          [3, 20],
        ] as const)
          await squares(log, from, to);
        return log.repaired;
      });
    await run(whole);
    const bytes = readFileSync(whole);
    const expected = canonicalLog(await readRunLog(whole));
    const draw = seededInts(3);
    const path = join(folder, "cut.jsonl");
    let repaired = 0;
    for (let k = 0; k < 300; k++) {
      writeFileSync(path, bytes.subarray(0, draw(bytes.length + 1)));
      if ((await run(path)) > 0) repaired++;
      const lines = await readRunLog(path);
      expect(new Set(lines.map(({ key }) => key)).size).toBe(lines.length);
      expect(canonicalLog(lines)).toBe(expected);
    }
    expect(repaired).toBeGreaterThan(200);
  });

  it("what answers differently every time is not asked again for company", async () => {
    const path = join(folder, "served.jsonl");
    await inLog(path, (log) => squares(log, 0, 4, false));
    const text = readFileSync(path, "utf8").split("\n").slice(0, 2).join("\n");
    writeFileSync(path, `${text}\n`);
    const resumed = await inLog(path, (log) => squares(log, 0, 4, false));
    expect(resumed.computed).toEqual([2, 3]);
  });

  it("leftovers of a batch of another shape stay, and are not written again", async () => {
    const path = join(folder, "shape.jsonl");
    await inLog(path, (log) => squares(log, 0, 6));
    writeFileSync(path, `${readFileSync(path, "utf8").split("\n").slice(0, 3).join("\n")}\n`);
    const other = await inLog(path, (log) => squares(log, 2, 5));
    expect(other.trials[0]).toEqual({ square: 4, together: 6 });
    const lines = await readRunLog(path);
    expect(lines.map(({ trial }) => (trial as { square: number }).square)).toEqual([0, 1, 4, 9, 16]);
    expect((await inLog(path, (log) => squares(log, 2, 5))).computed).toEqual([]);
  });

  it("names a broken or changed line, and leaves the file alone", async () => {
    const path = join(folder, "changed.jsonl");
    await inLog(path, (log) => squares(log, 0, 5));
    const text = readFileSync(path, "utf8");
    const changed = text.replace('"square":9', '"square":8');
    writeFileSync(path, changed);
    await expect(openRunLog(path)).rejects.toThrow(
      /line 4 of .*changed after it was written.*computed again/,
    );
    writeFileSync(path, `{"a":1}\n${text}`);
    await expect(openRunLog(path)).rejects.toThrow(/line 1 of .* is no line of a run log/);
    expect(readFileSync(path, "utf8")).toBe(`{"a":1}\n${text}`);
    // And the lock is free again.
    writeFileSync(path, text);
    expect(await inLog(path, async (log) => log.size)).toBe(5);
  });

  it("survives 1,000 damaged logs: the trials that were written, or one line", async () => {
    const path = join(folder, "mutant.jsonl");
    await inLog(path, (log) => squares(log, 0, 12));
    const good = readFileSync(path);
    const written = new Map((await readRunLog(path)).map(({ key, trial }) => [key, JSON.stringify(trial)]));
    const draw = seededInts(7);
    let opened = 0;
    for (let k = 0; k < 1000; k++) {
      writeFileSync(path, mutate(good, draw, good.length));
      try {
        await inLog(path, async () => undefined);
        opened++;
        for (const { key, trial } of await readRunLog(path))
          expect(written.get(key)).toBe(JSON.stringify(trial));
      } catch (error) {
        expect((error as Error).message).toMatch(/^run log: [^\n]*$/);
      }
    }
    expect(opened).toBeGreaterThan(20);
    expect(opened).toBeLessThan(600);
    rmSync(path);
  });

  it("keeps a second process out with its word, and lets it in when the first is killed", async () => {
    const path = join(folder, "two.jsonl");
    const code = `import { openRunLog } from ${JSON.stringify(build)};
      await openRunLog(${JSON.stringify(path)});
      console.log("open");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => child.stdout!.once("data", resolve));
    await expect(openRunLog(path)).rejects.toThrow(
      new RegExp(
        `two.jsonl is being written by process ${child.pid} on .*; wait for it, end it, or give another file`,
      ),
    );
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(await inLog(path, async (log) => log.size)).toBe(0);
  });

  it("is one log in one process, and free when its last user closes it", async () => {
    const path = join(folder, "shared.jsonl");
    const [a, b] = await Promise.all([openRunLog(path), openRunLog(path)]);
    const both = await Promise.all([squares(a!, 0, 50), squares(b!, 0, 50)]);
    expect(both[0]!.trials).toEqual(both[1]!.trials);
    await a!.close();
    expect((await squares(b!, 0, 50)).computed).toEqual([]);
    await b!.close();
    expect((await readRunLog(path)).length).toBe(50);
    expect(await inLog(path, async (log) => log.size)).toBe(50);
  });

  it("a folder that cannot be written is said in a line", async () => {
    writeFileSync(join(folder, "file"), "");
    await expect(openRunLog(join(folder, "file", "x.jsonl"))).rejects.toThrow(
      /x.jsonl cannot be opened \((ENOTDIR|EEXIST)\); give a file in a folder that can be written/,
    );
  });

  // The shell's limit on the size of files makes the system itself cut a write short and refuse the rest.
  it.skipIf(process.platform === "win32")(
    "a full disk: a clear error, and a log that is still whole",
    async () => {
      const path = join(folder, "full.jsonl");
      const code = `import { openRunLog, trialKey } from ${JSON.stringify(build)};
      const log = await openRunLog(${JSON.stringify(path)});
      let done = 0;
      try {
        for (;; done += 10) {
          const keys = Array.from({ length: 10 }, (_, i) => trialKey(done + i));
          await log.batch({ keys, compute: async (at) => at.map((i) => ({ n: done + i, text: "x".repeat(97) })) });
        }
      } catch (error) {
        console.log(JSON.stringify([done, log.size, error.message]));
      }
      await log.close();`;
      const command = `ulimit -f 64; exec ${process.execPath} --input-type=module -e '${code}'`;
      const out = execFileSync("bash", ["-c", command], { encoding: "utf8" });
      const [done, size, message] = JSON.parse(out) as [number, number, string];
      expect(message).toMatch(
        /full.jsonl cannot be written \(EFBIG\); the disk, .*is full; everything logged before is safe/,
      );
      expect(size).toBe(done);
      expect(done).toBeGreaterThan(100);
      const lines = await readRunLog(path);
      expect(lines.map(({ trial }) => (trial as { n: number }).n)).toEqual(
        Array.from({ length: done }, (_, i) => i),
      );
      expect(readFileSync(path, "utf8").endsWith("}\n")).toBe(true);
      // With room again it goes on.
      const more = await inLog(path, (log) =>
        log.batch({
          keys: [trialKey(0), trialKey(done)],
          compute: async (at) => at.map(() => ({ n: done })),
        }),
      );
      expect(more.found).toBe(1);
    },
  );
});

describe("mergeRunLogs", () => {
  it("puts logs together, once each; refuses logs that disagree and files that are there", async () => {
    const at = (name: string) => join(folder, `merge-${name}.jsonl`);
    await inLog(at("a"), (log) => squares(log, 0, 5));
    await inLog(at("b"), (log) => squares(log, 5, 10));
    await inLog(at("both"), async (log) => {
      await squares(log, 5, 10);
      await squares(log, 0, 5);
    });
    const merged = await mergeRunLogs(at("out"), [at("a"), at("b"), at("a")]);
    expect(merged).toMatchObject({ trials: 10, repeated: 5 });
    expect(canonicalLog(await readRunLog(at("out")))).toBe(canonicalLog(await readRunLog(at("both"))));
    await expect(mergeRunLogs(at("out"), [at("a")])).rejects.toThrow(/is there already/);
    await inLog(at("other"), (log) => squares(log, 0, 6));
    await expect(mergeRunLogs(at("new"), [at("a"), at("other")])).rejects.toThrow(
      /not the same in .*machines/,
    );
    appendFileSync(at("a"), '{"key":"torn');
    expect((await mergeRunLogs(at("torn"), [at("a")])).trials).toBe(5);
  });
});
