/** `npm run notebook -- 07 --model NAME --seed 3`: runs one notebook headless with other parameters. */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type CommandOutput, runAsCommand } from "../src/store/command.js";
import { projectRoot } from "../src/store/project-root.js";
import { plainTraceback } from "./cell-error.js";
import {
  findNotebook,
  notebookText,
  type Parameters,
  parameterNames,
  readNotebook,
} from "./notebook-file.js";
import { failureLine, runNotebook } from "./run-notebook.js";

const usage = `npm run notebook -- NAME [options]

  NAME            a notebook's number (07), the beginning of its name, or a path
  --model NAME    the parameter model; likewise --seed N and --PARAMETER VALUE for every other one
  --set A=JSON    any parameter by name; what is not JSON is taken as text
  --save FILE     write the executed notebook there, with its outputs
  --figures DIR   write every figure shown there as SVG, PDF, PNG and CSV, every table as HTML and CSV
  --timeout S     longest time of a cell in seconds (default 3600, 0 for none)
  --list          list the notebook's parameters and end
  --quiet         print failures only`;

interface Order {
  readonly name: string;
  readonly parameters: Parameters;
  readonly save: string | undefined;
  readonly figures: string | undefined;
  readonly timeout: number;
  readonly list: boolean;
  readonly quiet: boolean;
}

/** The command line as an order. Throws when it cannot be read. */
export function readOrder(argv: readonly string[]): Order {
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: { list: { type: "boolean" }, quiet: { type: "boolean" } },
  });
  const names: string[] = [];
  const given = new Map<string, string>();
  const parameters: Record<string, unknown> = {};
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token.kind === "positional") names.push(token.value);
    if (token.kind !== "option") continue;
    if (token.name === "list" || token.name === "quiet") {
      given.set(token.name, "true");
      continue;
    }
    // Every other option takes the next word as its value.
    let value = token.value;
    const next = tokens[i + 1];
    if (value === undefined && next?.kind === "positional") {
      value = next.value;
      i++;
    }
    if (value === undefined) throw new Error(`notebook: --${token.name} has no value; give it one`);
    if (token.name === "save" || token.name === "figures" || token.name === "timeout")
      given.set(token.name, value);
    else if (token.name === "set") {
      const equals = value.indexOf("=");
      if (equals < 1) throw new Error(`notebook: --set ${value}; expected name=value`);
      parameters[value.slice(0, equals)] = parameterValue(value.slice(equals + 1));
    } else parameters[token.name] = parameterValue(value);
  }
  if (names.length !== 1) throw new Error(usage);
  const timeout = Number(given.get("timeout") ?? 3600);
  if (!(timeout >= 0))
    throw new Error(`notebook: --timeout ${given.get("timeout")}; expected seconds, 0 or more`);
  return {
    name: names[0]!,
    parameters,
    save: given.get("save"),
    figures: given.get("figures"),
    timeout,
    list: given.has("list"),
    quiet: given.has("quiet"),
  };
}

function parameterValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Runs what the command line asks for; returns the exit code. */
export async function notebookCommand(
  argv: readonly string[],
  out: CommandOutput,
  signal?: AbortSignal,
): Promise<number> {
  if (argv.includes("--help")) {
    out.line(usage);
    return 0;
  }
  const order = readOrder(argv);
  const say = (line: string) => (order.quiet ? undefined : out.line(line));
  const path = findNotebook(order.name, join(projectRoot(), "notebooks"));
  if (order.list) {
    out.line(parameterNames(readNotebook(path)).let.join("\n"));
    return 0;
  }
  const name = basename(path, ".ipynb");
  const folder = order.figures === undefined ? undefined : resolve(order.figures);
  const run = await runNotebook(path, {
    ...(folder !== undefined && { env: { COUNTLENS_REPORT: folder, COUNTLENS_NOTEBOOK: name } }),
    parameters: order.parameters,
    cellTimeout: order.timeout,
    ...(signal && { signal }),
    onCell({ cell, cells, state, seconds }) {
      if (state === "ended") say(`${name}: cell ${cell}/${cells}  ${seconds.toFixed(1)} s`);
    },
    onOutput({ stream, text }) {
      if (!order.quiet) process[stream].write(text);
    },
  });
  if (order.save !== undefined) {
    const file = resolve(order.save);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, notebookText(run.notebook));
    say(`written: ${file}`);
  }
  if (folder !== undefined) say(`figures: ${join(folder, "figures")}`);
  if (run.failure) {
    out.error(failureLine(run.failure));
    out.error(plainTraceback(run.failure.error));
    return 1;
  }
  say(`${name}: done in ${run.seconds.toFixed(1)} s`);
  return 0;
}

runAsCommand(import.meta.url, notebookCommand);
