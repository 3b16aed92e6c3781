/** How often each pair of operands is written as a product in a corpus: a scan of its shards, resumable and mergeable. */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { compileForms, type FormMatcher, NOT_COUNTED, PRODUCT_FORMS } from "./corpus-forms.js";
import { mergeCounts } from "./corpus-merge.js";
import type { CorpusCounts, CorpusKeys } from "./corpus-result.js";
import { checkShardKind, openScanner, type Scanner } from "./corpus-scan.js";
import { checkShardRange, ownsUnit, type Shard } from "./shard.js";

export type { CorpusCounts, CorpusKeys } from "./corpus-result.js";

/** How far a scan has come. */
export interface CorpusProgress {
  /** Shards done, of those this run has to do. */
  readonly done: number;
  readonly total: number;
  /** Found done from an earlier run. */
  readonly resumed: number;
  readonly shard: string;
  /** On disk, i.e. compressed where shards are; of this run, without those found done. */
  readonly bytes: number;
  readonly characters: number;
  readonly seconds: number;
}

/** Operands, forms and column of a scan, and what happens to broken shards. */
export interface CorpusOptions {
  /** JSONL, JSONL.gz, JSONL.zst or Parquet files. */
  readonly shards: readonly string[];
  /** Folder for one small result per finished shard. With it a run that was stopped goes on where it was. */
  readonly work?: string;
  /** One job of several: files are dealt out by their place in the list. Default: all of them. */
  readonly shard?: Shard;
  /** Default `text`. */
  readonly column?: string;
  /** Default `PRODUCT_FORMS`. */
  readonly forms?: readonly string[];
  /** Smallest and largest operand. Default 1 to 99. */
  readonly operands?: readonly [number, number];
  /** Default `unordered`, as in the published counts. */
  readonly keys?: CorpusKeys;
  /** A shard that cannot be read ends the run (`throw`, the default) or is listed in `missing_shards` (`record`). */
  readonly onUnreadable?: "throw" | "record";
  /** Threads of DuckDB. Default 1: run several jobs for speed, one gzip stream cannot be split. */
  readonly threads?: number;
  readonly signal?: AbortSignal;
  /** Called now and then. */
  readonly onProgress?: (progress: CorpusProgress) => void;
}

/**
 * Counts products in the shards of a corpus. Memory does not grow with the corpus: DuckDB streams each shard, and only the
 * different ways a product is written are kept.
 *
 * A document without text (null) counts as a document of length 0. Refused before work starts: no shards, one listed twice,
 * one that does not exist, of an unknown kind, or a shard out of range. A result found in `work` is used only if shard (size
 * and time), forms, operands, keys and column are the same; a half-written one cannot be (written aside, then renamed).
 *
 * @example
 * const counts = await countCorpus({ shards, work: "work/c4", shard: { index: 3, of: 40 } });
 */
export async function countCorpus(options: CorpusOptions): Promise<CorpusCounts> {
  const { column = "text", forms = PRODUCT_FORMS, operands = [1, 99], keys = "unordered" } = options;
  const matcher = compileForms(forms, operands);
  const settings: Settings = { column, forms, operands, keys };
  const mine = dealt(options);
  mine.forEach(checkShardKind);
  await refuseMissing(mine, options.onUnreadable ?? "throw");
  if (options.work !== undefined) await mkdir(options.work, { recursive: true });

  const parts: CorpusCounts[] = [];
  const start = performance.now();
  let bytes = 0;
  let characters = 0;
  let resumed = 0;
  let scanner: Scanner | undefined;
  try {
    for (const shard of mine) {
      options.signal?.throwIfAborted();
      const file =
        options.work === undefined ? undefined : join(options.work, await partName(shard, settings));
      let part = file === undefined ? undefined : await readPart(file);
      if (part !== undefined) resumed += 1;
      else {
        scanner ??= await openScanner(options.threads ?? 1);
        part = await scanShard(scanner, shard, settings, matcher, options);
        if (file !== undefined && part.summary.missing_shards.length === 0) await writePart(file, part);
        bytes += await stat(shard).then(
          ({ size }) => size,
          () => 0,
        );
        characters += part.summary.total_characters;
      }
      parts.push(part);
      const seconds = (performance.now() - start) / 1000;
      options.onProgress?.({
        done: parts.length,
        total: mine.length,
        resumed,
        shard,
        bytes,
        characters,
        seconds,
      });
    }
  } finally {
    scanner?.close();
  }
  return mergeCounts(parts.length > 0 ? parts : [toCounts([], settings, [])]);
}

