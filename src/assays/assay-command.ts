/** `npm run assay -- NAME ...`: an assay from the command line, with a log, whole or one shard of it. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { open } from "../model/open.js";
import { type CommandOutput, runAsCommand } from "../store/command.js";
import { parseShard } from "../store/shard.js";
import { taskNamed } from "../tasks/known-tasks.js";
import { type Answerer, fromModel } from "./answerer.js";
import { denseSweep } from "./dense-sweep.js";
import { motifCapacities } from "./motifs.js";
import { seededCapacities } from "./seeded-capacities.js";
import { type VerificationMode, zeroErrorHorizon } from "./zero-error-horizon.js";

const USAGE = `usage: npm run assay -- ASSAY [options]
  horizon    --task NAME (default multiplication), --up-to N (99), --whole-grid, --template NAME, --mode MODE
  capacity   --seeds 1-20 or 1,5,7 (default 1), --ceiling N (65536): a ladder for each seed
  sweep      --to N, --from N (1), --step N (1): every count
  motifs     --item TEXT, --delimiter TEXT (each several times), --seeds N, --ceiling N: a ladder for each pair
options of all
  --model NAME       a path to a GGUF, a name from npm run models -- list, or hf:owner/repo:quant; default tally-400k
  --log FILE         finished trials are found in it and added to it: start the same command again to go on after a stop
  --shard i/n        only piece i of n (from 1); needs --log. Merge the logs with npm run runs -- merge, then run without --shard
  --out FILE         the whole result as JSON
  --max-tokens N     most tokens of an answer; default 64
  --threads N        default: measured
  --in-process       the engine in this process rather than in one of its own`;

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const list = { type: "string", multiple: true } as const;
const OPTIONS = {
  task: text,
  "up-to": text,
  "whole-grid": flag,
  template: text,
  mode: text,
  seeds: text,
  ceiling: text,
  to: text,
  from: text,
  step: text,
  item: list,
  delimiter: list,
  model: text,
  log: text,
  shard: text,
  out: text,
  "max-tokens": text,
  threads: text,
  "in-process": flag,
  help: flag,
} as const;

type Values = ReturnType<typeof read>["values"];

interface Found {
  readonly headline: string;
  readonly result: unknown;
}

const ASSAYS = new Set(["horizon", "capacity", "sweep", "motifs"]);

/** Runs the command; the answer is the exit code: 0 done, 1 failed, 2 wrong use. */
export async function assayCommand(
  args: readonly string[],
  out: CommandOutput,
  signal?: AbortSignal,
): Promise<number> {
  let parsed: ReturnType<typeof read>;
  try {
    parsed = read(args);
  } catch (error) {
    out.error(`assay: ${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const [name = "", ...rest] = positionals;
  if (values.help === true) {
    out.line(USAGE);
    return 0;
  }
  if (!ASSAYS.has(name) || rest.length > 0) {
    out.error(USAGE);
    return 2;
  }
  try {
    const plan = planOf(values, signal);
    const threads = number(values, "threads");
    const model = await open(values.model, {
      ...(signal && { signal }),
      ...(threads !== undefined && { threads }),
      ...(values["in-process"] === true && { isolated: false }),
    });
    try {
      const maxTokens = number(values, "max-tokens") ?? 64;
      const { headline, result } =
        name === "horizon"
          ? await horizon(model, values, { ...plan, maxTokens })
          : await counting(name, fromModel(model, { maxTokens }), values, plan);
      if (values.out !== undefined) await writeFile(values.out, `${JSON.stringify(result, null, 1)}\n`);
      out.line(`${model.info.name}: ${plan.shard === undefined ? headline : shardLine(plan)}`);
      return 0;
    } finally {
      await model.close();
    }
  } catch (error) {
    const kept = values.log === undefined ? "" : `; finished trials are in ${values.log}`;
    out.error(
      signal?.aborted === true ? `stopped${kept}` : error instanceof Error ? error.message : String(error),
    );
    return 1;
  }
}

function read(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
}

type Plan = ReturnType<typeof planOf>;

function planOf(values: Values, signal: AbortSignal | undefined) {
  const shard = values.shard === undefined ? undefined : parseShard(values.shard);
  return {
    ...(values.log !== undefined && { log: values.log }),
    ...(shard !== undefined && { shard }),
    ...(signal && { signal }),
  };
}

function shardLine({ shard, log }: Plan): string {
  return `shard ${shard?.index} of ${shard?.of} is done, in ${log}`;
}

async function horizon(
  model: Awaited<ReturnType<typeof open>>,
  values: Values,
  plan: Plan & { readonly maxTokens: number },
): Promise<Found> {
  const result = await zeroErrorHorizon(model, taskNamed(values.task ?? "multiplication"), {
    ...plan,
    upTo: number(values, "up-to") ?? 99,
    wholeGrid: values["whole-grid"] === true,
    ...(values.template !== undefined && { template: values.template }),
    ...(values.mode !== undefined && { mode: values.mode as VerificationMode }),
  });
  const { horizon, reached, limiters, accuracy, instances } = result;
  const first = limiters[0];
  const headline =
    `${result.task}: horizon ${reached ? "" : "at least "}${horizon}, ` +
    `${instances.length} instances, ${(100 * accuracy).toFixed(2)} % right` +
    (first === undefined ? "" : `; ${limiters.length} limiters, the first ${first.key} (${first.expected})`);
  return { headline, result };
}

async function counting(name: string, answerer: Answerer, values: Values, plan: Plan): Promise<Found> {
  const ceiling = number(values, "ceiling");
  const ladder = { ...plan, ...(ceiling !== undefined && { ceiling }) };
  const seeds = seedsOf(values.seeds ?? "1");
  if (name === "sweep") {
    const [from, step] = [number(values, "from"), number(values, "step")];
    const to = number(values, "to");
    if (to === undefined) throw new Error("assay: sweep needs --to N, the last count");
    const result = await denseSweep(answerer, {
      ...plan,
      to,
      ...(from !== undefined && { from }),
      ...(step !== undefined && { step }),
    });
    const { exactTo, firstError } = result.boundary;
    return { headline: `exact to ${exactTo ?? "none"}, first error at ${firstError ?? "none"}`, result };
  }
  if (name === "motifs") {
    const result = await motifCapacities(answerer, {
      ...ladder,
      items: values.item ?? ["a"],
      delimiters: values.delimiter ?? [", "],
      seed: seeds[0]!,
    });
    const rows = result.map(({ item, delimiter, label }) => `${JSON.stringify(item + delimiter)} ${label}`);
    return { headline: rows.join(", "), result };
  }
  const result = await seededCapacities(answerer, { ...ladder, seeds });
  return { headline: `capacity ${result.map(({ label }) => label).join(", ")}`, result };
}

function number(
  values: Values,
  name: "up-to" | "ceiling" | "to" | "from" | "step" | "max-tokens" | "threads",
) {
  const given = values[name];
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`assay: --${name} ${given}; expected a whole number from 1`);
  return value;
}

function seedsOf(given: string): number[] {
  const range = /^(\d{1,9})-(\d{1,9})$/.exec(given);
  const seeds = range
    ? Array.from(
        { length: Math.max(0, Number(range[2]) - Number(range[1]) + 1) },
        (_, i) => Number(range[1]) + i,
      )
    : given.split(",").map(Number);
  if (
    seeds.length === 0 ||
    seeds.length > 100_000 ||
    seeds.some((seed) => !Number.isSafeInteger(seed) || seed < 0)
  )
    throw new Error(`assay: --seeds ${given}; expected numbers such as 1-20 or 1,5,7`);
  return seeds;
}

runAsCommand(import.meta.url, assayCommand);
