/**
 * The registry of a report run: when the environment variable `COUNTLENS_REPORT` names a folder, everything that is
 * shown or published is also written there, its files under `figures/` and one line in `figures.jsonl`.
 */
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { findBrowser } from "./browser.js";
import { exportFigure } from "./export.js";
import type { FigureSpec, ProvenanceRecord, Row } from "./figure-spec.js";
import { type TableOptions, tableCsv, tableHtml } from "./table.js";

/** One line of `figures.jsonl`. */
export interface ReportEntry {
  /** Notebook's name without its ending. */
  readonly notebook: string;
  /** The figure's (or table's) name. */
  readonly figure: string;
  readonly caption: string;
  /** The number it stands for, in words: `horizon 22`. */
  readonly headline?: string;
  readonly value?: number;
  /** Paths relative to the report's folder, with forward slashes. */
  readonly files: readonly string[];
  readonly provenance?: ProvenanceRecord;
  /** How long it took, from the one before it in the same notebook. */
  readonly seconds: number;
}

/** What a report says beside a figure. */
export interface PublishOptions {
  /** The number the figure stands for, in a few words, computed from its data. */
  readonly headline?: string;
  readonly value?: number;
  /** Replaces the figure's caption in the report. */
  readonly caption?: string;
  /** Default: the time since the previous entry. */
  readonly seconds?: number;
  /** Default: the environment variable `COUNTLENS_NOTEBOOK`, else `notebook`. */
  readonly notebook?: string;
}

let before = performance.now();
let turn: Promise<unknown> = Promise.resolve();

/** Starts the clock of the next entry (a notebook runner calls it before each notebook). */
export function startClock(): void {
  before = performance.now();
}

/** Writes a figure into the running report; returns its entry, or undefined where no report is being made. */
export function publish(figure: FigureSpec, options: PublishOptions = {}): Promise<ReportEntry | undefined> {
  return inReport(options, async (folder, stem) => {
    const drawn = findBrowser() === undefined ? [] : (["svg", "pdf", "png"] as const);
    const paths = await exportFigure(figure, {
      folder,
      name: stem(figure.meta.name),
      formats: [...drawn, "csv", "json"],
    });
    return {
      name: figure.meta.name,
      caption: figure.meta.caption,
      provenance: figure.meta.provenance,
      paths,
    };
  });
}

/** The same for a table, which needs a name. */
export interface PublishTableOptions extends PublishOptions, TableOptions {
  readonly name: string;
  readonly provenance?: ProvenanceRecord;
}

/** Writes a table into the running report: its CSV and its HTML. */
export function publishTable(
  rows: readonly Row[],
  options: PublishTableOptions,
): Promise<ReportEntry | undefined> {
  return inReport(options, async (folder, stem) => {
    const paths = ["csv", "html"].map((ending) => join(folder, `${stem(options.name)}.${ending}`));
    await writeFile(paths[0]!, tableCsv(rows, { table: options.name, ...options.provenance }, options));
    const { caption: _, ...rest } = options;
    await writeFile(paths[1]!, tableHtml(rows, rest));
    return {
      name: options.name,
      caption: options.caption ?? options.name,
      provenance: options.provenance,
      paths,
    };
  });
}

/** Entries of a report folder, in the order they were made. No registry there is an empty list. */
export async function readRegistry(folder: string): Promise<ReportEntry[]> {
  const text = await readFile(join(folder, "figures.jsonl"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  // Another notebook may be writing its line this very moment: what has no end yet is not there yet.
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line, i) => {
      try {
        return JSON.parse(line) as ReportEntry;
      } catch {
        throw new Error(
          `readRegistry: line ${i + 1} of ${join(folder, "figures.jsonl")} is not JSON; delete the folder and run the report again`,
        );
      }
    });
}

interface Written {
  readonly name: string;
  readonly caption: string;
  readonly provenance: ProvenanceRecord | undefined;
  readonly paths: readonly string[];
}

// One entry at a time: the clock and the order of lines are shared.
function inReport(
  options: PublishOptions,
  write: (folder: string, stem: (name: string) => string) => Promise<Written>,
): Promise<ReportEntry | undefined> {
  const report = process.env.COUNTLENS_REPORT;
  if (!report) return Promise.resolve(undefined);
  const took = options.seconds ?? (performance.now() - before) / 1000;
  const notebook = options.notebook ?? process.env.COUNTLENS_NOTEBOOK ?? "notebook";
  const entry = turn.then(async () => {
    const folder = join(report, "figures");
    await mkdir(folder, { recursive: true });
    const written = await write(folder, (name) => `${notebook}-${name}`.replace(/[^A-Za-z0-9._-]/g, "-"));
    const made: ReportEntry = {
      notebook,
      figure: written.name,
      caption: options.caption ?? written.caption,
      ...(options.headline === undefined ? {} : { headline: options.headline }),
      ...(options.value === undefined ? {} : { value: options.value }),
      files: written.paths.map((path) => `figures/${basename(path)}`),
      ...(written.provenance === undefined ? {} : { provenance: written.provenance }),
      seconds: Math.round(took * 1000) / 1000,
    };
    await appendFile(join(report, "figures.jsonl"), `${JSON.stringify(made)}\n`);
    startClock();
    return made;
  });
  turn = entry.catch(() => undefined);
  return entry;
}
