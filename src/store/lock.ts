/** One process at a time: a lock file beside what it protects. */
import { readFileSync, readlinkSync, rmSync } from "node:fs";
import { link, open, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Called once when another holder is waited for, with its process id. */
  readonly onWait?: (pid: number) => void;
  /** Time between two looks at the lock, ms. Default 200. */
  readonly pollMs?: number;
  /** A lock of another machine (a shared folder) counts as left behind after this time without a sign of life, ms.
   * Default 120,000: holders give one every 10 s. */
  readonly staleMs?: number;
}

const heldHere = new Set<string>();

/** Holders give a sign of life this often, ms. */
const SIGN_MS = 10_000;
const STALE_MS = 120_000;

export interface HeldLock {
  readonly held: true;
  release(): Promise<void>;
}

/** Who has a lock that could not be taken. */
export interface LockHolder {
  readonly held: false;
  readonly pid: number;
  readonly host: string;
  /** Time of its last sign of life, ms since 1970. */
  readonly alive: number;
}

/**
 * Run `work` while holding `path` (a file made for the purpose). Others in this process, in other processes and on
 * other machines that share the folder wait. A lock whose process is gone is taken over. Weakness: a process of
 * another machine that hangs for longer than `staleMs` loses its lock without knowing.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  let told = false;
  for (;;) {
    const lock = await tryLock(path, options);
    if (lock.held) {
      try {
        return await work();
      } finally {
        await lock.release();
      }
    }
    options.signal?.throwIfAborted();
    if (!told) options.onWait?.(lock.pid);
    told = true;
    await sleep(options.pollMs ?? 200, undefined, options.signal ? { signal: options.signal } : {}).catch(
      () => undefined, // the abort is thrown at the top of the loop, with its own reason
    );
    options.signal?.throwIfAborted();
  }
}

/**
 * Take the lock at once, or say who has it. It is given back by `release`, or when this process exits; one that a dead
 * process left behind is taken over.
 */
export async function tryLock(
  path: string,
  options: Pick<LockOptions, "staleMs"> = {},
): Promise<HeldLock | LockHolder> {
  while (!(await take(path))) {
    const holder = await holderOf(path);
    if (holder === undefined) continue; // gone in the meantime
    if (!(await leftBehind(path, holder, options.staleMs ?? STALE_MS))) {
      const { pid, host } = holder;
      const alive = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
      return { held: false, pid, host, alive };
    }
    await takeAway(path, holder.text);
  }
  heldHere.add(path);
  const sign = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), SIGN_MS);
  sign.unref();
  const atExit = () => rmSync(path, { force: true });
  process.once("exit", atExit);
  return {
    held: true,
    async release() {
      if (!heldHere.has(path)) return;
      clearInterval(sign);
      process.off("exit", atExit);
      await rm(path, { force: true });
      heldHere.delete(path);
    },
  };
}

interface Holder {
  readonly text: string;
  readonly pid: number;
  readonly host: string;
  /** See `machine`; "" where the lock does not say. */
  readonly machine: string;
  /** When the process began, in the system's own count: tells a process id used again from the one that locked. */
  readonly began: string;
}

/**
 * What process ids mean something within: this boot of this machine, and the container's own numbering. Two containers can
 * have one host name and share a folder; their process ids say nothing to each other.
 */
function machine(): string {
  const facts = [hostname()];
  for (const read of [
    () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    () => readlinkSync("/proc/self/ns/pid"),
  ]) {
    try {
      facts.push(read());
    } catch {
      // not Linux
    }
  }
  return facts.join(" ");
}

/** "" where the system does not say. */
function beganAt(pid: number): string {
  try {
    // The name, in brackets, may hold spaces; what follows it has fixed places.
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

async function take(path: string): Promise<boolean> {
  if (heldHere.has(path)) return false;
  // Written elsewhere and linked, so that nobody ever sees a lock without its holder in it.
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    const { pid } = process;
    const holder = { pid, host: hostname(), machine: machine(), began: beganAt(pid), time: Date.now() };
    await writeFile(draft, JSON.stringify(holder), { flag: "wx" });
    await link(draft, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code === "EPERM" || code === "ENOTSUP" || code === "ENOSYS") return takeWithoutLinks(path, draft);
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** File systems without hard links (FAT, some network folders). */
async function takeWithoutLinks(path: string, draft: string): Promise<boolean> {
  const text = await readFile(draft);
  try {
    await writeFile(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    await rm(path, { force: true }); // ours, and cut short
    throw error;
  }
}

async function holderOf(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const { pid, host, machine = "", began = "" } = JSON.parse(text) as Omit<Holder, "text">;
    return { text, pid, host, machine, began };
  } catch {
    return { text, pid: 0, host: "", machine: "", began: "" };
  }
}

async function leftBehind(path: string, holder: Holder, staleMs: number): Promise<boolean> {
  const here = holder.machine === "" ? holder.host === hostname() : holder.machine === machine();
  if (here && holder.pid > 0) {
    if (holder.pid === process.pid) return !heldHere.has(path); // a process id used again
    return !alive(holder.pid) || (holder.began !== "" && beganAt(holder.pid) !== holder.began);
  }
  const about = await stat(path).catch(() => undefined);
  return about !== undefined && Date.now() - about.mtimeMs > staleMs;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // somebody else's process
  }
}

/**
 * Remove a lock that was left behind, unless another process has just put its own in its place. Only one process at a time
 * may do so: a second that read the old lock would else take away the first one's new lock.
 */
async function takeAway(path: string, text: string): Promise<void> {
  const guard = `${path}.takeover`;
  try {
    await (await open(guard, "wx")).close();
  } catch {
    const about = await stat(guard).catch(() => undefined);
    if (about !== undefined && Date.now() - about.mtimeMs > 10_000) await rm(guard, { force: true });
    await sleep(20);
    return; // another process is at it
  }
  try {
    if ((await readFile(path, "utf8").catch(() => undefined)) === text) await rename(path, `${guard}.old`);
  } finally {
    await rm(`${guard}.old`, { force: true });
    await rm(guard, { force: true });
  }
}
