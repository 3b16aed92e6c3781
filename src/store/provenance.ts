/** What a number was computed with: the record that every result carries. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { basename, join } from "node:path";
import { projectRoot } from "./project-root.js";

/** Plain data: what JSON keeps. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Which weights. */
export interface ProvenanceModel {
  readonly name: string;
  /** File name without its folder, which says nothing to others. */
  readonly file: string;
  readonly sha256: string;
  /** False where nobody states a sha256 to compare with: a flipped weight would not be noticed. */
  readonly verified?: boolean;
  readonly architecture: string;
  readonly quantisation: string;
  readonly parameters: number;
}

/** Which build of llama.cpp, with every setting that can move a logit. */
export interface ProvenanceEngine {
  readonly llamaVersion: string;
  readonly backend: string;
  readonly flashAttention: boolean;
  readonly kvType: string;
  readonly opOffload: boolean;
  readonly threads: number;
  readonly chunkTokens: number;
  readonly gpuLayers: number;
}

/** Where a number comes from: code, machine, model, settings, seed, date. */
export interface Provenance {
  readonly package: string;
  readonly version: string;
  /** Commit of the project's own checkout when this process first asked; with `+` where files were changed. Absent
   * where the project is no checkout. */
  readonly commit?: string;
  /** ISO 8601, UTC. `SOURCE_DATE_EPOCH` (seconds) is used in place of the clock. */
  readonly date: string;
  readonly node: string;
  /** For example `linux 6.1.0 x64`. */
  readonly platform: string;
  readonly cpu: string;
  readonly model?: ProvenanceModel;
  readonly engine?: ProvenanceEngine;
  readonly seed?: number;
  /** Name or text of the prompt template. */
  readonly promptTemplate?: string;
  /** Whatever else decides the result, by name. */
  readonly notes: Readonly<Record<string, Json>>;
}

/** What is read of a model: an opened model has this shape. */
export interface ModelFacts {
  readonly sha256: string;
  readonly verified?: boolean;
  readonly info: {
    readonly name: string;
    readonly path: string;
    readonly architecture: string;
    readonly quantisation: string;
    readonly parameters: number;
    readonly llamaVersion: string;
    readonly backend: string;
    readonly settings: Omit<ProvenanceEngine, "llamaVersion" | "backend">;
  };
}

/** What the caller knows of a number's origin; the rest is found. */
export interface ProvenanceParts {
  /** An opened model, or its facts. */
  readonly model?: ModelFacts;
  readonly seed?: number;
  readonly promptTemplate?: string;
  readonly notes?: Readonly<Record<string, Json>>;
}

/**
 * The record of a result computed now. Everything is plain JSON.
 *
 * @example const record = provenance({ model, seed: 1, promptTemplate: "baseline", notes: { tier: 32 } })
 */
export function provenance(parts: ProvenanceParts = {}, env: NodeJS.ProcessEnv = process.env): Provenance {
  const { model, seed, promptTemplate, notes = {} } = parts;
  const { name, version } = packageFacts();
  const commit = checkoutCommit();
  return {
    package: name,
    version,
    ...(commit === undefined ? {} : { commit }),
    date: dateOf(env),
    node: process.version,
    platform: `${process.platform} ${release()} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    ...(model === undefined ? {} : { model: modelFacts(model), engine: engineFacts(model) }),
    ...(seed === undefined ? {} : { seed }),
    ...(promptTemplate === undefined ? {} : { promptTemplate }),
    notes,
  };
}

/** The record in one line, for captions and logs. */
export function describeProvenance(record: Provenance): string {
  const { model, engine } = record;
  const said = [
    model &&
      `${model.file} (${model.architecture}, ${model.quantisation}, sha256 ${model.sha256.slice(0, 12)}${model.verified === false ? ", unverified file" : ""})`,
    engine &&
      [
        `llama.cpp ${engine.llamaVersion} ${engine.backend}`,
        `KV ${engine.kvType}`,
        `flash attention ${engine.flashAttention ? "on" : "off"}`,
        `${engine.gpuLayers} GPU layers`,
        `${engine.threads} threads`,
        `chunks of ${engine.chunkTokens}`,
      ].join(", "),
    record.seed === undefined ? undefined : `seed ${record.seed}`,
    record.promptTemplate === undefined ? undefined : `template ${short(record.promptTemplate)}`,
    `${record.package} ${record.version}${record.commit === undefined ? "" : ` (${shortCommit(record.commit)})`}`,
    record.date.slice(0, 10),
  ];
  return said.filter((s) => s !== undefined).join("; ");
}

function modelFacts({ info, sha256, verified }: ModelFacts): ProvenanceModel {
  const { name, path, architecture, quantisation, parameters } = info;
  return {
    name,
    file: basename(path),
    sha256,
    ...(verified === undefined ? {} : { verified }),
    architecture,
    quantisation,
    parameters,
  };
}

function engineFacts({ info }: ModelFacts): ProvenanceEngine {
  const { flashAttention, kvType, opOffload, threads, chunkTokens, gpuLayers } = info.settings;
  const { llamaVersion, backend } = info;
  return { llamaVersion, backend, flashAttention, kvType, opOffload, threads, chunkTokens, gpuLayers };
}

function dateOf(env: NodeJS.ProcessEnv): string {
  const given = env.SOURCE_DATE_EPOCH;
  if (given === undefined || given === "") return new Date().toISOString();
  const date = new Date(Number(given) * 1000);
  if (!/^\d+$/.test(given) || Number.isNaN(date.getTime())) {
    throw new Error(`provenance: SOURCE_DATE_EPOCH is ${given}; expected whole seconds since 1970`);
  }
  return date.toISOString();
}

let facts: { name: string; version: string } | undefined;

function packageFacts(): { name: string; version: string } {
  facts ??= JSON.parse(readFileSync(join(projectRoot(), "package.json"), "utf8")) as {
    name: string;
    version: string;
  };
  return facts;
}

let commitSeen: { commit?: string } | undefined;

// Asked once: the code that runs is the code that was there when the process began, whatever is checked out later.
function checkoutCommit(): string | undefined {
  if (commitSeen !== undefined) return commitSeen.commit;
  commitSeen = {};
  const root = projectRoot();
  if (!existsSync(join(root, ".git"))) return undefined;
  try {
    const commit = git(root, "rev-parse", "HEAD");
    const changed = git(root, "status", "--porcelain", "--untracked-files=no") !== "";
    if (/^[0-9a-f]{40,64}$/.test(commit)) commitSeen = { commit: changed ? `${commit}+` : commit };
  } catch {
    // no git on this machine, or a repository of another user
  }
  return commitSeen.commit;
}

function git(root: string, ...args: readonly string[]): string {
  return execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    timeout: 10_000,
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}

function shortCommit(commit: string): string {
  return `${commit.slice(0, 7)}${commit.endsWith("+") ? "+" : ""}`;
}