interface Settings {
  readonly column: string;
  readonly forms: readonly string[];
  readonly operands: readonly [number, number];
  readonly keys: CorpusKeys;
}

function dealt({ shards, shard }: CorpusOptions): string[] {
  if (shards.length === 0)
    throw new Error("countCorpus: no shards; expected files (.jsonl, .jsonl.gz, .parquet)");
  if (shard !== undefined) checkShardRange("countCorpus", shard);
  const paths = shards.map((path) => resolve(path));
  const twice = paths.find((path, i) => paths.indexOf(path) !== i);
  if (twice !== undefined) throw new Error(`countCorpus: ${twice} is listed twice; expected each shard once`);
  return paths.filter((_, i) => ownsUnit(shard, i));
}

async function refuseMissing(shards: readonly string[], onUnreadable: "throw" | "record"): Promise<void> {
  if (onUnreadable === "record") return;
  for (const shard of shards)
    if (
      !(await stat(shard).then(
        (about) => about.isFile(),
        () => false,
      ))
    )
      throw new Error(`countCorpus: ${shard} is no file; check the path, or set onUnreadable to "record"`);
}

async function scanShard(
  scanner: Scanner,
  shard: string,
  settings: Settings,
  matcher: FormMatcher,
  { onUnreadable, signal }: CorpusOptions,
): Promise<CorpusCounts> {
  try {
    const candidates = await scanner.scan(shard, settings.column, matcher.pattern, signal);
    return toCounts(candidates, settings, [shard], matcher);
  } catch (error) {
    signal?.throwIfAborted();
    if (onUnreadable !== "record") throw error;
    const none = toCounts([], settings, []);
    return { ...none, summary: { ...none.summary, missing_shards: [shard] } };
  }
}

/** The candidate "" stands for the documents themselves. */
function toCounts(
  candidates: readonly { readonly text: string; readonly count: number; readonly characters: number }[],
  { column, forms, operands, keys }: Settings,
  shards: readonly string[],
  matcher?: FormMatcher,
): CorpusCounts {
  const pairs: Record<string, number> = {};
  const byForm: Record<string, number> = Object.fromEntries(forms.map((form) => [form, 0]));
  let documents = 0;
  let characters = 0;
  let matches = 0;
  for (const { text, count, characters: length } of candidates) {
    if (text === "") {
      documents += count;
      characters += length;
    }
    const written = matcher?.judge(text);
    if (written === undefined) continue;
    const { a, b, form } = written;
    const key = keys === "ordered" || a <= b ? `${a},${b}` : `${b},${a}`;
    pairs[key] = (pairs[key] ?? 0) + count;
    byForm[form] = (byForm[form] ?? 0) + count;
    matches += count;
  }
  return {
    summary: {
      total_documents: documents,
      total_characters: characters,
      total_matches: matches,
      unique_pairs: Object.keys(pairs).length,
      shards_processed: shards.length,
      missing_shards: [],
      keys,
      operands,
      forms,
      matches_by_form: byForm,
      not_counted: NOT_COUNTED,
      text_column: column,
      shards,
    },
    pair_counts: pairs,
  };
}

async function partName(shard: string, settings: Settings): Promise<string> {
  const about = await stat(shard).catch(() => undefined);
  const what = JSON.stringify([shard, about?.size ?? 0, about?.mtimeMs ?? 0, settings, NOT_COUNTED]);
  return `${basename(shard)}.${createHash("sha256").update(what).digest("hex").slice(0, 16)}.json`;
}

async function readPart(file: string): Promise<CorpusCounts | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as CorpusCounts);
}

async function writePart(file: string, part: CorpusCounts): Promise<void> {
  const aside = `${file}.${process.pid}.part`;
  await writeFile(aside, `${JSON.stringify(part)}\n`);
  await rename(aside, file);
}
