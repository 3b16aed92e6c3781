/** `npm run models -- list | get NAME | path NAME | remove NAME | verify NAME`. */

import { stat } from "node:fs/promises";
import { relative } from "node:path";
import { cacheFolder, listCache, pathInside, removeFromCache } from "./cache.js";
import { type CatalogueEntry, findEntry, readCatalogue } from "./catalogue.js";
import { type CommandOutput, runAsCommand } from "./command.js";
import { entryFolder, fetchEntry } from "./fetch-entry.js";
import type { FetchProgress } from "./fetch-progress.js";
import { fileHash } from "./file-hash.js";
import { parseHubSpec } from "./hugging-face.js";
import { listOrganisms } from "./organism-files.js";
import { resolveModel } from "./resolve-model.js";

const USAGE = `usage: npm run models -- COMMAND
  list              what can be fetched by name, and what is here
  get NAME          fetch a model or data set (a catalogue name, or hf:owner/repo:quant); --refresh asks the hub again
  path NAME         print where its first file is; fetches nothing
  verify NAME       read its files again and compare their sha256 with the stated ones
  remove NAME       remove its files from the cache
The cache is COUNTLENS_CACHE, else ${cacheFolder({})}`;

/** Run the command with these arguments; the answer is the exit code: 0 done, 1 failed, 2 wrong use. */
export async function modelsCommand(
  args: readonly string[],
  out: CommandOutput,
  signal?: AbortSignal,
): Promise<number> {
  const flags = args.filter((a) => a.startsWith("--"));
  const [verb, name, ...rest] = args.filter((a) => !a.startsWith("--"));
  const unknown = flags.find((f) => f !== "--refresh" && f !== "--help");
  if (flags.includes("--help") || verb === "help") {
    out.line(USAGE);
    return 0;
  }
  const known = verb === "list" ? name === undefined : VERBS.has(verb ?? "") && name !== undefined;
  if (!known || rest.length > 0 || unknown !== undefined) {
    out.error(USAGE);
    return 2;
  }
  try {
    if (verb === "list") await list(out);
    else
      await VERBS.get(verb!)!(name!, {
        out,
        refresh: flags.includes("--refresh"),
        ...(signal && { signal }),
      });
    return 0;
  } catch (error) {
    out.redraw?.("");
    out.error(signal?.aborted === true ? "stopped; get goes on from here" : (error as Error).message);
    return 1;
  }
}

interface Task {
  readonly out: CommandOutput;
  readonly refresh: boolean;
  readonly signal?: AbortSignal;
}

const VERBS = new Map<string, (name: string, task: Task) => Promise<void>>([
  ["get", get],
  ["path", where],
  ["verify", verify],
  ["remove", remove],
]);

async function list(out: CommandOutput): Promise<void> {
  const { entries, suggestions } = readCatalogue();
  const organisms = listOrganisms();
  const width = Math.max(...entries.map((e) => e.name.length));
  for (const entry of entries) {
    const here = organisms.some((o) => o.name === entry.name) || (await isHere(entry));
    const state = entry.kind === "pointer" ? "elsewhere" : here ? "here" : "not here";
    const bytes = entry.files.reduce((sum, f) => sum + (f.bytes ?? 0), 0);
    const size = bytes > 0 ? megabytes(bytes) : "";
    out.line(
      `${entry.name.padEnd(width)}  ${entry.kind.padEnd(8)}  ${state.padEnd(9)}  ${size.padStart(8)}  ${entry.description}`,
    );
    out.line(`${"".padEnd(width)}  licence ${entry.licence}${entry.homepage ? `; ${entry.homepage}` : ""}`);
  }
  for (const { name } of organisms.filter((o) => !entries.some((e) => e.name === o.name))) {
    out.line(`${name.padEnd(width)}  organism  here`);
  }
  out.line("\nAny GGUF of the hub can be fetched as well, for example:");
  for (const { spec, note } of suggestions) out.line(`  ${spec}  (${note})`);
  const files = await listCache();
  const used = files.reduce((sum, f) => sum + f.bytes, 0);
  out.line(`\ncache: ${cacheFolder()}, ${files.length} files, ${megabytes(used)}`);
}

