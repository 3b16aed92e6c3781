/**
 * The header of a GGUF file (versions 2 and 3), read and checked before llama.cpp sees the file.
 *
 * llama.cpp answers many faults of a file with an error that is only in its log, and some with an abort. `checkGguf`
 * finds them first and says what is wrong in one line. It reads the header only, never weights: milliseconds for a
 * file of any size (a vocabulary of 262,144 tokens is the largest part).
 */
import { closeSync, existsSync, fstatSync, openSync, statSync } from "node:fs";
import { basename } from "node:path";
import { fileTypeName } from "./ggml-types.js";
import { checkHyperparameters } from "./gguf-checks.js";
import { type Cursor, openCursor } from "./gguf-cursor.js";
import {
  type GgufArray,
  type GgufScalar,
  type GgufTensor,
  type Metadata,
  readMetadata,
  readTensors,
  shown,
} from "./gguf-sections.js";
import { DECODERS, NOT_DECODERS } from "./known-architectures.js";

export interface GgufHeader {
  readonly path: string;
  /** Size of the file. */
  readonly bytes: number;
  readonly version: number;
  /** For example `llama`, `gemma3`. */
  readonly architecture: string;
  /** `general.name`, "" where the file has none. */
  readonly name: string;
  readonly layers: number;
  /** Width of the residual stream, d_model. */
  readonly width: number;
  /** Context length it was trained with, in tokens. */
  readonly context: number;
  /** For example `Q4_K - Medium`, `all F32`. */
  readonly quantisation: string;
  readonly parameters: number;
  readonly tensors: readonly GgufTensor[];
  /** Jinja source, "" where the file has none. */
  readonly chatTemplate: string;
  readonly tokenizer: {
    /** For example `gpt2` (byte-level BPE), `llama` (SentencePiece). */
    readonly model: string;
    /** Pre-tokenizer, "" where the file names none. */
    readonly pre: string;
    readonly tokens: number;
  };
  /** Single values of the metadata; whole numbers beyond 2^53 come as decimal digits. */
  readonly metadata: ReadonlyMap<string, GgufScalar>;
  /** Arrays of the metadata: length, and the values of short numeric ones. */
  readonly arrays: ReadonlyMap<string, GgufArray>;
}

const MAGIC = "GGUF";
const DEFAULT_ALIGNMENT = 32;

/**
 * Reads and checks the header of the file at `path`. Throws one line that names the file, what was found and what was
 * expected: no such file, a folder, empty, another format, big-endian, another version, truncated anywhere (weights
 * included), lengths that contradict each other, unknown tensor types, an architecture this llama.cpp has not or that
 * is no decoder, no tokenizer, a later part of a split model, hyper-parameters that are absent, absurd or at odds
 * with each other or with the embedding's shape. That the weights are those of a good model is not checked.
 */
export function checkGguf(path: string): GgufHeader {
  const file = openFile(path);
  try {
    const size = fstatSync(file).size;
    return readHeader(path, size, file);
  } finally {
    closeSync(file);
  }
}

function openFile(path: string): number {
  let stats: ReturnType<typeof statSync>;
  try {
    stats = statSync(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ENOENT" && code !== "ENOTDIR") {
      throw new Error(`open: ${path} cannot be read (${code}); check its permissions`);
    }
    throw new Error(
      `open: no file ${path}; expected a path to a .gguf file, a catalogue name or hf:owner/repo:quant`,
    );
  }
  if (stats.isDirectory())
    throw new Error(`open: ${path} is a folder; expected a .gguf file, name the file inside it`);
  if (!stats.isFile()) throw new Error(`open: ${path} is not a regular file; expected a .gguf file`);
  if (stats.size === 0) throw new Error(`open: ${path} is empty; expected a .gguf file, download it again`);
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new Error(
      `open: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}); check its permissions`,
    );
  }
}

