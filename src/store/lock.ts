/** One process at a time: a lock file beside what it protects. */
import { link, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
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
  while (!(await take(path))) {
    options.signal?.throwIfAborted();
    const holder = await holderOf(path);
    if (holder === undefined) continue; // gone in the meantime
    if (await leftBehind(path, holder, options.staleMs ?? 120_000)) {
      await takeAway(path, holder.text);
      continue;
    }
    if (!told) options.onWait?.(holder.pid);
    told = true;
    await sleep(options.pollMs ?? 200, undefined, options.signal ? { signal: options.signal } : {}).catch(
      () => undefined, // the abort is thrown at the top of the loop, with its own reason
    );
  }
  heldHere.add(path);
  const sign = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), 10_000);
  sign.unref();
  try {
    return await work();
  } finally {
    clearInterval(sign);
    heldHere.delete(path);
    await rm(path, { force: true });
  }
}

interface Holder {
  readonly text: string;
  readonly pid: number;
  readonly host: string;
}

async function take(path: string): Promise<boolean> {
  if (heldHere.has(path)) return false;
  // Written elsewhere and linked, so that nobody ever sees a lock without its holder in it.
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  const file = await open(draft, "wx");
  try {
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname(), time: Date.now() }));
    await file.close();
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
  try {
    const file = await open(path, "wx");
    await file.writeFile(await readFile(draft));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function holderOf(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const { pid, host } = JSON.parse(text) as { pid: number; host: string };
    return { text, pid, host };
  } catch {
    return { text, pid: 0, host: "" };
  }
}

async function leftBehind(path: string, holder: Holder, staleMs: number): Promise<boolean> {
  if (holder.host === hostname() && holder.pid > 0) {
    if (holder.pid === process.pid) return !heldHere.has(path); // a process id used again
    return !alive(holder.pid);
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

/** Remove a lock that was left behind, unless another process has just put its own in its place. */
async function takeAway(path: string, text: string): Promise<void> {
  const aside = `${path}.stale.${process.pid}`;
  try {
    await rename(path, aside);
  } catch {
    return; // another process was quicker
  }
  const got = await readFile(aside, "utf8").catch(() => text);
  if (got !== text) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}
