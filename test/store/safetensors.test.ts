import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../src/store/project-root.js";
import {
  parseSafetensorsHeader,
  readSafetensors,
  readSafetensorsHeader,
  readSafetensorsRows,
} from "../../src/store/safetensors.js";
import { safetensorsWriter, writeSafetensors } from "../../src/store/safetensors-writer.js";
import { mutate, seededInts } from "./mutations.js";

const fixtures = join(projectRoot(), "test", "fixtures", "store");
const folder = mkdtempSync(join(tmpdir(), "countlens-"));
type Plain = Record<string, { shape: number[]; values: string[] }>;
const reference = JSON.parse(readFileSync(join(fixtures, "arrays.json"), "utf8")) as { safetensors: Plain };
const number = (text: string) => Number(text.replace("inf", "Infinity"));

describe("safetensors", () => {
  const python = join(fixtures, "tensors.safetensors");

  it("reads what Python wrote: F32, F16, BF16, I32, I64 and metadata", async () => {
    const { tensors, metadata } = await readSafetensors(python);
    expect(metadata).toEqual({ hook: "residPost(3)", note: "é" });
    expect([...tensors.keys()].sort()).toEqual(Object.keys(reference.safetensors).sort());
    for (const [name, { shape, values }] of Object.entries(reference.safetensors)) {
      const tensor = tensors.get(name)!;
      expect(tensor.shape).toEqual(shape);
      expect(Array.from(tensor.data as Float32Array, Number)).toEqual(values.map(number));
    }
    expect(tensors.get("brain")!.data).toBeInstanceOf(Float32Array);
    expect(tensors.get("long")!.data).toBeInstanceOf(BigInt64Array);
  });

  it("reads single tensors and single rows", async () => {
    const all = (await readSafetensors(python, ["w_enc"])).tensors.get("w_enc")!;
    const row = await readSafetensorsRows(python, "w_enc", 1, 2);
    expect(row.shape).toEqual([1, 3, 4]);
    expect(row.data).toEqual(all.data.slice(12, 24));
    expect((await readSafetensorsRows(python, "w_enc", 0, 0)).data).toHaveLength(0);
    await expect(readSafetensorsRows(python, "w_enc", 1, 3)).rejects.toThrow(
      /rows 1\.\.3 of w_enc; it has shape/,
    );
    await expect(readSafetensors(python, ["w_dec"])).rejects.toThrow(/has no tensor w_dec; it has/);
    await expect(readSafetensors(join(folder, "none"))).rejects.toThrow(/cannot be read \(ENOENT\)/);
  });

  it("writes what it reads back, bit for bit, NaN and infinities included", async () => {
    const path = join(folder, "own.safetensors");
    const data = Float32Array.of(1.5, Number.NaN, -0, Number.NEGATIVE_INFINITY, 1e-40, 3);
    await writeSafetensors(
      path,
      {
        acts: { shape: [2, 3], data },
        counts: { shape: [2], data: Int32Array.of(-1, 7) },
        one: { shape: [], data: Float64Array.of(2) },
        empty: { shape: [0, 4], data: new Float32Array(0) },
      },
      { layer: "3" },
    );
    const { tensors, metadata } = await readSafetensors(path);
    expect(metadata).toEqual({ layer: "3" });
    expect(new Uint32Array((tensors.get("acts")!.data as Float32Array).buffer)).toEqual(
      new Uint32Array(data.buffer),
    );
    expect(tensors.get("counts")!.data).toEqual(Int32Array.of(-1, 7));
    expect(tensors.get("one")!.shape).toEqual([]);
    expect(tensors.get("empty")!.shape).toEqual([0, 4]);
    expect((await readSafetensorsHeader(path)).tensors[0]!.start % 8).toBe(0);
  });

  it("writes piece by piece, and leaves nothing when numbers are missing or too many", async () => {
    const path = join(folder, "pieces.safetensors");
    const specs = [
      { name: "a", shape: [4, 2] },
      { name: "b", shape: [2], dtype: "I32" },
    ];
    const writer = await safetensorsWriter(path, specs);
    for (let k = 0; k < 3; k++) await writer.append("a", Float32Array.of(k, -k));
    await expect(writer.append("b", Float32Array.of(1, 2))).rejects.toThrow(/b is I32; got F32/);
    await expect(writer.append("c", Int32Array.of(5))).rejects.toThrow(/no tensor c; expected a, b/);
    await writer.append("b", Int32Array.of(5, 6));
    await writer.append("a", Float32Array.of(3, -3));
    await expect(writer.append("b", Int32Array.of(5))).rejects.toThrow(/1 numbers more than b takes/);
    const sha256 = await writer.close();
    expect(sha256).toBe(createHash("sha256").update(readFileSync(path)).digest("hex"));
    expect((await readSafetensors(path)).tensors.get("b")!.data).toEqual(Int32Array.of(5, 6));
    expect((await readSafetensors(path)).tensors.get("a")!.data).toEqual(
      Float32Array.of(0, -0, 1, -1, 2, -2, 3, -3),
    );
    const short = await safetensorsWriter(join(folder, "short.safetensors"), specs);
    await expect(short.close()).rejects.toThrow(/40 bytes of .* were not given; nothing written/);
    expect(readdirSync(folder).filter((f) => f.includes("short") || f.includes("writing"))).toEqual([]);
  });

  it.each([
    ["a cut file", new Uint8Array(5), /has 5 bytes; expected at least 8/],
    ["a huge header", header("{}", 2 ** 40), /says its header has/],
    ["no JSON", header("{nope"), /header is no JSON/],
    ["a list", header("[]"), /header is no object/],
    [
      "an unknown dtype",
      header('{"a":{"dtype":"Q4","shape":[1],"data_offsets":[0,4]}}', 0, 4),
      /a has dtype "Q4"/,
    ],
    [
      "a negative shape",
      header('{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}', 0, 4),
      /no shape of whole/,
    ],
    [
      "a wrong product",
      header('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}', 0, 4),
      /has 4 bytes; its shape \[2\] needs 8/,
    ],
    [
      "an overflow",
      header('{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}', 0, 4),
      /impossible shape/,
    ],
    [
      "offsets outside",
      header('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', 0, 4),
      /end at byte/,
    ],
    [
      "an overlap",
      header(
        '{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}',
        0,
        6,
      ),
      /b overlaps/,
    ],
    ["a gap", header('{"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}', 0, 4), /a leaves a gap/],
    ["metadata of numbers", header('{"__metadata__":{"a":1}}'), /metadata a is no text/],
  ])("refuses %s", (_what, bytes, message) => {
    expect(() => parseSafetensorsHeader(bytes, bytes.length)).toThrow(message);
  });

  it("survives 1,000 damaged files: a checked parse or one line", async () => {
    const good = readFileSync(python);
    const draw = seededInts(5);
    const path = join(folder, "mutant.safetensors");
    let parsed = 0;
    for (let k = 0; k < 1000; k++) {
      writeFileSync(path, mutate(good, draw, 330));
      try {
        const { tensors } = await readSafetensors(path);
        parsed++;
        for (const { shape, data } of tensors.values())
          expect(data.length).toBe(shape.reduce((a, b) => a * b, 1));
      } catch (error) {
        expect((error as Error).message).toMatch(/^safetensors: [^\n]*$/);
      }
    }
    expect(parsed).toBeGreaterThan(10);
    expect(parsed).toBeLessThan(900);
  });
});

function header(json: string, claimed = 0, data = 0): Uint8Array {
  const text = Buffer.from(json);
  const out = Buffer.alloc(8 + text.length + data);
  out.writeBigUInt64LE(BigInt(claimed || text.length));
  text.copy(out, 8);
  return out;
}
