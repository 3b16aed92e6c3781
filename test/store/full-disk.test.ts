import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

/** A disk of its own that really fills up: a small file system in a mount namespace, which the system takes away with the process. */
const folder = mkdtempSync(join(tmpdir(), "countlens-full-disk-"));
afterAll(() => rmSync(folder, { recursive: true }));
const build = join(import.meta.dirname, "..", "..", "dist", "src", "index.js");
const mount = "mount -t tmpfs -o size=1500k tmpfs";
const mayMount =
  process.platform === "linux" &&
  spawnSync("unshare", ["-rm", "bash", "-c", `${mount} ${folder}`], { stdio: "ignore" }).status === 0;

/** Runs a program with a file system of 1.5 MB at `folder`; what it prints last is JSON. */
function onSmallDisk<T>(code: string): T {
  const program = join(mkdtempSync(join(tmpdir(), "countlens-program-")), "program.mjs"); // outside the small disk
  // Fills what is left, and gives the room back.
  const helpers = `import { rmSync, writeFileSync } from "node:fs";
    let n = 0;
    const fill = () => { for (let size = 2 ** 20; size >= 1; ) try { writeFileSync("${folder}/filler-" + n++, Buffer.alloc(size)); } catch { size = Math.floor(size / 2); } };
    const free = () => { while (n > 0) rmSync("${folder}/filler-" + --n, { force: true }); };`;
  writeFileSync(program, `${helpers}\n${code}`);
  const command = `${mount} ${folder} && exec ${process.execPath} ${program}`;
  const out = execFileSync("unshare", ["-rm", "bash", "-c", command], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(out.trim().split("\n").at(-1)!) as T;
}

describe.skipIf(!mayMount)("a disk that is full (skipped where a file system cannot be mounted)", () => {
  it("a log: a clear error, everything before is there, and with room the run goes on to the same end", () => {
    const found = onSmallDisk<{ error: string; later: string; kept: number; whole: boolean; same: boolean }>(`
      import { readFileSync } from "node:fs";
      import { assays, open, openRunLog, tasks } from ${JSON.stringify(build)};
      const model = await open("tally-25k", { isolated: false, threads: 1 });
      const log = ${JSON.stringify(join(folder, "runs.jsonl"))};
      const run = (more) => assays.zeroErrorHorizon(model, tasks.multiplication(), { upTo: 12, wholeGrid: true, ...more });
      await run({ log, upTo: 5 });
      // One run opens its log before the disk is full, one afterwards.
      const opened = await openRunLog(log);
      fill();
      const said = (thrown) => thrown.message;
      const error = await run({ log: opened }).catch(said);
      await opened.close();
      fill();
      const later = await run({ log }).catch(said);
      const lines = readFileSync(log, "utf8").split("\\n");
      const kept = lines.length - 1;
      const whole = lines.at(-1) === "" && lines.slice(0, -1).every((line) => JSON.parse(line));
      free();
      const trials = ({ trials, horizon }) => JSON.stringify([horizon, trials?.length]);
      const resumed = await run({ log });
      const plain = await run({});
      await model.close();
      console.log(JSON.stringify({ error, later, kept, whole, same: trials(resumed) === trials(plain) && resumed.accuracy === plain.accuracy }));`);
    expect(found.error).toMatch(
      /runs.jsonl cannot be written \(ENOSPC\); the disk, .*is full; everything logged before is safe/,
    );
    expect(found.later).toMatch(
      /runs.jsonl cannot be opened \(ENOSPC\); the disk, .*is full: make room and run again/,
    );
    expect(found).toMatchObject({ whole: true, same: true });
    expect(found.kept).toBeGreaterThanOrEqual(25);
  }, 120_000);

  it("a capture: refused before it begins where it does not fit, and taken up again where the disk filled meanwhile", () => {
    const found = onSmallDisk<{
      refused: string;
      error: string;
      shards: number;
      complete: boolean;
      same: boolean;
    }>(`
      import { captureActivations, open, residPost } from ${JSON.stringify(build)};
      const model = await open("tally-25k", { isolated: false, threads: 1 });
      const requests = (count) => Array.from({ length: count }, (_, i) => ({ tokens: Array.from({ length: 20 }, (_, k) => 3 + ((i * 7 + k * 5) % 60)) }));
      const options = { hooks: [residPost(0), residPost(1)], store: ${JSON.stringify(join(folder, "store"))}, shardBytes: 40000 };
      const said = (thrown) => thrown.message;
      await captureActivations(model, requests(1), options);
      const refused = await captureActivations(model, requests(400), options).catch(said);
      let calls = 0;
      const error = await captureActivations(model, requests(100), { ...options, onProgress: () => { if (++calls === 2) fill(); } }).catch(said);
      free();
      const set = await captureActivations(model, requests(100), options);
      await set.verify();
      const elsewhere = await captureActivations(model, requests(100), { ...options, store: ${JSON.stringify(mkdtempSync(join(tmpdir(), "countlens-room-")))} });
      await model.close();
      console.log(JSON.stringify({ refused, error, shards: set.index.shards.length, complete: set.index.complete, same: JSON.stringify(set.index.shards) === JSON.stringify(elsewhere.index.shards) }));`);
    expect(found.refused).toMatch(/to write, and the disk of .*store has .*; evict sets/);
    expect(found.error).toMatch(
      /shard-0000\d.safetensors cannot be written \(ENOSPC\); [1-9] shards are whole: make room/,
    );
    expect(found).toMatchObject({ complete: true, same: true });
    expect(found.shards).toBeGreaterThan(3);
  }, 120_000);
});
