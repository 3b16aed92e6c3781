import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { parseNpy, readNpz } from "../../src/store/npz.js";
import { projectRoot } from "../../src/store/project-root.js";
import { mutate, seededInts } from "./mutations.js";

const fixtures = join(projectRoot(), "test", "fixtures", "store");
type Plain = Record<string, { shape: number[]; values: string[] }>;
const reference = (JSON.parse(readFileSync(join(fixtures, "arrays.json"), "utf8")) as { npz: Plain }).npz;
const number = (text: string) => Number(text.replace("inf", "Infinity"));

describe("npz", () => {
  it.each(["arrays.npz", "arrays-deflated.npz"])("reads %s as numpy wrote it", async (file) => {
    const arrays = await readNpz(join(fixtures, file));
    expect([...arrays.keys()].sort()).toEqual(Object.keys(reference).sort());
    for (const [name, { shape, values }] of Object.entries(reference)) {
      const { data, shape: got } = arrays.get(name)!;
      expect(got).toEqual(shape);
      expect(Array.from(data as Float64Array, Number)).toEqual(values.map(number));
    }
    expect(arrays.get("f4")!.data).toBeInstanceOf(Float32Array);
    expect(arrays.get("i8")!.data).toBeInstanceOf(BigInt64Array);
  });

  it("reads the arrays asked for, and names those there are", async () => {
    const path = join(fixtures, "arrays.npz");
    expect([...(await readNpz(path, ["f2"])).keys()]).toEqual(["f2"]);
    await expect(readNpz(path, ["W_enc"])).rejects.toThrow(/has no W_enc; it has f4, /);
    await expect(readNpz(path, ["f4"], { mostBytes: 100 })).rejects.toThrow(
      /f4 has 224 bytes; expected at most 100/,
    );
  });

  it("reads header forms 2 and 3, and refuses others, objects and records", () => {
    const head = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }";
    for (const version of [2, 3]) expect(parseNpy(npy(head, version, 4)).data).toEqual(Int16Array.of(0, 0));
    expect(() => parseNpy(npy(head, 4, 4))).toThrow(/format 4/);
    expect(() => parseNpy(npy(head, 2, 3))).toThrow(/has 3 bytes of numbers; its shape \[2\] needs 4/);
    expect(() => parseNpy(npy(head.replace("<i2", "|O"), 2, 4))).toThrow(/objects and records are not read/);
    expect(() => parseNpy(npy(head.replace("'<i2'", "[('a', '<i2')]"), 2, 4))).toThrow(/objects and records/);
    expect(() => parseNpy(npy(head.replace("<i2", "<c8"), 2, 4))).toThrow(/has the type <c8/);
    expect(() => parseNpy(new Uint8Array(40))).toThrow(/no npy file/);
  });

  it("survives 1,000 damaged arrays: a whole array or one line", () => {
    const files = Object.values(unzipSync(readFileSync(join(fixtures, "arrays.npz"))));
    const draw = seededInts(9);
    let parsed = 0;
    for (let k = 0; k < 1000; k++) {
      try {
        const { shape, data } = parseNpy(mutate(files[k % files.length]!, draw, 80));
        expect(data.length).toBe(shape.reduce((a, b) => a * b, 1));
        parsed++;
      } catch (error) {
        expect((error as Error).message).toMatch(/^npy: [^\n]*$/);
      }
    }
    expect(parsed).toBeGreaterThan(10);
    expect(parsed).toBeLessThan(950);
  });
});

describe("readNpz on 1,000 damaged archives", () => {
  it("the arrays that were written, or one line", async () => {
    const folder = mkdtempSync(join(tmpdir(), "npz-"));
    const path = join(folder, "mutant.npz");
    const draw = seededInts(13);
    const files = ["arrays.npz", "arrays-deflated.npz"].map((name) => join(fixtures, name));
    const whole = await Promise.all(files.map((file) => readNpz(file)));
    const bytes = files.map((file) => readFileSync(file));
    let read = 0;
    for (let k = 0; k < 1000; k++) {
      const which = k % files.length;
      writeFileSync(path, mutate(bytes[which]!, draw, bytes[which]!.length));
      try {
        const arrays = await readNpz(path, undefined, { mostBytes: 1e8 });
        read++;
        // Every member has a CRC-32: what is read is what was written, though a name may be another.
        for (const [name, { data }] of arrays)
          if (whole[which]!.has(name)) expect(data).toEqual(whole[which]!.get(name)!.data);
      } catch (error) {
        expect((error as Error).message).toMatch(/^(npy|readNpz|zip|extractMember): [^\n]*$/);
      }
    }
    expect(read).toBeGreaterThan(10);
    expect(read).toBeLessThan(950);
    rmSync(folder, { recursive: true });
  }, 120_000);
});

function npy(head: string, version: number, data: number): Uint8Array {
  const out = Buffer.alloc(12 + head.length + data);
  out.write("\x93NUMPY", 0, "latin1");
  out[6] = version;
  out.writeUInt32LE(head.length, 8);
  out.write(head, 12, "latin1");
  return out;
}
