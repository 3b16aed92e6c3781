import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkGguf } from "../../src/engine/gguf.js";

const FIXTURES = join(import.meta.dirname, "..", "fixtures", "architectures");
const names = readdirSync(FIXTURES).filter((file) => file.endsWith(".gguf"));
const fixture = (name: string) => readFileSync(join(FIXTURES, `${name}.gguf`));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gguf-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function checkBytes(bytes: Uint8Array, name = "model.gguf") {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return checkGguf(path);
}

/** Where the value of a metadata key begins: after the key and its type. */
function valueAt(bytes: Buffer, key: string): number {
  const at = bytes.indexOf(key);
  expect(at, key).toBeGreaterThan(0);
  return at + key.length + 4;
}

function withNumber(bytes: Buffer, key: string, value: number): Buffer {
  bytes.writeUInt32LE(value, valueAt(bytes, key));
  return bytes;
}

/** Gives a key (or a tensor) another name of the same length, so that it is absent. */
function without(bytes: Buffer, key: string): Buffer {
  bytes.write(key.replace(/.$/, "~"), bytes.indexOf(key));
  return bytes;
}

/** A header with the given metadata texts and numbers, and no tensors. */
function header(entries: Readonly<Record<string, string | number>>): Buffer {
  const parts = [Buffer.from("GGUF"), u32(3), u64(0), u64(Object.keys(entries).length)];
  for (const [key, value] of Object.entries(entries)) {
    parts.push(text(key));
    if (typeof value === "string") parts.push(u32(8), text(value));
    else parts.push(u32(4), u32(value));
  }
  return Buffer.concat(parts);
}
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value: number) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

describe("checkGguf on sound files", () => {
  it.each(names)("%s passes", (file) => {
    const header = checkGguf(join(FIXTURES, file));
    expect(header.architecture).toBe(file.replace(".gguf", ""));
    expect(header.width).toBe(32);
    expect(header.quantisation).toBe("all F32");
    expect(header.parameters).toBe(header.tensors.reduce((sum, tensor) => sum + tensor.bytes / 4, 0));
    const last = header.tensors.at(-1)!;
    expect(Math.ceil((last.offset + last.bytes) / 32) * 32).toBe(header.bytes);
  });

  it("reads what describes the model", () => {
    const header = checkGguf(join(FIXTURES, "gemma3.gguf"));
    expect(header).toMatchObject({ version: 3, name: "tiny random gemma3", layers: 4, context: 2048 });
    expect(header.tokenizer).toEqual({ model: "llama", pre: "default", tokens: 415 });
    expect(header.chatTemplate).toContain("<start_of_turn>");
    expect(header.metadata.get("gemma3.attention.sliding_window")).toBe(16);
    expect(header.metadata.get("tokenizer.ggml.add_bos_token")).toBe(true);
    expect(header.arrays.get("tokenizer.ggml.scores")).toMatchObject({ type: "f32", length: 415 });
    expect(header.tensors[0]).toMatchObject({ name: "token_embd.weight", type: "F32", dims: [32, 415] });
  });

  it("reads version 2 as well", () => {
    const bytes = fixture("llama");
    bytes.writeUInt32LE(2, 4);
    expect(checkBytes(bytes).version).toBe(2);
  });
});

describe("checkGguf on what is no model", () => {
  it.each([
    ["a missing file", () => join(folder, "nothing.gguf"), /^open: no file .*nothing\.gguf; expected a path/],
    ["a folder", () => folder, /^open: .* is a folder; expected a \.gguf file/],
  ])("%s", (_, path, message) => {
    expect(() => checkGguf(path())).toThrow(message);
  });

  it.each<[string, () => Buffer, RegExp]>([
    ["an empty file", () => Buffer.alloc(0), /is empty/],
    ["three bytes", () => Buffer.from("GGU"), /does not begin with "GGUF" but with "GGU"/],
    [
      "another format",
      () => Buffer.from("PK\u0003\u0004 zip"),
      /does not begin with "GGUF" but with "PK\?\?"/,
    ],
    ["only the magic", () => Buffer.from("GGUF"), /the file ends inside the version/],
    ["big-endian", () => Buffer.from("GGUF\0\0\0\u0003", "latin1"), /big-endian/],
    ["version 1", () => Buffer.concat([Buffer.from("GGUF"), u32(1)]), /version 1; expected 2 or 3/],
    ["version 9", () => Buffer.concat([Buffer.from("GGUF"), u32(9)]), /version 9; expected 2 or 3/],
    ["no architecture", () => header({ "general.name": "x" }), /no general\.architecture/],
    [
      "an unknown architecture",
      () => header({ "general.architecture": "zebra" }),
      /architecture "zebra".*does not know/,
    ],
    ["an encoder", () => header({ "general.architecture": "bert" }), /architecture bert.*expected a decoder/],
    ["an odd alignment", () => header({ "general.alignment": 3 }), /alignment is 3; expected a power of two/],
    ["a hostile name", () => header({ "general.architecture": "\u001b[2J\nx" }), /architecture "\?\[2J\?x"/],
  ])("%s", (_, bytes, message) => {
    expect(() => checkBytes(bytes())).toThrow(message);
  });
});

