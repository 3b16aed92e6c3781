/** Whether a model fits this machine, said before it is loaded: the system would end the process without a word. */
import { existsSync, readFileSync } from "node:fs";
import { freemem } from "node:os";
import type { GgufHeader } from "./gguf.js";
import { formatBytes } from "./validate.js";

/** Refuses a model whose weights are larger than the memory that is free. Weights on a GPU do not count. */
export function checkMemory(header: GgufHeader, gpuLayers: number): void {
  if (gpuLayers !== 0) return;
  const free = availableMemory();
  if (header.bytes <= free) return;
  throw new Error(
    `open: ${header.path} is ${formatBytes(header.bytes)}, but only ${formatBytes(free)} of memory is available; ` +
      "take a smaller quantisation, or offload layers to a GPU (gpuLayers)",
  );
}

/** Free memory and what the system's file cache would give back, in bytes. */
function availableMemory(): number {
  if (!existsSync("/proc/meminfo")) return freemem();
  const line = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8"));
  return line === null ? freemem() : Number(line[1]) * 1024;
}
