/** `npm run runs -- merge OUT LOG... | check LOG | canonical LOG`. */
import { type CommandOutput, runAsCommand } from "./command.js";
import { canonicalLog, mergeRunLogs } from "./merge-logs.js";
import { readRunLog } from "./run-log-file.js";

const USAGE = `usage: npm run runs -- COMMAND
  merge OUT LOG...   put the logs of shards together in a new file; trials that differ between them are an error
  check LOG          read every line and say how many trials there are
  canonical LOG      print it without dates and times, in a fixed order: equal runs print equal bytes`;

/** Runs the command; the answer is the exit code: 0 done, 1 failed, 2 wrong use. */
export async function runsCommand(args: readonly string[], out: CommandOutput): Promise<number> {
  const [verb, first, ...more] = args;
  if (verb === "--help" || verb === "help") {
    out.line(USAGE);
    return 0;
  }
  const right =
    verb === "merge" ? more.length > 0 : verb === "check" || verb === "canonical" ? more.length === 0 : false;
  if (first === undefined || !right || args.some((arg) => arg.startsWith("-"))) {
    out.error(USAGE);
    return 2;
  }
  try {
    if (verb === "merge") {
      const { trials, repeated, from } = await mergeRunLogs(first, more);
      for (const log of from) out.line(`${log.path}: ${log.trials} trials`);
      out.line(`${first}: ${trials} trials${repeated > 0 ? `, ${repeated} were in more than one log` : ""}`);
      return 0;
    }
    const lines = await readRunLog(first);
    if (verb === "canonical") {
      out.line(canonicalLog(lines).trimEnd());
      return 0;
    }
    const dates = lines.map(({ run }) => run.date).sort();
    const when = dates.length === 0 ? "" : `, from ${dates[0]} to ${dates.at(-1)}`;
    out.line(`${first}: ${lines.length} trials, every sum right${when}`);
    return 0;
  } catch (error) {
    out.error((error as Error).message);
    return 1;
  }
}

runAsCommand(import.meta.url, runsCommand);
