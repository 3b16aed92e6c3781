import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkGguf } from "../../src/engine/gguf.js";
import { hasRowsOfOneBlock } from "../../src/engine/native-model.js";
import { open } from "../../src/model/open.js";
import { quantise, tensorTypes } from "../../src/model/quantise.js";
import { halfToFloat } from "../../src/store/half-float.js";
import { resolveModel } from "../../src/store/resolve-model.js";

const quiet = { threads: 1, onProgress: () => {} };
const scratch = () => mkdtempSync(join(tmpdir(), "countlens-quantise-"));

describe("quantise", () => {
  const own = process.env.COUNTLENS_CACHE;
  let cache = "";
  beforeAll(() => {
    cache = scratch();
    process.env.COUNTLENS_CACHE = cache;
  });
  afterAll(() => {
    if (own === undefined) delete process.env.COUNTLENS_CACHE;
    else process.env.COUNTLENS_CACHE = own;
  });

  it("writes what Q8_0 is by definition: blocks of 32 with a scale, off by half a step at most", async () => {
    const source = checkGguf((await resolveModel("tally-25k")).path);
    const made = await quantise("tally-25k", "Q8_0", undefined, quiet);
    const target = checkGguf(made.path);
    const [before, after] = [readFileSync(source.path), readFileSync(made.path)];
    const name = "blk.0.ffn_down.weight";
    const from = source.tensors.find((tensor) => tensor.name === name)!;
    const to = target.tensors.find((tensor) => tensor.name === name)!;
    expect([from.type, to.type]).toEqual(["F32", "Q8_0"]);
    for (let block = 0; block < from.elements / 32; block++) {
      const at = to.offset + 34 * block;
      const step = halfToFloat(Uint16Array.of(after.readUInt16LE(at)))[0]!;
      for (let i = 0; i < 32; i++) {
        const weight = before.readFloatLE(from.offset + 4 * (32 * block + i));
        // The scale itself is rounded to half precision: 127 steps of 2^-11 of it.
        expect(Math.abs(weight - step * after.readInt8(at + 2 + i))).toBeLessThanOrEqual(step * 0.57);
      }
    }
  });

  it.each(["tally-25k", "tally-400k", "tally-1m6"])(
    "%s: says what the file really holds, rows that fit no block included",
    async (model) => {
      const made = await quantise(model, "Q8_0", undefined, quiet);
      for (const { name, type, dims } of checkGguf(made.path).tensors) {
        const matrix = dims.filter((n) => n > 1).length > 1;
        expect([name, type]).toEqual([name, !matrix ? "F32" : dims[0]! % 32 === 0 ? "Q8_0" : "F16"]);
      }
      const narrow = checkGguf(made.path).tensors.some(({ type, dims }) => type === "Q8_0" && dims[0] === 32);
      expect(hasRowsOfOneBlock(checkGguf(made.path).tensors)).toBe(narrow);
      expect(made.holds).toEqual(tensorTypes(made.path));
      expect(made.holds.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
      expect(made.says).toBe(
        made.holds.map(({ type, share }) => `${type} ${(100 * share).toFixed(1)} %`).join(", "),
      );
    },
  );

  it("makes models that open and answer, coarser ones further from the original", async () => {
    const logits = async (path: string) => {
      const model = await open(path, { gpu: false, threads: 1, isolated: false });
      const { tokens } = await model.prompt("23*45=");
      const { results } = await model.evaluate([{ tokens, logits: { positions: [-1], full: true } }]);
      await model.close();
      return results[0]!.logits!.full!;
    };
    const exact = await logits("tally-25k");
    const off: number[] = [];
    for (const type of ["F32", "F16", "Q8_0", "q4_0"]) {
      const { path, bitsPerWeight } = await quantise("tally-25k", type, undefined, quiet);
      const own = await logits(path);
      off.push(own.reduce((most, value, i) => Math.max(most, Math.abs(value - exact[i]!)), 0));
      expect(bitsPerWeight).toBeLessThanOrEqual(32);
    }
    expect(off[0]).toBe(0);
    expect(off).toEqual([...off].sort((a, b) => a - b));
    expect(off[3]).toBeGreaterThan(2 * off[2]!);
  });

  // llama.cpp's AMX kernels read memory never written for such rows; on other CPUs this holds anyway.
  it.each(["Q8_0", "Q4_1", "Q4_0"])(
    "%s with rows of one block gives the same logits in any batch",
    async (type) => {
      const { path } = await quantise("tally-25k", type, undefined, quiet);
      const model = await open(path, { gpu: false, threads: 1, isolated: false });
      const tokens = Int32Array.from({ length: 64 }, (_, i) => 40 + ((7 * i) % 60));
      const at = async (length: number) => {
        const request = { tokens: tokens.subarray(0, length), logits: { positions: [30], full: true } };
        return (await model.evaluate([request])).results[0]!.logits!.full!;
      };
      const [one, many] = [await at(31), await at(64)];
      await model.close();
      one.forEach((value, i) => {
        expect(Math.abs(value - many[i]!)).toBeLessThan(0.05);
      });
    },
  );

  it("finds a file again, and makes a damaged one anew", async () => {
    const first = await quantise("tally-25k", "Q5_1", undefined, quiet);
    const asked: string[] = [];
    const listen = { ...quiet, onProgress: ({ what }: { what: string }) => void asked.push(what) };
    expect(await quantise("tally-25k", "Q5_1", undefined, listen)).toEqual(first);
    expect(asked).not.toContain("quantising");
    writeFileSync(first.path, "GGUF?");
    expect(await quantise("tally-25k", "Q5_1", undefined, listen)).toEqual(first);
    expect(asked).toContain("quantising");
  });

  it("writes where it is told, and leaves no parts", async () => {
    const folder = scratch();
    const out = join(folder, "deeper", "small.gguf");
    expect((await quantise("tally-25k", "Q4_1", out, quiet)).path).toBe(out);
    expect(readdirSync(join(folder, "deeper"))).toEqual(["small.gguf"]);
    await expect(quantise(out, "F16", out, { ...quiet, requantise: true })).rejects.toThrow(
      /is the model itself/,
    );
  });

  it("refuses what cannot be made, in one line", async () => {
    await expect(quantise("tally-25k", "Q9_K")).rejects.toThrow(/no type "Q9_K"; expected one of F32, F16/);
    await expect(quantise("tally-25k", "iq2_xs")).rejects.toThrow(/IQ2_XS needs an importance matrix/);
    await expect(quantise("tally-25k", "Q8_0", undefined, { threads: 0 })).rejects.toThrow(/threads is 0/);
    const { path } = await quantise("tally-25k", "Q4_0", undefined, quiet);
    await expect(quantise(path, "Q8_0")).rejects.toThrow(/is quantised already \(Q4_0 .*requantise: true/);
    expect(
      (await quantise(path, "Q8_0", join(scratch(), "a.gguf"), { ...quiet, requantise: true })).type,
    ).toBe("Q8_0");
  });

  it("passes on why llama.cpp could not, and leaves nothing behind", async () => {
    const bytes = readFileSync((await resolveModel("tally-25k")).path);
    const header = checkGguf((await resolveModel("tally-25k")).path);
    bytes.writeFloatLE(
      Number.NaN,
      header.tensors.find(({ name }) => name.endsWith("ffn_down.weight"))!.offset,
    );
    const folder = scratch();
    const broken = join(folder, "broken.gguf");
    writeFileSync(broken, bytes);
    const out = join(folder, "out.gguf");
    await expect(quantise(broken, "Q8_0", out, quiet)).rejects.toThrow(
      /^quantise: llama.cpp could not: .*invalid data/,
    );
    expect(existsSync(out)).toBe(false);
    expect(readdirSync(folder)).toEqual(["broken.gguf"]);
  });

  it("ends with its signal", async () => {
    const stop = new AbortController();
    const out = join(scratch(), "never.gguf");
    const run = quantise("tally-1m6", "Q4_0", out, {
      threads: 1,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(run).rejects.toThrow(/abort/i);
    expect(existsSync(out)).toBe(false);
  });
});