describe("checkGguf on damaged files", () => {
  it.each<[string, () => Buffer, RegExp]>([
    [
      "too many tensors",
      () => edit("llama", (b) => b.writeBigUInt64LE(2n ** 40n, 8)),
      /announces \d+ tensors/,
    ],
    [
      "too many keys",
      () => edit("llama", (b) => b.writeBigUInt64LE(2n ** 63n, 16)),
      /number of metadata keys is/,
    ],
    [
      "a key of 2^60 bytes",
      () => edit("llama", (b) => b.writeBigUInt64LE(2n ** 60n, 24)),
      /length of metadata key 0 is/,
    ],
    [
      "a key twice",
      () => renamed("llama.vocab_size", "llama.block_count"),
      /metadata key llama\.block_count occurs twice/,
    ],
    [
      "an array of 2^50 tokens",
      () => edit("llama", (b) => b.writeBigUInt64LE(2n ** 50n, valueAt(b, "tokenizer.ggml.tokens") + 4)),
      /the length of tokenizer\.ggml\.tokens is/,
    ],
    [
      "an unknown value type",
      () => edit("llama", (b) => b.writeUInt32LE(77, valueAt(b, "llama.block_count") - 4)),
      /llama\.block_count has unknown type 77/,
    ],
    [
      "an unknown tensor type",
      () => edit("llama", (b) => b.writeUInt32LE(31, tensorAt(b, "output.weight") + 16)),
      /unknown type 31/,
    ],
    [
      "a tensor beyond the file",
      () => edit("llama", (b) => b.writeBigUInt64LE(2n ** 40n, tensorAt(b, "output.weight") + 8)),
      /end at byte \d+, but the file has|starts at \d+ of the data/,
    ],
    [
      "a tensor whose size overflows",
      () =>
        edit("llama", (b) => {
          b.writeBigUInt64LE(2n ** 47n, tensorAt(b, "blk.2.ffn_down.weight"));
          b.writeBigUInt64LE(2n ** 47n, tensorAt(b, "blk.2.ffn_down.weight") + 8);
        }),
      /end at byte .* but the file has/,
    ],
    [
      "blocks cut through",
      () => edit("llama", (b) => b.writeUInt32LE(12, tensorAt(b, "output.weight") + 16)),
      /blocks of 256/,
    ],
    [
      "weights cut off",
      () => fixture("qwen3").subarray(0, -64),
      /it is incomplete or damaged, download it again/,
    ],
    ["half a file", () => fixture("phi3").subarray(0, 100_000), /incomplete or damaged/],
    ["a header cut off", () => fixture("phi3").subarray(0, 3000), /truncated or damaged/],
  ])("%s", (_, bytes, message) => {
    expect(() => checkBytes(bytes())).toThrow(message);
  });

  function edit(name: string, change: (bytes: Buffer) => unknown): Buffer {
    const bytes = fixture(name);
    change(bytes);
    return bytes;
  }
  /** Where the dimensions of a tensor begin: after its name and its rank. */
  function tensorAt(bytes: Buffer, tensor: string): number {
    return bytes.lastIndexOf(tensor) + tensor.length + 4;
  }
  function renamed(key: string, other: string): Buffer {
    const bytes = fixture("llama");
    const at = bytes.indexOf(key) - 8;
    return Buffer.concat([bytes.subarray(0, at), text(other), bytes.subarray(at + 8 + key.length)]);
  }
});

