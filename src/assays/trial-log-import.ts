/**
 * Other people's tables: trial logs and benchmark scores from CSV, TSV, JSONL or JSON, with the columns named by you.
 *
 * Published logs (of the paper's 126 models: `counting-published` in the catalogue says where) are then scored and drawn by
 * the same functions as one's own.
 */
import { access } from "node:fs/promises";
import { formatClass } from "../tasks/format-class.js";
import { parseCount } from "../tasks/parse-count.js";
import type { ModelScore } from "./capacity-correlation.js";
import { type LadderEnd, type LadderOptions, ladderRules, nextStep } from "./ladder.js";
import { scoreTier, type TierScore } from "./tier.js";
import type { CountTrial } from "./trial.js";

/** Names of the file's columns. `target` is needed, and `response` or `prediction`. */
export interface TrialColumns {
  readonly model?: string;
  readonly target: string;
  readonly response?: string;
  /** Parsed answer; without it, or where it is empty, the response is parsed here. */
  readonly prediction?: string;
  /** Length of the ladder's tier. Without it trials have no tier. */
  readonly tier?: string;
  readonly task?: string;
  readonly inputTokens?: string;
  readonly outputTokens?: string;
  readonly reasoningTokens?: string;
  readonly date?: string;
}

/** What an imported log may lack. */
export interface ImportOptions {
  /** Name of the model where the file has no column for it. Default `imported`. */
  readonly model?: string;
  /** Most rows that may be without a target. Default 0: the first one is an error. */
  readonly skip?: number;
}

/** Trials read from another program's log. */
export interface ImportedTrials {
  readonly trials: readonly CountTrial[];
  /** Rows without a whole number as target. */
  readonly skipped: number;
}

type Row = Readonly<Record<string, unknown>>;

/**
 * Trials from a file. The format follows the name's ending: `.csv`, `.tsv`, `.jsonl` (or `.ndjson`), `.json` (an array of objects).
 *
 * @example
 * const { trials } = await importTrials("runs.jsonl", { model: "model_id", target: "true_count", response: "raw", tier: "L" });
 */
export async function importTrials(
  path: string,
  columns: TrialColumns,
  options: ImportOptions = {},
): Promise<ImportedTrials> {
  if (columns.response === undefined && columns.prediction === undefined)
    throw new Error("importTrials: columns has neither response nor prediction; expected at least one");
  const rows = await readTable("importTrials", path, Object.values(columns));
  const trials: CountTrial[] = [];
  let skipped = 0;
  for (const [i, row] of rows.entries()) {
    const target = numberAt(row, columns.target);
    if (target === null || !Number.isSafeInteger(target)) {
      skipped += 1;
      if (skipped > (options.skip ?? 0))
        throw new Error(
          `importTrials: row ${i + 1} has ${JSON.stringify(row[columns.target])} at ${columns.target}; expected a whole number (allow some with skip)`,
        );
      continue;
    }
    trials.push(trialOf(row, target, columns, options));
  }
  return { trials: numberTrials(trials), skipped };
}

function trialOf(row: Row, target: number, columns: TrialColumns, options: ImportOptions): CountTrial {
  const text = columns.response === undefined ? undefined : textAt(row, columns.response);
  const given = columns.prediction === undefined ? null : numberAt(row, columns.prediction);
  const prediction = given ?? (text === undefined ? null : parseCount(text).value);
  const response = text ?? (prediction === null ? "" : String(prediction));
  const optional = (column: string | undefined) => (column === undefined ? null : numberAt(row, column));
  return {
    model: (columns.model && textAt(row, columns.model)) || (options.model ?? "imported"),
    task: (columns.task && textAt(row, columns.task)) || "counting",
    tier: optional(columns.tier),
    k: null,
    target,
    response,
    prediction,
    format: formatClass(response),
    exact: prediction === target,
    error: prediction === null ? null : prediction - target,
    ended: true,
    inputTokens: optional(columns.inputTokens),
    outputTokens: optional(columns.outputTokens),
    reasoningTokens: optional(columns.reasoningTokens),
    ms: null,
    decoding: "imported",
    date: (columns.date && textAt(row, columns.date)) || "",
  };
}

/** Indices within each model, task and tier, in the order of the file. */
function numberTrials(trials: readonly CountTrial[]): CountTrial[] {
  const next = new Map<string, number>();
  return trials.map((trial) => {
    if (trial.tier === null) return trial;
    const key = JSON.stringify([trial.model, trial.task, trial.tier]);
    const k = next.get(key) ?? 0;
    next.set(key, k + 1);
    return { ...trial, k };
  });
}