function readHeader(path: string, size: number, file: number): GgufHeader {
  const fail = (what: string) => new Error(`open: ${basename(path)} is not a usable GGUF file: ${what}`);
  const cursor = openCursor(file, size, fail);
  const version = readVersion(cursor, path, fail);
  const tensorCount = cursor.count("the number of tensors", 2 ** 53);
  const keyCount = cursor.count("the number of metadata keys", 2 ** 53);
  const metadata = readMetadata(cursor, keyCount, fail);
  checkSplit(metadata, path, fail);
  const tensors = readTensors(cursor, tensorCount, alignmentOf(metadata, fail), size, fail);

  const text = (key: string) => {
    const value = metadata.scalars.get(key);
    return typeof value === "string" ? value : "";
  };
  const architecture = text("general.architecture");
  checkArchitecture(architecture, path, fail);
  const { layers, width, context } = checkHyperparameters(architecture, metadata, tensors, fail);
  const fileType = metadata.scalars.get("general.file_type");
  return {
    path,
    bytes: size,
    version,
    architecture,
    name: text("general.name"),
    layers,
    width,
    context,
    quantisation: fileTypeName(
      typeof fileType === "number" ? fileType : undefined,
      tensors.map((tensor) => tensor.type),
    ),
    parameters: tensors.reduce((sum, tensor) => sum + tensor.elements, 0),
    tensors,
    chatTemplate: text("tokenizer.chat_template"),
    tokenizer: {
      model: text("tokenizer.ggml.model"),
      pre: text("tokenizer.ggml.pre"),
      tokens: metadata.arrays.get("tokenizer.ggml.tokens")?.length ?? 0,
    },
    metadata: metadata.scalars,
    arrays: metadata.arrays,
  };
}

function readVersion(cursor: Cursor, path: string, fail: (what: string) => Error): number {
  const magic = cursor.latin1(Math.min(4, cursor.remaining()), "the magic");
  if (magic !== MAGIC) {
    const found = shown(magic.replace(/[^\x20-\x7e]/g, "?"));
    throw new Error(
      `open: ${basename(path)} does not begin with "GGUF" but with "${found}"; expected a .gguf file ` +
        "(other formats are converted with llama.cpp's convert_hf_to_gguf.py)",
    );
  }
  const version = cursor.number("u32", "the version");
  if (version !== 0 && (version & 0xffff) === 0) {
    throw fail("it is big-endian; expected little-endian, convert it with gguf-py's gguf_convert_endian.py");
  }
  if (version !== 2 && version !== 3)
    throw fail(`version ${version}; expected 2 or 3, convert the model again`);
  return version;
}

function alignmentOf(metadata: Metadata, fail: (what: string) => Error): number {
  const alignment = metadata.scalars.get("general.alignment") ?? DEFAULT_ALIGNMENT;
  if (
    typeof alignment === "number" &&
    alignment >= 1 &&
    alignment <= 2 ** 30 &&
    Number.isInteger(Math.log2(alignment))
  ) {
    return alignment;
  }
  throw fail(`general.alignment is ${shown(String(alignment))}; expected a power of two`);
}

function checkSplit(metadata: Metadata, path: string, fail: (what: string) => Error): void {
  const count = metadata.scalars.get("split.count");
  if (typeof count !== "number" || count <= 1) return;
  const part = Number(metadata.scalars.get("split.no") ?? Number.NaN);
  const name = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/.exec(path);
  const partPath = (index: number) =>
    name === null ? undefined : `${name[1]}-${String(index + 1).padStart(5, "0")}-of-${name[3]}.gguf`;
  if (part !== 0) {
    const first = partPath(0);
    throw new Error(
      `open: ${basename(path)} is part ${part + 1} of a model in ${count} files; open the first one` +
        (first === undefined ? "" : `, ${first}`),
    );
  }
  if (name === null || Number(name[3]) !== count) {
    throw fail(
      `it is the first of ${count} files, but its name does not end in -00001-of-${String(count).padStart(5, "0")}.gguf`,
    );
  }
  for (let index = 1; index < count; index++) {
    const other = partPath(index)!;
    if (!existsSync(other)) {
      throw new Error(
        `open: ${basename(path)} is the first of ${count} files, but ${other} is missing; download it too`,
      );
    }
  }
}

function checkArchitecture(architecture: string, path: string, fail: (what: string) => Error): void {
  if (architecture === "") throw fail("it has no general.architecture; expected a language model");
  if (DECODERS.has(architecture)) return;
  if (NOT_DECODERS.has(architecture)) {
    throw new Error(
      `open: ${basename(path)} has architecture ${architecture}, which does not generate text by itself; expected a decoder`,
    );
  }
  throw new Error(
    `open: ${basename(path)} has architecture "${shown(architecture)}", which this llama.cpp does not know; ` +
      "expected one of its decoders, for example llama, qwen3, gemma3",
  );
}
