/** A model in another quantisation, made with llama.cpp's own quantiser and kept in the cache. */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { chooseBackend, LLAMA_RELEASE } from "../engine/backend.js";
import { checkGguf } from "../engine/gguf.js";
import { runQuantiser } from "../engine/quantise.js";
import { QUANTISATIONS, type Quantisation, quantisationOf } from "../engine/quantise-types.js";
import type { RunOptions } from "../engine/request.js";
import { cacheFolder, makeCacheFolder } from "../store/cache.js";
import { withLock } from "../store/lock.js";
import { resolveModel } from "../store/resolve-model.js";
import { watched } from "./watched.js";

/** How a model is quantised anew. */
export interface QuantiseOptions extends Pick<RunOptions, "signal" | "onProgress"> {
  /** Take weights that are quantised already: their error stays, and the new one comes on top. Default false. */
  readonly requantise?: boolean;
  /** Default: every core. */
  readonly threads?: number;
}

/** A file and what it really holds. */
export interface QuantisedFile {
  readonly path: string;
  readonly type: Quantisation;
  readonly bytes: number;
  /** Of all weights, norms and embeddings included. */
  readonly bitsPerWeight: number;
  /** Most parameters first. */
  readonly holds: readonly TypeShare[];
  /** `Q8_0 46.2 %, F16 53.4 %, F32 0.4 %`, for tables. */
  readonly says: string;
}

/** How much of a model is stored in one type. */
export interface TypeShare {
  /** ggml's name of a tensor type. */
  readonly type: string;
  readonly tensors: number;
  readonly parameters: number;
  /** Of all parameters. */
  readonly share: number;
}

/**
 * Writes `spec` (a path, a name, `hf:...`) as `type` (`Q8_0`, `Q4_K_M`, ...) to `out`, or to the cache, where it is found
 * again. The file appears whole or not at all. The quantiser runs in a process of its own, so that an abort in llama.cpp is
 * an error here.
 *
 * A type is a recipe, and not every tensor can follow it: blocks of 32 (`Q8_0`, `Q4_0`, ...) need rows that are a multiple of
 * 32, those of 256 (`..._K`) of 256. Where they are not, llama.cpp falls back to a type with smaller blocks, and to F16 where
 * none fits. Norms and vectors stay F32, tied embeddings get more bits. `holds` says what came of it: read it.
 *
 * @throws one line for an unknown type, one that needs an importance matrix, weights that are quantised already, and whatever
 * llama.cpp says
 * @example
 * const { path, says } = await quantise("tally-25k", "Q4_0");
 * const small = await open(path);
 */
export async function quantise(
  spec: string,
  type: string,
  out?: string,
  options: QuantiseOptions = {},
): Promise<QuantisedFile> {
  const name = quantisationOf(type);
  const { requantise = false, threads = availableParallelism(), ...given } = options;
  if (!Number.isInteger(threads) || threads < 1 || threads > 512)
    throw new Error(`quantise: threads is ${threads}; expected a whole number from 1 to 512`);
  return watched(`quantising ${basename(spec)} to ${name}`, given, async (run) => {
    const source = await resolveModel(spec, run);
    if (!requantise) refuseQuantised(source.path);
    const kept = join(cacheFolder(), "quantised", LLAMA_RELEASE);
    const target = resolve(out ?? join(kept, `${source.name}-${source.sha256.slice(0, 12)}-${name}.gguf`));
    if (target === resolve(source.path))
      throw new Error(`quantise: ${target} is the model itself; expected another file to write to`);
    if (out === undefined) await makeCacheFolder(kept);
    else await mkdir(dirname(target), { recursive: true });
    return withLock(`${target}.lock`, () => make(target), run.signal ? { signal: run.signal } : {});

    async function make(path: string): Promise<QuantisedFile> {
      if (out === undefined && existsSync(path)) {
        try {
          return quantisedFile(path, name);
        } catch {
          // Damaged since: made again.
        }
      }
      const part = `${path}.part`;
      try {
        // Quantising is work for the CPU, whatever the machine has.
        const backend = await chooseBackend(false);
        const job = { backend, source: source.path, target: part, threads, requantise };
        await runQuantiser({ ...job, fileType: QUANTISATIONS[name] }, run);
        checkGguf(part);
        await rename(part, path);
      } finally {
        await rm(part, { force: true });
      }
      return quantisedFile(path, name);
    }
  });
}

/** What a GGUF really holds, by tensor type: from its header, whoever made it. */
export function tensorTypes(path: string): readonly TypeShare[] {
  const { tensors, parameters } = checkGguf(path);
  const found = new Map<string, { tensors: number; parameters: number }>();
  for (const { type, elements } of tensors) {
    const row = found.get(type) ?? { tensors: 0, parameters: 0 };
    found.set(type, { tensors: row.tensors + 1, parameters: row.parameters + elements });
  }
  return [...found]
    .map(([type, row]) => ({ type, ...row, share: row.parameters / parameters }))
    .sort((a, b) => b.parameters - a.parameters);
}

function quantisedFile(path: string, type: Quantisation): QuantisedFile {
  const { tensors, parameters, bytes } = checkGguf(path);
  const holds = tensorTypes(path);
  return {
    path,
    type,
    bytes,
    bitsPerWeight: (8 * tensors.reduce((sum, tensor) => sum + tensor.bytes, 0)) / parameters,
    holds,
    says: holds.map((row) => `${row.type} ${(100 * row.share).toFixed(1)} %`).join(", "),
  };
}

function refuseQuantised(path: string): void {
  const already = tensorTypes(path).filter(({ type }) => !/^(F32|F16|BF16|F64)$/.test(type));
  if (already.length === 0) return;
  throw new Error(
    `quantise: ${basename(path)} is quantised already (${already.map(({ type, share }) => `${type} ${(100 * share).toFixed(0)} %`).join(", ")}); ` +
      "start from an F16 or F32 file, or pass requantise: true and add the new error to the old",
  );
}
