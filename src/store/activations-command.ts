/** `npm run activations -- list | verify [KEY...] | evict KEY... | evict --older-than DAYS | evict --to SIZE`. */
import { parseArgs } from "node:util";
import { openActivations } from "./activation-reader.js";
import {
  chooseSets,
  evictActivations,
  gigabytes,
  listActivations,
  type StoredSet,
  storeFolder,
} from "./activation-store.js";
import { type CommandOutput, runAsCommand } from "./command.js";

const USAGE = `usage: npm run activations -- COMMAND
  list                       the captured sets, oldest first, with size and model
  verify [KEY...]            compare files with the sha256 noted when they were written; all sets, or those named
  evict KEY...               remove sets; the beginning of a key is enough
  evict --older-than DAYS    remove sets last changed before that
  evict --to SIZE            remove the oldest until the store takes at most SIZE: 10GB, 500MB
options
  --store FOLDER             default ${storeFolder()}`;

/** Runs the command; the answer is the exit code: 0 done, 1 failed, 2 wrong use. */
export async function activationsCommand(args: readonly string[], out: CommandOutput): Promise<number> {
  let which: Parameters<typeof evictActivations>[0] | undefined;
  let verify: readonly string[] | undefined;
  let store: { store?: string };
  try {
    const text = { type: "string" } as const;
    const options = { store: text, "older-than": text, to: text, help: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb, ...keys] = positionals;
    verify = verb === "verify" ? keys : undefined;
    if (values.help === true) {
      out.line(USAGE);
      return 0;
    }
    store = values.store === undefined ? {} : { store: values.store };
    const ways = [keys.length > 0, values["older-than"] !== undefined, values.to !== undefined];
    const given = ways.filter(Boolean).length;
    const right =
      (verb === "list" && given === 0) ||
      (verb === "verify" && given === (keys.length > 0 ? 1 : 0)) ||
      (verb === "evict" && given === 1);
    if (!right) throw new Error("wrong use");
    if (values["older-than"] !== undefined)
      which = { before: Date.now() - 86_400_000 * positive("--older-than", values["older-than"]) };
    else if (values.to !== undefined) which = { toBytes: bytesOf(values.to) };
    else if (verb === "evict") which = { keys };
  } catch (error) {
    out.error(`activations: ${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  try {
    if (verify !== undefined) return await verifySets(verify, store, out);
    if (which === undefined) {
      const sets = await listActivations(store);
      for (const set of sets) out.line(lineOf(set));
      const bytes = sets.reduce((sum, set) => sum + set.bytes, 0);
      out.line(`${storeFolder(store)}: ${sets.length} sets, ${gigabytes(bytes)}`);
      return 0;
    }
    const gone = await evictActivations(which, store);
    for (const set of gone) out.line(`removed ${lineOf(set)}`);
    if (gone.length === 0) out.line("nothing to remove");
    return 0;
  } catch (error) {
    out.error((error as Error).message);
    return 1;
  }
}

async function verifySets(
  keys: readonly string[],
  store: { store?: string },
  out: CommandOutput,
): Promise<number> {
  const all = await listActivations(store);
  let bad = 0;
  for (const { key, folder } of keys.length === 0 ? all : chooseSets(all, { keys })) {
    try {
      await (await openActivations(folder)).verify();
      out.line(`${key}  as it was written`);
    } catch (error) {
      out.error((error as Error).message);
      bad++;
    }
  }
  return bad === 0 ? 0 : 1;
}

function lineOf({ key, bytes, modified, index }: StoredSet): string {
  const date = new Date(modified).toISOString().slice(0, 16).replace("T", " ");
  if (index === undefined) return `${key}  ${date}  ${gigabytes(bytes)}  without an index`;
  const { hooks, rows, requests, complete, provenance } = index;
  const names =
    hooks.length > 3 ? `${hooks[0]!.name} … ${hooks.at(-1)!.name}` : hooks.map((h) => h.name).join(", ");
  const state = complete ? "" : "  (not complete)";
  return `${key}  ${date}  ${gigabytes(bytes)}  ${provenance?.model?.name ?? "?"}: ${rows} rows of ${names}, ${requests} prompts${state}`;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0) || text.trim() === "") throw new Error(`${name} ${text}; expected a number from 0`);
  return value;
}

function bytesOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(GB|MB|kB|B)?$/i.exec(text.trim());
  if (match === null) throw new Error(`--to ${text}; expected a size such as 10GB or 500MB`);
  const unit = { gb: 1e9, mb: 1e6, kb: 1e3, b: 1 }[(match[2] ?? "B").toLowerCase()] ?? 1;
  return Number(match[1]) * unit;
}

runAsCommand(import.meta.url, activationsCommand);
