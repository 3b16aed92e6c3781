/**
 * What a process of its own costs: the capture and the Zero-Error-Horizon workloads through both engines, in turn, on the same
 * number of threads.
 *
 * `npm run bench -- isolation [--capture-model NAME] [--zeh-model NAME] [--up-to N] [--repeats N] [--threads N]`
 */
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { zeroErrorHorizon } from "../../src/assays/zero-error-horizon.js";
import { residPost } from "../../src/engine/hooks.js";
import type { Model } from "../../src/model/model.js";
import { marginFloor } from "../../src/model/noise-floor.js";
import { open } from "../../src/model/open.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { type Emit, median } from "./line.js";

export const name = "isolation";

const LENGTH = 256;

export async function run(emit: Emit, args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const options = { "capture-model": text, "zeh-model": text, "up-to": text, repeats: text, threads: text };
  const { values } = parseArgs({ args, options });
  const repeats = Number(values.repeats ?? 7);
  const threads = values.threads === undefined ? undefined : Number(values.threads);
  const upTo = Number(values["up-to"] ?? 40);
  await compare(
    emit,
    "capture",
    values["capture-model"] ?? "smollm2-135m-instruct",
    repeats,
    threads,
    captureWork,
  );
  await compare(emit, "zeh", values["zeh-model"] ?? "tally-400k", repeats, threads, (model) =>
    zehWork(model, upTo),
  );
}

async function compare(
  emit: Emit,
  workload: string,
  spec: string,
  repeats: number,
  threads: number | undefined,
  prepare: (model: Model) => Promise<() => Promise<unknown>>,
): Promise<void> {
  const inline = await open(spec, { isolated: false, ...(threads !== undefined && { threads }) });
  const isolated = await open(spec, { threads: inline.info.settings.threads });
  const work = { inline: await prepare(inline), isolated: await prepare(isolated) };
  const ms = { inline: [] as number[], isolated: [] as number[] };
  const cpu = { inline: [] as number[], isolated: [] as number[] };
  for (let round = -1; round < repeats; round++) {
    // Whoever goes first in a round takes turns.
    const order = round % 2 === 0 ? (["inline", "isolated"] as const) : (["isolated", "inline"] as const);
    for (const which of order) {
      const [started, used] = [performance.now(), cpuMs()];
      await work[which]();
      // The first round pays for memory.
      if (round < 0) continue;
      ms[which].push(performance.now() - started);
      cpu[which].push(cpuMs() - used);
    }
  }
  const context = { workload, model: inline.info.name, threads: inline.info.settings.threads };
  const line = { bench: name, n: repeats, context };
  emit({ ...line, metric: "inline_ms", value: median(ms.inline), unit: "ms" });
  emit({ ...line, metric: "isolated_ms", value: median(ms.isolated), unit: "ms" });
  const ratio = ({ inline, isolated }: typeof ms) => median(isolated.map((time, i) => time / inline[i]!));
  // On a machine that does other work the processor's time says more than the clock.
  const told = { ...context, cpu: ratio(cpu), target: 1.05 };
  emit({ ...line, metric: "isolated_over_inline", value: ratio(ms), unit: "ratio", context: told });
  await inline.close();
  await isolated.close();
}

/** Processor time of this process and its children (the engine's), ms; NaN where the system does not say. */
function cpuMs(): number {
  try {
    const { user, system } = process.cpuUsage();
    let ticks = 0;
    for (const pid of readdirSync("/proc")) {
      if (!/^\d+$/.test(pid)) continue;
      const fields = statOf(pid);
      if (Number(fields[1]) === process.pid) ticks += Number(fields[11]) + Number(fields[12]);
    }
    return (user + system) / 1000 + ticks * 10;
  } catch {
    return Number.NaN;
  }
}

/** Fields of `/proc/PID/stat` from the state on; none where the process is gone. */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  } catch {
    return [];
  }
}

/** Every layer at every position of a long prompt: what crosses is large. */
async function captureWork(model: Model): Promise<() => Promise<unknown>> {
  const [tokens] = await model.engine.tokenize(["a, b; ".repeat(LENGTH)], false);
  const captures = Array.from({ length: model.info.layers }, (_, layer) => ({
    hook: residPost(layer),
    positions: "all" as const,
  }));
  return () => model.evaluate([{ tokens: tokens!.slice(0, LENGTH), captures }]);
}

/** A whole grid: many small requests, many small answers. */
async function zehWork(model: Model, upTo: number): Promise<() => Promise<unknown>> {
  const noiseFloor = await marginFloor(model);
  return () =>
    zeroErrorHorizon(model, multiplication(), { upTo, wholeGrid: true, texts: "limiters", noiseFloor });
}