describe("checkGguf on hyper-parameters", () => {
  it.each<[string, string, number, RegExp]>([
    ["llama", "llama.block_count", 0, /block_count is 0; expected a whole number from 1 to 512/],
    ["llama", "llama.block_count", 5000, /block_count is 5000/],
    ["llama", "llama.embedding_length", 0, /embedding_length is 0/],
    ["llama", "llama.embedding_length", 48, /token_embd\.weight is 32 x 320; expected 48 x 320/],
    ["llama", "llama.context_length", 0, /context_length is 0/],
    ["llama", "llama.attention.head_count", 0, /0 attention heads/],
    [
      "llama",
      "llama.attention.head_count",
      3,
      /3 attention heads in layer 0 are not a multiple of 2 key heads/,
    ],
    ["phi3", "phi3.attention.head_count_kv", 3, /not a multiple of 3 key heads/],
    ["llama", "llama.attention.head_count_kv", 0, /0 key heads/],
    ["llama", "llama.rope.dimension_count", 6, /dimension_count is 6; expected the width of a head, 8/],
    ["gemma3", "gemma3.rope.dimension_count", 7, /dimension_count is 7; expected an even number/],
    ["gemma3", "gemma3.attention.value_length", 8, /keys are 16 wide and values 8/],
    ["qwen3moe", "qwen3moe.expert_used_count", 5, /5 of 4 experts are used/],
    ["qwen3moe", "qwen3moe.expert_count", 0, /2 of 0 experts are used; expected none/],
    ["qwen35moe", "qwen35moe.full_attention_interval", 0, /full_attention_interval is 0/],
    ["qwen35moe", "qwen35moe.ssm.group_count", 3, /delta nets/],
    ["mamba", "mamba.ssm.state_size", 0, /state_size is 0/],
    [
      "gemma2",
      "gemma2.attn_logit_softcapping",
      0,
      /attn_logit_softcapping is 0; expected a number from 0 to 1000000, not 0/,
    ],
    ["llama", "llama.rope.freq_base", 0x7fc00000, /freq_base is NaN/],
  ])("%s with %s = %d", (name, key, value, message) => {
    expect(() => checkBytes(withNumber(fixture(name), key, value))).toThrow(message);
  });

  it.each([
    ["llama.block_count", /it has no llama\.block_count/],
    ["llama.context_length", /it has no llama\.context_length/],
    ["llama.attention.head_count", /it has no llama\.attention\.head_count/],
    ["tokenizer.ggml.tokens", /it has no tokenizer/],
    ["tokenizer.ggml.model", /it has no tokenizer/],
    ["token_embd.weight", /it has no tensor token_embd\.weight/],
  ])("without %s", (key, message) => {
    // Head counts come in two keys that begin alike; the first one found is the one meant.
    expect(() => checkBytes(without(fixture("llama"), key))).toThrow(message);
  });

  it("refuses two tokens with the same text, on which llama.cpp aborts", () => {
    const bytes = fixture("llama");
    const at = bytes.indexOf("A", bytes.indexOf("tokenizer.ggml.tokens"));
    bytes.write("B", at);
    expect(() => checkBytes(bytes)).toThrow(/tokens 65 and 66 of its vocabulary have the same text/);
  });
});

describe("checkGguf on models in several files", () => {
  const part = (index: number) =>
    header({ "general.architecture": "llama", "split.no": index, "split.count": 3, "general.name": "x" });

  it("names the first file for a later one", () => {
    mkdirSync(join(folder, "split"));
    expect(() => checkBytes(part(1), "split/big-00002-of-00003.gguf")).toThrow(
      /part 2 of a model in 3 files; open the first one, .*big-00001-of-00003\.gguf/,
    );
  });
  it("names a part that is missing", () => {
    expect(() => checkBytes(part(0), "split/big-00001-of-00003.gguf")).toThrow(
      /big-00003-of-00003\.gguf is missing/,
    );
  });
  it("refuses a first file with another name", () => {
    expect(() => checkBytes(part(0), "split/big.gguf")).toThrow(/name does not end in -00001-of-00003\.gguf/);
  });
});

describe("checkGguf on 1,000 mutations", () => {
  it("passes or refuses each in one line, and holds little memory", () => {
    const random = mulberry32(20260);
    const whole = (n: number) => Math.floor(random() * n);
    const originals = names.map((name) => readFileSync(join(FIXTURES, name)));
    const before = process.memoryUsage();
    let refused = 0;
    for (let i = 0; i < 1000; i++) {
      const original = originals[i % originals.length]!;
      let bytes = Buffer.from(original);
      // Most of the file is weights, which nobody reads: the header is the first 12 kB or so.
      const at = whole(random() < 0.8 ? 12_000 : bytes.length - 8);
      const kind = i % 5;
      if (kind === 0) bytes[at]! ^= 1 << whole(8);
      else if (kind === 1) bytes = bytes.subarray(0, at);
      else if (kind === 2) bytes.writeBigUInt64LE(BigInt(whole(2 ** 32)) << BigInt(whole(33)), at);
      else if (kind === 3) bytes.fill(random() < 0.5 ? 0 : 255, at, at + whole(64));
      else for (let n = 1 + whole(8); n > 0; n--) bytes[whole(12_000)] = whole(256);
      try {
        checkBytes(bytes);
      } catch (error) {
        refused++;
        const { message } = error as Error;
        expect(message, `mutation ${i}`).toMatch(/^open: [^\n\r]{20,600}$/);
      }
    }
    expect(refused).toBeGreaterThan(400);
    expect(refused).toBeLessThan(1000);
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(256 << 20);
    // A guard against hanging, far above what it takes.
  }, 600_000);
});

/** Seeded uniform numbers in [0, 1). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
