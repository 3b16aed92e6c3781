/**
 * llama.cpp maps a model's file into memory and, on CPUs, copies most quantised weights into an order of its own. The pages it read them
 * from stay resident beside the copy. Here they are given back; whatever is still used comes in again from the page cache at its first use.
 */
import { readFileSync, realpathSync } from "node:fs";
import koffi from "koffi";

const MADV_DONTNEED = 4;

/** Gives back the resident pages of `path` in this process. Does nothing but on Linux, and nothing where it is refused. */
export function forgetMapping(path: string): void {
  if (process.platform !== "linux") return;
  try {
    const file = realpathSync(path);
    const madvise = koffi.load(null).func("int madvise(uintptr_t address, size_t length, int advice)");
    for (const line of readFileSync("/proc/self/maps", "utf8").split("\n")) {
      // A page that was written to is the process's own and would be lost: only what is mapped for reading.
      const found = /^([0-9a-f]+)-([0-9a-f]+) r--[ps] \S+ \S+ \S+\s+(.*)$/.exec(line);
      if (found?.[3] !== file) continue;
      const [from, to] = [BigInt(`0x${found[1]}`), BigInt(`0x${found[2]}`)];
      madvise(from, to - from, MADV_DONTNEED);
    }
  } catch {
    // Memory that could have been saved.
  }
}
