/** Commands of package.json: a module that is started, not imported, runs its function. */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Runs `command` when the module at `url` is what Node was started with; its result is the exit code. */
export function runAsCommand(url: string, command: (argv: readonly string[]) => Promise<number>): void {
  const started = process.argv[1];
  if (started === undefined || realpathSync(started) !== fileURLToPath(url)) return;
  command(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    },
  );
}
