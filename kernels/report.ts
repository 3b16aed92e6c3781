/** `npm start`: runs every notebook on its defaults and collects what they show in `report/`. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type ReportEntry, readRegistry } from "../src/figures/registry.js";
import { type ReportNotebook, writeReport } from "../src/figures/report-page.js";
import { type CommandOutput, runAsCommand } from "../src/store/command.js";
import { projectRoot } from "../src/store/project-root.js";
import { plainTraceback } from "./cell-error.js";
import { findNotebook, notebookFiles, notebookText, readNotebook } from "./notebook-file.js";
import { failureLine, type NotebookRun, runNotebook } from "./run-notebook.js";

const usage = `npm start [-- options]

  --only A,B     only these notebooks (numbers or beginnings of names)
  --out DIR      folder of the report (default report)
  --timeout S    longest time of a cell in seconds (default 3600)
  --jobs N       notebooks that run at the same time (default: one a core, at most 4)`;

export interface ReportOrder {
  readonly notebooks: readonly string[];
  readonly folder: string;
  readonly timeout: number;
  /** Notebooks that run at the same time. */
  readonly jobs: number;
  readonly signal?: AbortSignal;
  readonly log: (line: string) => unknown;
}

/** One row of `summary.json`. */
export interface SummaryRow {
  readonly notebook: string;
  readonly figure: string;
  readonly headline: string | null;
  readonly value: number | null;
  readonly seconds: number;
}

/**
 * Runs the notebooks, some at a time, into `folder` and returns the failures, one line each. After every notebook the page
 * and the summary are whole, so that a run that is stopped leaves a report of what it had.
 */
export async function makeReport(order: ReportOrder): Promise<string[]> {
  const { folder, log } = order;
  for (const name of ["figures", "notebooks", "figures.jsonl", "summary.json", "index.html"]) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  mkdirSync(join(folder, "notebooks"), { recursive: true });
  const done: (ReportNotebook | undefined)[] = order.notebooks.map(() => undefined);
  const began = performance.now();
  let lastPage: Promise<void> = Promise.resolve();
  const page = (): Promise<void> => {
    lastPage = lastPage.then(() =>
      writePage(
        folder,
        done.filter((one) => one !== undefined),
        (performance.now() - began) / 1000,
      ),
    );
    return lastPage;
  };
  await page();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < order.notebooks.length && !order.signal?.aborted) {
      const index = next++;
      const path = order.notebooks[index]!;
      const notebook = basename(path, ".ipynb");
      log(`${notebook}: started  (${index + 1} of ${order.notebooks.length})`);
      const outcome = await runOne(path, order);
      log(`${notebook}: ${outcome.seconds.toFixed(1)} s`);
      for (const entry of await readRegistry(folder)) if (entry.notebook === notebook) log(figureLine(entry));
      if (outcome.error !== undefined) log(`  failed: ${outcome.error}`);
      done[index] = { notebook, ...outcome };
      await page();
    }
  };
  await Promise.all(Array.from({ length: order.jobs }, worker));
  return done.flatMap((one) => one?.error ?? []);
}

type Outcome = Omit<ReportNotebook, "notebook"> & { readonly seconds: number };

async function runOne(path: string, order: ReportOrder): Promise<Outcome> {
  const name = basename(path, ".ipynb");
  let run: NotebookRun;
  try {
    run = await runNotebook(path, {
      cellTimeout: order.timeout,
      env: { COUNTLENS_REPORT: order.folder, COUNTLENS_NOTEBOOK: name },
      ...(order.signal ? { signal: order.signal } : {}),
    });
  } catch (error) {
    return { seconds: 0, error: (error as Error).message };
  }
  writeFileSync(join(order.folder, "notebooks", `${name}.ipynb`), notebookText(run.notebook));
  const title = titleOf(path);
  const outcome = { ...(title === undefined ? {} : { title }), seconds: run.seconds };
  if (!run.failure) return outcome;
  return { ...outcome, error: `${failureLine(run.failure)}\n${plainTraceback(run.failure.error)}` };
}

/** The notebook's first heading. */
function titleOf(path: string): string | undefined {
  const texts = readNotebook(path).cells.filter((cell) => cell.cell_type === "markdown");
  for (const cell of texts) {
    const heading = /^#\s+(.+)$/m.exec(cell.source);
    if (heading) return heading[1];
  }
  return undefined;
}

function figureLine(entry: ReportEntry): string {
  return `  ${entry.figure}: ${entry.headline ?? entry.caption}  [${entry.seconds.toFixed(1)} s]`;
}

async function writePage(
  folder: string,
  notebooks: readonly ReportNotebook[],
  seconds: number,
): Promise<void> {
  const entries = (await readRegistry(folder)).sort((a, b) =>
    a.notebook < b.notebook ? -1 : Number(a.notebook > b.notebook),
  );
  const rows: SummaryRow[] = entries.map((entry) => ({
    notebook: entry.notebook,
    figure: entry.figure,
    headline: entry.headline ?? null,
    value: entry.value ?? null,
    seconds: entry.seconds,
  }));
  const summary = join(folder, "summary.json");
  writeFileSync(`${summary}.part`, `${JSON.stringify(rows, null, 2)}\n`);
  renameSync(`${summary}.part`, summary);
  await writeReport(folder, {
    notebooks,
    notebookLink: "notebooks/{notebook}.ipynb",
    provenance: { ...runProvenance(), seconds: Math.round(seconds * 10) / 10 },
  });
}

/** On what the whole run was made. */
function runProvenance(): Record<string, unknown> {
  const root = projectRoot();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return {
    countlens: version,
    commit: gitCommit(root),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processor: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    date: new Date().toISOString(),
  };
}

function gitCommit(root: string): string | undefined {
  try {
    const git = (...words: string[]): string =>
      execFileSync("git", ["-C", root, ...words], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim();
    return git("status", "--porcelain") === ""
      ? git("rev-parse", "HEAD")
      : `${git("rev-parse", "HEAD")} with changes`;
  } catch {
    return undefined;
  }
}

async function reportCommand(
  argv: readonly string[],
  out: CommandOutput,
  signal: AbortSignal,
): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: "string" },
      out: { type: "string", default: "report" },
      timeout: { type: "string", default: "3600" },
      jobs: { type: "string", default: String(Math.min(4, availableParallelism())) },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    out.line(usage);
    return 0;
  }
  const root = projectRoot();
  const all = join(root, "notebooks");
  const notebooks = values.only?.split(",").map((name) => findNotebook(name, all)) ?? notebookFiles(all);
  const timeout = Number(values.timeout);
  if (!(timeout >= 0)) throw new Error(`report: --timeout ${values.timeout}; expected seconds, 0 or more`);
  const jobs = Number(values.jobs);
  if (!(Number.isInteger(jobs) && jobs >= 1))
    throw new Error(`report: --jobs ${values.jobs}; expected 1 or more`);
  const folder = resolve(root, values.out);
  const log = (line: string): unknown => out.line(line);
  const failures = await makeReport({ notebooks, folder, timeout, jobs, signal, log });
  log(`report: ${relative(process.cwd(), join(folder, "index.html"))}`);
  for (const failure of failures) out.error(`failed: ${failure.split("\n")[0]}`);
  if (signal.aborted) out.error("stopped; the report holds what had been done");
  return failures.length > 0 || signal.aborted ? 1 : 0;
}

runAsCommand(import.meta.url, reportCommand);