/** The capacity that imported trials give by our rules. */
export interface ImportedCapacity {
  readonly model: string;
  readonly capacity: number | null;
  readonly label: string;
  readonly plotted: number;
  readonly bracket: readonly [number | null, number | null];
  /** `unfinished`: by our rules the ladder would have gone on, to a tier that the log does not have. */
  readonly end: LadderEnd | "unfinished";
  readonly tiers: readonly (TierScore & { readonly length: number; readonly trials: number })[];
  readonly trials: readonly CountTrial[];
}

/**
 * Capacities of imported trials, one for each model: every tier is scored by the definition (its own number of trials), then highest stable
 * and lowest failed tier decide. Trials without a tier are left out. Other people's ladders grow and bisect in other steps; whether ours
 * would have ended where theirs did is said in `end`.
 */
export function importedCapacities(
  trials: readonly CountTrial[],
  options: LadderOptions = {},
): ImportedCapacity[] {
  const rules = ladderRules(options);
  return [...new Set(trials.map(({ model }) => model))].map((model) => {
    const own = trials.filter((trial) => trial.model === model && trial.tier !== null);
    const lengths = [...new Set(own.map(({ tier }) => tier as number))].sort((a, b) => a - b);
    const tiers = lengths.map((length) => {
      const asked = own.filter(({ tier }) => tier === length);
      const targets = asked.map(({ target }) => target);
      const predictions = asked.map(({ prediction }) => prediction);
      return { length, trials: asked.length, ...scoreTier(length, targets, predictions, rules.threshold) };
    });
    const failed = tiers.find(({ stable }) => !stable)?.length ?? null;
    const stable = tiers
      .filter(({ length, stable }) => stable && (failed === null || length < failed))
      .at(-1);
    const step = nextStep(tiers, rules);
    const capacity = stable?.length ?? null;
    const label =
      capacity !== null
        ? `${failed === null ? ">=" : ""}${capacity}`
        : failed !== null && failed <= rules.start
          ? `<${rules.start}`
          : "not measured";
    return {
      model,
      capacity,
      label,
      plotted: capacity ?? 0,
      bracket: [capacity, failed],
      end: "end" in step ? step.end : "unfinished",
      tiers,
      trials: own,
    };
  });
}

/** Benchmark scores for `capacityCorrelation`, from any of the formats above. Rows without a number as score are left out. */
export async function readScores(
  path: string,
  columns: { readonly model: string; readonly score: string; readonly date?: string },
): Promise<ModelScore[]> {
  const rows = await readTable("readScores", path, Object.values(columns));
  return rows.flatMap((row) => {
    const score = numberAt(row, columns.score);
    const model = textAt(row, columns.model)?.trim();
    const date = columns.date === undefined ? undefined : textAt(row, columns.date)?.trim().slice(0, 10);
    return score === null || !model ? [] : [{ model, score, ...(date && { date }) }];
  });
}

/** All rows of a file, every value of a CSV as text, once all wanted columns are there. */
async function readTable(
  where: string,
  path: string,
  wanted: readonly (string | undefined)[],
): Promise<Row[]> {
  await access(path).catch(() => {
    throw new Error(`${where}: no file ${path}; give the path of a .csv, .tsv, .jsonl or .json file`);
  });
  const source = sourceOf(where, path);
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const database = await DuckDBInstance.create(":memory:");
  const connection = await database.connect();
  try {
    const reader = await connection.runAndReadAll(`SELECT * FROM ${source}`, { path });
    const names = reader.columnNames();
    const missing = wanted.find((name) => name !== undefined && !names.includes(name));
    if (missing !== undefined)
      throw new Error(`${where}: ${path} has no column ${missing}; it has ${names.join(", ")}`);
    return reader.getRowObjectsJson() as Row[];
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}

function sourceOf(where: string, path: string): string {
  const ending = /\.(csv|tsv|jsonl|ndjson|json)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined)
    throw new Error(`${where}: ${path} has no known ending; expected .csv, .tsv, .jsonl, .ndjson or .json`);
  if (ending === "csv" || ending === "tsv")
    return `read_csv($path, header = true, all_varchar = true, delim = '${ending === "tsv" ? "\\t" : ","}')`;
  const format = ending === "json" ? "array" : "newline_delimited";
  return `read_json($path, format = '${format}', records = true, sample_size = -1)`;
}

function textAt(row: Row, column: string): string | undefined {
  const value = row[column];
  if (value === null || value === undefined) return undefined;
  return typeof value === "string"
    ? value
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
}

function numberAt(row: Row, column: string): number | null {
  const text = textAt(row, column)?.trim();
  if (text === undefined || text === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
