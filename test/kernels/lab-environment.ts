/** The environment of `npm run lab`, which the tests of the kernel and of JupyterLab share. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { installKernel, installLab, labProgram } from "../../kernels/lab.js";

/** Makes the environment if need be. Why it cannot be had, or undefined. */
export function labMissing(): string | undefined {
  try {
    installLab((line) => console.log(line));
    installKernel();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs a Python script of the tests with JSON as input; its JSON answer. */
export function askPython(script: string, input: unknown, words: readonly string[] = []): unknown {
  const ran = spawnSync(labProgram("python"), [script, ...words], {
    input: JSON.stringify(input),
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    // Jupyter looks for kernels of other installations too; these tests want this one's.
    env: { ...process.env, JUPYTER_PREFER_ENV_PATH: "1", PYTHONDONTWRITEBYTECODE: "1" },
  });
  if (ran.status !== 0) throw new Error(`${script}: ${ran.stderr.slice(-4000)}`);
  return JSON.parse(ran.stdout);
}

export const pythonThere = (): boolean => existsSync(labProgram("python"));
