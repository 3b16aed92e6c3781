import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { tryLock, withLock } from "../../src/store/lock.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-lock-"));
afterAll(() => rmSync(folder, { recursive: true }));
const build = join(import.meta.dirname, "..", "..", "dist", "src", "store", "lock.js");

/** A process that takes the lock, says so, and holds it until it is killed. */
async function holderOf(path: string): Promise<ReturnType<typeof spawn>> {
  const code = `import { tryLock } from ${JSON.stringify(build)};
    const lock = await tryLock(${JSON.stringify(path)});
    console.log(lock.held);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout!.once("data", resolve));
  return child;
}
const gone = (child: ReturnType<typeof spawn>) => new Promise((resolve) => child.once("exit", resolve));

describe("tryLock", () => {
  it("is refused while another process holds it, with that process's id, and taken over once it is dead", async () => {
    const path = join(folder, "a.lock");
    const child = await holderOf(path);
    expect(await tryLock(path)).toMatchObject({ held: false, pid: child.pid, host: hostname() });
    child.kill("SIGKILL");
    await gone(child);
    const lock = await tryLock(path);
    expect(lock.held).toBe(true);
    if (lock.held) await lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is given back when a process ends by itself", async () => {
    const path = join(folder, "b.lock");
    const child = await holderOf(path);
    child.kill("SIGTERM");
    await gone(child);
    const lock = await tryLock(path);
    expect(lock.held).toBe(true);
    if (lock.held) await lock.release();
  });

  it("knows a process id that was used again", async () => {
    const path = join(folder, "c.lock");
    const child = await holderOf(path);
    const held = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...held, began: `${held.began}1` }));
    const lock = await tryLock(path);
    expect(lock.held).toBe(process.platform === "linux");
    if (lock.held) await lock.release();
    child.kill("SIGKILL");
    await gone(child);
  });

  it("takes over a lock of a dead process that says no more than its host", async () => {
    const path = join(folder, "old.lock");
    writeFileSync(path, JSON.stringify({ pid: 999_999_999, host: hostname(), time: Date.now() }));
    const lock = await tryLock(path);
    expect(lock.held).toBe(true);
    if (lock.held) await lock.release();
  });

  it("leaves a lock of another machine alone while it shows signs of life", async () => {
    const path = join(folder, "d.lock");
    writeFileSync(
      path,
      JSON.stringify({ pid: 1, host: "elsewhere", machine: "elsewhere x", began: "1", time: 0 }),
    );
    expect(await tryLock(path)).toMatchObject({ held: false, host: "elsewhere" });
    const lock = await tryLock(path, { staleMs: 0 });
    expect(lock.held).toBe(true);
    if (lock.held) await lock.release();
  });

  it("one at a time: ten processes that find a lock left behind", async () => {
    const path = join(folder, "e.lock");
    const log = join(folder, "e.txt");
    writeFileSync(path, JSON.stringify({ pid: 999_999_999, host: "", machine: "", began: "", time: 0 }));
    const code = `import { withLock } from ${JSON.stringify(build)};
      import { appendFileSync } from "node:fs";
      import { setTimeout as sleep } from "node:timers/promises";
      for (let i = 0; i < 3; i++) await withLock(${JSON.stringify(path)}, async () => {
        appendFileSync(${JSON.stringify(log)}, "in ");
        await sleep(5);
        appendFileSync(${JSON.stringify(log)}, "out ");
      }, { pollMs: 10, staleMs: 1000 });`;
    const children = Array.from({ length: 10 }, () =>
      spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" }),
    );
    const codes = await Promise.all(children.map(gone));
    expect(codes).toEqual(Array(10).fill(0));
    expect(readFileSync(log, "utf8")).toBe("in out ".repeat(30));
    rmSync(log);
  });
});

describe("withLock", () => {
  it("waits for others in this process too", async () => {
    const path = join(folder, "f.lock");
    const order: string[] = [];
    const work = (name: string) => () =>
      new Promise<void>((resolve) => {
        order.push(`${name} in`);
        setTimeout(() => {
          order.push(`${name} out`);
          resolve();
        }, 20);
      });
    await Promise.all([withLock(path, work("a"), { pollMs: 5 }), withLock(path, work("b"), { pollMs: 5 })]);
    expect(order.map((line) => line.slice(2))).toEqual(["in", "out", "in", "out"]);
    const stop = new AbortController();
    await withLock(path, async () => {
      const waiting = withLock(path, work("c"), { pollMs: 5, signal: stop.signal });
      stop.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
