/** What the child processes have in common: where their programs are, and what they may know. */
import { existsSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Compiled, the programs lie beside this file. Run from source (in tests), they are in the build. */
export function childFile(name: string): string {
  const here = fileURLToPath(import.meta.url);
  if (here.endsWith(".js")) return join(here, "..", name);
  const source = `${sep}src${sep}engine${sep}child-process.ts`;
  const built = here.replace(source, `${sep}dist${sep}src${sep}engine${sep}${name}`);
  if (!existsSync(built)) throw new Error(`engine: ${built} is missing; run npm run build`);
  return built;
}

/**
 * llama.cpp would start a debugger on an abort. Nothing that looks like a secret goes into a process without need. And glibc, left to
 * itself, soon keeps freed blocks of up to 32 MB: large ones go back to the system at once.
 */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i.test(name),
  );
  return { MALLOC_MMAP_THRESHOLD_: "1048576", ...Object.fromEntries(kept), GGML_NO_BACKTRACE: "1" };
}
