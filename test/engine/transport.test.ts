import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import type { Evaluation } from "../../src/engine/request.js";
import { Outbox, unpack } from "../../src/engine/transport.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-outbox-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An evaluation of one capture with `length` numbers that begin at `first`. */
function evaluation(length: number, first = 0): Evaluation {
  const data = Float32Array.from({ length }, (_, i) => first + i);
  const capture = { hook: residPost(0), positions: Int32Array.of(0), width: length, data };
  return { results: [{ captures: [capture] }], stats: {} } as unknown as Evaluation;
}
const dataOf = ({ results }: Evaluation) => results[0]!.captures[0]!.data;

describe("Outbox", () => {
  const large = 100_000;

  it("puts large arrays into a file, and small ones into the message", () => {
    const outbox = new Outbox(folder);
    const small = outbox.pack(evaluation(10));
    expect(small.file).toBeUndefined();
    expect([...dataOf(unpack(small))]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const parcel = outbox.pack(evaluation(large, 5));
    expect(dataOf(parcel.evaluation)).toHaveLength(0);
    expect(dataOf(unpack(parcel))).toEqual(dataOf(evaluation(large, 5)));
  });

  it("writes over a file that was given back, shorter contents too, and never over one on its way", () => {
    const outbox = new Outbox(folder);
    const first = outbox.pack(evaluation(2 * large));
    const second = outbox.pack(evaluation(large, 7));
    expect(second.file).not.toBe(first.file);
    unpack(first);
    outbox.takeBack(first.file!);
    outbox.pack(evaluation(3)); // small: the kept file stays kept
    const third = outbox.pack(evaluation(large, 9));
    expect(third.file).toBe(first.file);
    expect(dataOf(unpack(second))).toEqual(dataOf(evaluation(large, 7)));
    expect(dataOf(unpack(third))).toEqual(dataOf(evaluation(large, 9)));
    // One is kept, no more.
    outbox.takeBack(second.file!);
    outbox.takeBack(third.file!);
    expect(existsSync(third.file!)).toBe(false);
    expect(existsSync(second.file!)).toBe(true);
  });

  it("goes on after a file that could not be written, or was taken away", () => {
    const place = mkdtempSync(join(tmpdir(), "countlens-outbox-"));
    const outbox = new Outbox(place);
    const first = outbox.pack(evaluation(large));
    outbox.takeBack(first.file!);
    rmSync(first.file!);
    expect(() => outbox.pack(evaluation(large))).toThrow(/ENOENT/);
    const next = outbox.pack(evaluation(large, 3));
    expect(dataOf(unpack(next))[0]).toBe(3);
    outbox.takeBack(join(place, "never"));
    expect(readdirSync(place)).toHaveLength(1);
    rmSync(place, { recursive: true });
  });
});
