/** Logs of shards put together, and what two logs are compared by. */
import { access, rename, rm } from "node:fs/promises";
import { contentKey } from "./content-key.js";
import { openRunLogFile, readRunLog } from "./run-log-file.js";
import type { RunLine } from "./run-log-line.js";

/** What became of the trials of several logs. */
export interface Merged {
  readonly trials: number;
  /** Trials that more than one log had. */
  readonly repeated: number;
  /** Distinct trials of each log, in the order given. */
  readonly from: readonly { readonly path: string; readonly trials: number }[];
}

/**
 * Puts logs together in a new file. A trial that several logs have must have come out the same in all of them: where it did not,
 * the machines disagree, and that is an error which names the trial.
 */
export async function mergeRunLogs(out: string, paths: readonly string[]): Promise<Merged> {
  if (paths.length === 0) throw new Error("mergeRunLogs: no logs; expected at least one");
  if (await exists(out))
    throw new Error(`mergeRunLogs: ${out} is there already; give a new name or remove it`);
  const lines = new Map<string, { line: RunLine; path: string; content: string }>();
  const from: { path: string; trials: number }[] = [];
  let repeated = 0;
  for (const path of paths) {
    let trials = 0;
    for (const line of await readRunLog(path)) {
      const content = contentKey(line.trial);
      const known = lines.get(line.key);
      if (known === undefined) {
        lines.set(line.key, { line, path, content });
        trials++;
        continue;
      }
      repeated++;
      if (known.content !== content)
        throw new Error(
          `mergeRunLogs: trial ${line.key} is not the same in ${known.path} and ${path}: the machines that computed them ` +
            "disagree (another processor or library?); merge only logs that agree",
        );
    }
    from.push({ path, trials });
  }
  const draft = `${out}.${process.pid}.writing`;
  const file = await openRunLogFile(draft);
  try {
    await file.append([...lines.values()].map(({ line }) => line));
    await file.close();
    await rename(draft, out);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
  return { trials: lines.size, repeated, from };
}

/**
 * What a log says, without when and how fast: one line a trial with `key` and `trial`, in the order of the keys. Two runs that
 * asked the same on the same kind of machine have the same text, byte for byte.
 */
export function canonicalLog(lines: readonly Pick<RunLine, "key" | "trial">[]): string {
  const byKey = new Map(lines.map(({ key, trial }) => [key, JSON.stringify({ key, trial })]));
  return [...byKey]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => `${text}\n`)
    .join("");
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
