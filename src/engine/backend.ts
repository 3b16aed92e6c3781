/**
 * Which of the installed llama.cpp builds to open: CPU, CUDA, Vulkan or Metal.
 *
 * node-llama-cpp knows how to choose (it tries each build in a process of its own), so it chooses; but that takes
 * seconds, so the choice is remembered for as long as the package and the machine's devices stay the same.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A build of llama.cpp: `auto` is what suits the machine, false the CPU. */
export type Gpu = "auto" | "cuda" | "vulkan" | "metal" | false;

export interface Backend {
  readonly gpu: Exclude<Gpu, "auto">;
  /** Folder with the shared libraries of this build. */
  readonly folder: string;
}

/** The llama.cpp release and the node-llama-cpp version all struct layouts were written for. */
export const LLAMA_RELEASE = "0.4.0";
export const NODE_LLAMA_CPP = "3.21.1";

const PLATFORMS: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-arm64",
  "darwin-arm64": "mac-arm64-metal",
  "darwin-x64": "mac-x64",
  "win32-x64": "win-x64",
  "win32-arm64": "win-arm64",
};

/**
 * Finds the libraries for `gpu`. `auto` asks node-llama-cpp, once per machine: the answer is kept in `memory`
 * (a JSON file; none when undefined).
 */
export async function chooseBackend(gpu: Gpu, memory?: string): Promise<Backend> {
  const base = PLATFORMS[`${process.platform}-${process.arch}`];
  if (base === undefined) {
    throw new Error(
      `open: no llama.cpp build for ${process.platform} ${process.arch}; expected one of ${Object.keys(PLATFORMS).join(", ")}`,
    );
  }
  const chosen = gpu === "auto" ? await remembered(memory, askNodeLlamaCpp) : gpu;
  const name = chosen === false || chosen === "metal" ? base : `${base}-${chosen}`;
  return { gpu: chosen, folder: libraryFolder(name, gpu) };
}

function libraryFolder(name: string, gpu: Gpu): string {
  const require = createRequire(import.meta.url);
  // The platform packages are dependencies of node-llama-cpp, so they are looked up from where that one is.
  const from = createRequire(require.resolve("node-llama-cpp"));
  let entry: string;
  try {
    entry = from.resolve(`@node-llama-cpp/${name}`);
  } catch {
    throw new Error(
      `open: package @node-llama-cpp/${name} is not installed, but gpu: ${JSON.stringify(gpu)} needs it; ` +
        "run npm ci with optional packages, or pass gpu: false",
    );
  }
  const folder = join(dirname(entry), "..", "bins", name);
  if (!existsSync(folder))
    throw new Error(`open: ${folder} is missing; the package is damaged, run npm ci again`);
  return folder;
}

async function askNodeLlamaCpp(): Promise<Exclude<Gpu, "auto">> {
  const { getLlama, LlamaLogLevel } = await import("node-llama-cpp");
  const llama = await getLlama({
    gpu: "auto",
    build: "never",
    skipDownload: true,
    logLevel: LlamaLogLevel.disabled,
  });
  const gpu = llama.gpu;
  await llama.dispose();
  return gpu;
}

async function remembered(
  memory: string | undefined,
  ask: () => Promise<Exclude<Gpu, "auto">>,
): Promise<Exclude<Gpu, "auto">> {
  const machine = createHash("sha256")
    .update(JSON.stringify([NODE_LLAMA_CPP, process.platform, process.arch, devices()]))
    .digest("hex");
  if (memory !== undefined && existsSync(memory)) {
    try {
      const kept: unknown = JSON.parse(readFileSync(memory, "utf8"));
      if (typeof kept === "object" && kept !== null && "machine" in kept && kept.machine === machine) {
        const gpu = "gpu" in kept ? kept.gpu : undefined;
        if (gpu === false || gpu === "cuda" || gpu === "vulkan" || gpu === "metal") return gpu;
      }
    } catch {
      // A damaged memory is only a slower start.
    }
  }
  const gpu = await ask();
  if (memory !== undefined) {
    mkdirSync(dirname(memory), { recursive: true });
    writeFileSync(memory, JSON.stringify({ machine, gpu }));
  }
  return gpu;
}

function devices(): string[] {
  const found: string[] = [];
  for (const folder of ["/dev", "/dev/dri"]) {
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder)) {
      if (/^(nvidia\d*|nvidiactl|renderD\d+|kfd)$/.test(name)) found.push(name);
    }
  }
  return found.sort();
}
