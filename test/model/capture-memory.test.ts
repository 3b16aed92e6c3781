import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { resolveModel } from "../../src/store/resolve-model.js";

const root = mkdtempSync(join(tmpdir(), "countlens-memory-"));
afterAll(() => rmSync(root, { recursive: true }));
const build = join(import.meta.dirname, "..", "..", "dist", "src", "index.js");

/** Resident memory of a process and its children (the engine's) together, bytes: a page that two of them share counts once. */
function resident(pid: number): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parentOf = (process: string) => {
    try {
      return Number(readFileSync(`/proc/${process}/stat`, "utf8").split(") ")[1]!.split(" ")[1]);
    } catch {
      return -1;
    }
  };
  return [String(pid), ...all.filter((process) => parentOf(process) === pid)].reduce((sum, process) => {
    try {
      const rollup = readFileSync(`/proc/${process}/smaps_rollup`, "utf8");
      return sum + 1024 * Number(/^Pss:\s+(\d+)/m.exec(rollup)![1]);
    } catch {
      return sum;
    }
  }, 0);
}

interface Measured {
  readonly opened: number;
  readonly most: number;
  readonly written: number;
  readonly rows: number;
}

/** Captures hook points of these kinds in all layers, at all positions of `prompts` prompts in a process of its own, as a user's program would. */
async function capture(
  model: string,
  kinds: readonly string[],
  options: object,
  prompts: number,
  words: number,
): Promise<Measured> {
  const store = join(root, model);
  const code = `import { captureActivations, open } from ${JSON.stringify(build)};
    const model = await open(${JSON.stringify(model)}, { template: "", threads: 1, ...${JSON.stringify(options)} });
    const hooks = model.info.hookPoints.map(({ hook }) => hook).filter(({ kind }) => ${JSON.stringify(kinds)}.includes(kind));
    const words = "one two red blue cat dog tree house runs sleeps over under a b c d".split(" ");
    const text = (i) => Array.from({ length: ${words} }, (_, k) => words[(i * (k + 3) + k * k + (i >> k)) % words.length]).join(" ");
    const prompts = await model.prompts(Array.from({ length: ${prompts} }, (_, i) => ({ user: i + " " + text(i) })));
    console.log("open");
    await new Promise((resolve) => process.stdin.once("data", resolve));
    const set = await captureActivations(model, prompts.map(({ tokens }) => ({ tokens })), { hooks, store: ${JSON.stringify(store)} });
    console.log(JSON.stringify({ rows: set.rows, written: set.index.shards.reduce((sum, { bytes }) => sum + bytes, 0) }));
    await model.close();
    process.exit(0);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (text) => {
    said += text;
  });
  while (!said.includes("open") && child.exitCode === null) await sleep(20);
  const opened = resident(child.pid!);
  child.stdin.write("go\n");
  let most = opened;
  while (child.exitCode === null && child.signalCode === null) {
    most = Math.max(most, resident(child.pid!));
    await sleep(20);
  }
  rmSync(store, { recursive: true, force: true });
  return { opened, most, ...(JSON.parse(said.split("\n")[1]!) as { rows: number; written: number }) };
}

function report(model: string, { opened, most, written, rows }: Measured): void {
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(
    `${model}: ${mb(written)} in ${rows} rows written; resident ${mb(opened)} when open, at most ${mb(most)}`,
  );
}

const linux = existsSync("/proc/self/smaps_rollup");

describe.skipIf(!linux)("memory while capturing to disk", () => {
  it("stays flat: a small organism, several times its memory in activations", async () => {
    const kinds = ["residMid", "residPost", "attnOut", "mlpOut", "heads"];
    const measured = await capture("tally-400k", kinds, {}, 900, 12);
    report("tally-400k", measured);
    expect(measured.written).toBeGreaterThan(250e6);
    expect(measured.most).toBeLessThan(statSync((await resolveModel("tally-400k")).path).size + 200e6);
  }, 600_000);

  // 262 to 289 MB in five runs, of 298: how far Node lets its young objects grow depends on timing, so a run above is tried again.
  const again = { retry: 2, timeout: 900_000 };
  it(
    "1,000 prompts at all layers of SmolLM2: both processes stay within the model's size and 200 MB",
    again,
    async () => {
      const { path } = await resolveModel("smollm2-135m-instruct");
      const measured = await capture("smollm2-135m-instruct", ["residPost"], {}, 1000, 4);
      report("smollm2-135m-instruct", measured);
      expect(measured.written).toBeGreaterThan(350e6);
      expect(measured.most).toBeLessThan(statSync(path).size + 200e6);
    },
  );
});