async function get(name: string, { out, refresh, signal }: Task): Promise<void> {
  const fetching = {
    ...(signal && { signal }),
    onProgress: progressLines(out),
    onWait: (pid: number) => out.line(`process ${pid} is fetching the same file; waiting for it`),
  };
  const entry = name.startsWith("hf:") ? undefined : findEntry(readCatalogue(), name);
  if (entry?.kind === "data") {
    const files = await fetchEntry(entry, fetching);
    out.redraw?.("");
    for (const file of files) out.line(`${file.path}  sha256 ${file.sha256}`);
    return;
  }
  if (entry?.kind === "pointer") {
    out.line(`${entry.name}: ${entry.description} ${entry.homepage ?? ""}`);
    return;
  }
  const model = await resolveModel(name, { ...fetching, refresh });
  out.redraw?.("");
  out.line(model.path);
  out.line(
    `sha256 ${model.sha256} (${model.verified ? "as stated" : "nobody states one"}), from ${model.source}`,
  );
  if (model.licence !== undefined) out.line(`licence ${model.licence}`);
}

async function where(name: string, { out, signal }: Task): Promise<void> {
  const entry = name.startsWith("hf:") ? undefined : findEntry(readCatalogue(), name);
  if (entry?.kind === "data") {
    if (!(await isHere(entry))) throw new Error(`${name} is not here; run npm run models -- get ${name}`);
    out.line(entryFolder(entry));
    return;
  }
  out.line((await resolveModel(name, { offline: true, ...(signal && { signal }) })).path);
}

async function verify(name: string, { out, signal }: Task): Promise<void> {
  const options = { fresh: true, onProgress: progressLines(out), ...(signal && { signal }) };
  const entry = name.startsWith("hf:") ? undefined : findEntry(readCatalogue(), name);
  const files =
    entry === undefined || entry.kind === "organism"
      ? (await resolveModel(name, { offline: true, ...(signal && { signal }) })).files.map((path) => ({
          path,
          stated: undefined,
        }))
      : entry.files.map((f) => ({
          path: pathInside(entryFolder(entry), f.path),
          stated: f.sha256 ?? undefined,
        }));
  let wrong = 0;
  for (const { path, stated } of files) {
    const known = stated ?? (await fileHash(path)).sha256;
    const { sha256 } = await fileHash(path, options).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT"
        ? new Error(`${path} is not here; run npm run models -- get ${name}`)
        : error;
    });
    out.redraw?.("");
    const same = sha256 === known;
    if (!same) wrong++;
    out.line(`${same ? "right" : "WRONG"}  ${path}  sha256 ${sha256}${same ? "" : `, expected ${known}`}`);
  }
  if (wrong > 0)
    throw new Error(
      `${wrong} of ${files.length} files are not what they should be; remove ${name} and get it again`,
    );
}

async function remove(name: string, { out }: Task): Promise<void> {
  const cache = cacheFolder();
  let folder: string;
  if (name.startsWith("hf:")) {
    folder = `hf/${parseHubSpec(name).repo.replace("/", "--")}`;
  } else {
    const entry = findEntry(readCatalogue(), name);
    if (entry.kind === "organism")
      throw new Error(`${name} is part of the project, not of the cache; nothing removed`);
    folder = relative(cache, entryFolder(entry, cache));
  }
  const bytes = await removeFromCache(folder);
  out.line(bytes > 0 ? `removed ${folder}, ${megabytes(bytes)}` : `${name} was not in the cache`);
}

async function isHere(entry: CatalogueEntry): Promise<boolean> {
  for (const file of entry.files) {
    const about = await stat(pathInside(entryFolder(entry), file.path)).catch(() => undefined);
    if (about === undefined || (file.bytes ?? about.size) !== about.size) return false;
  }
  return entry.files.length > 0;
}

/** A bar on a terminal; elsewhere a line at the start of each file and at each tenth. */
function progressLines(out: CommandOutput): (progress: FetchProgress) => void {
  let said = "";
  return ({ what, done, total, bytesPerSecond, secondsLeft }) => {
    const share = total > 0 ? done / total : 0;
    if (out.redraw !== undefined) {
      const bar = "#".repeat(Math.round(20 * share)).padEnd(20, "-");
      const rate = bytesPerSecond > 0 ? `  ${megabytes(bytesPerSecond)}/s` : "";
      const left = secondsLeft === undefined ? "" : `  ${clock(secondsLeft)} left`;
      out.redraw(`${what}  [${bar}] ${Math.floor(100 * share)} %  ${megabytes(done)}${rate}${left}`);
      return;
    }
    const mark = `${what} ${Math.floor(10 * share) * 10} %`;
    if (mark === said) return;
    said = mark;
    out.line(`${mark} of ${megabytes(total)}`);
  };
}

function megabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

function clock(seconds: number): string {
  const s = Math.ceil(seconds);
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
}

runAsCommand(import.meta.url, modelsCommand);
