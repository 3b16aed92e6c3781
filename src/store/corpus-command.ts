/** `npm run corpus -- count FILE... --out FILE` and `npm run corpus -- merge PART... --out FILE`. */

import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type CommandOutput, runAsCommand } from "./command.js";
import { type CorpusCounts, type CorpusOptions, countCorpus } from "./corpus-counts.js";
import { PRODUCT_FORMS } from "./corpus-forms.js";
import { mergeCounts } from "./corpus-merge.js";
import { parseShard } from "./shard.js";

const USAGE = `usage: npm run corpus -- COMMAND
  count FILE...  --out FILE   count products in JSONL(.gz, .zst) or Parquet files; the shell expands patterns
    --work DIR                keep a result for each file here: run the same command again to go on after a stop
    --shard I/N               only every Nth file from the Ith on, I from 1: one job of an array; merge the parts later
    --column NAME             column with the text (default text)
    --ordered                 keep 4*3 apart from 3*4 (default: one key, the smaller operand first)
    --operands LOW-HIGH       default 1-99
    --form FORM               may be given several times; default ${PRODUCT_FORMS.join("  ")}
    --threads N               default 1
    --record-unreadable       list unreadable files in the output instead of stopping
  merge PART... --out FILE    add up the outputs of several jobs`;

/** Run the command with these arguments; the answer is the exit code: 0 done, 1 failed, 2 wrong use, 130 stopped. */
export async function corpusCommand(
  args: readonly string[],
  out: CommandOutput,
  signal?: AbortSignal,
): Promise<number> {
  let parsed: ReturnType<typeof read>;
  try {
    parsed = read(args);
  } catch (error) {
    out.error(`${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const [verb, ...files] = positionals;
  if (values.help === true) {
    out.line(USAGE);
    return 0;
  }
  if ((verb !== "count" && verb !== "merge") || files.length === 0 || values.out === undefined) {
    out.error(USAGE);
    return 2;
  }
  try {
    const counts =
      verb === "merge"
        ? mergeCounts(await Promise.all(files.map(readCounts)))
        : await countCorpus({
            ...countOptions(files, values),
            ...(signal ? { signal } : {}),
            onProgress: report(out),
          });
    await writeFile(values.out, `${JSON.stringify(counts, null, 2)}\n`);
    const { total_documents, total_matches, unique_pairs, missing_shards, keys } = counts.summary;
    out.line(
      `${values.out}: ${total_matches} products, ${unique_pairs} pairs (${keys} keys) in ${total_documents} documents` +
        (missing_shards.length > 0 ? `; ${missing_shards.length} shards unreadable` : ""),
    );
    return 0;
  } catch (error) {
    if (signal?.aborted) {
      out.error(values.work ? "stopped; the same command goes on from here" : "stopped");
      return 130;
    }
    out.error((error as Error).message);
    return 1;
  }
}

function read(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      out: { type: "string" },
      work: { type: "string" },
      shard: { type: "string" },
      column: { type: "string" },
      ordered: { type: "boolean" },
      operands: { type: "string" },
      form: { type: "string", multiple: true },
      threads: { type: "string" },
      "record-unreadable": { type: "boolean" },
      help: { type: "boolean" },
    },
  });
}

function countOptions(shards: string[], values: ReturnType<typeof read>["values"]): CorpusOptions {
  return {
    shards,
    ...(values.work !== undefined && { work: values.work }),
    ...(values.column !== undefined && { column: values.column }),
    ...(values.form !== undefined && { forms: values.form }),
    ...(values.ordered === true && { keys: "ordered" as const }),
    ...(values["record-unreadable"] === true && { onUnreadable: "record" as const }),
    ...(values.threads !== undefined && { threads: Number(values.threads) }),
    ...(values.operands !== undefined && { operands: two(values.operands, "-", "--operands") }),
    ...(values.shard !== undefined && { shard: parseShard(values.shard) }),
  };
}

function two(text: string, separator: string, flag: string): [number, number] {
  const found = /^(\d+)(\D)(\d+)$/.exec(text);
  if (found === null || found[2] !== separator)
    throw new Error(`corpus: ${flag} ${text}; expected two whole numbers, e.g. 1${separator}99`);
  return [Number(found[1]), Number(found[3])];
}

async function readCounts(file: string): Promise<CorpusCounts> {
  const counts = JSON.parse(await readFile(file, "utf8")) as Partial<CorpusCounts>;
  if (counts.pair_counts === undefined || counts.summary?.shards === undefined)
    throw new Error(`corpus: ${file} is no output of count; expected summary.shards and pair_counts in it`);
  return counts as CorpusCounts;
}

function report(out: CommandOutput): NonNullable<CorpusOptions["onProgress"]> {
  return ({ done, total, resumed, shard, bytes, characters, seconds }) => {
    const rate = (amount: number) => (seconds > 0 ? (amount / 1e6 / seconds).toFixed(1) : "0");
    const found = resumed > 0 ? `, ${resumed} found done` : "";
    out.line(`${done}/${total}${found}  ${shard}  ${rate(bytes)} MB/s, ${rate(characters)} M characters/s`);
  };
}

runAsCommand(import.meta.url, corpusCommand);
