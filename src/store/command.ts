/** Commands of package.json: a module that is started, not imported, runs its function. */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Where a command's lines go, and whether a bar can be drawn. */
export interface CommandOutput {
  readonly line: (text: string) => unknown;
  readonly error: (text: string) => unknown;
  /** Draws over the current line; absent where output is no terminal. */
  readonly redraw?: (text: string) => unknown;
}

/** The answer is the exit code: 0 done, 1 failed, 2 wrong use, 130 stopped where that is told apart. */
export type Command = (args: readonly string[], out: CommandOutput, signal: AbortSignal) => Promise<number>;

/** Runs `command` when the module at `url` is what Node was started with. Ctrl-C asks it to stop, a second one ends it. */
export function runAsCommand(url: string, command: Command): void {
  const started = process.argv[1];
  if (started === undefined || realpathSync(started) !== fileURLToPath(url)) return;
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort(new Error("interrupted")));
  process.once("SIGTERM", () => stop.abort(new Error("ended by the system")));
  const out: CommandOutput = {
    line: (text) => process.stdout.write(`${text}\n`),
    error: (text) => process.stderr.write(`${text}\n`),
    ...(process.stderr.isTTY === true && {
      redraw: (text: string) => process.stderr.write(`\r\x1b[K${text}`),
    }),
  };
  command(process.argv.slice(2), out, stop.signal).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      out.error(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    },
  );
}
