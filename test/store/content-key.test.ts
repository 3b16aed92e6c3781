import { describe, expect, it } from "vitest";
import { contentKey } from "../../src/store/content-key.js";

describe("contentKey", () => {
  it("is the same for the same content, whatever the order of keys and the backing buffer", () => {
    const tokens = Int32Array.of(1, 2, 3);
    const a = contentKey({ seed: 1, edit: { hook: "residPost(3)", rows: Float32Array.of(0.5) }, tokens });
    const view = new Int32Array(new Int32Array([9, 1, 2, 3]).buffer, 4);
    const b = contentKey({
      tokens: view,
      edit: { rows: Float32Array.of(0.5), hook: "residPost(3)", extra: undefined },
      seed: 1,
    });
    expect(a).toMatch(/^[0-9a-f]{64}$/);
    expect(b).toBe(a);
    expect(contentKey(-0)).toBe(contentKey(0));
  });

  it("differs for every different content", () => {
    const values: unknown[] = [
      null,
      true,
      false,
      0,
      1,
      "1",
      1n,
      "",
      [],
      {},
      [[]],
      [null],
      ["a", "b"],
      ["ab"],
      { a: 1 },
      { a: "1" },
      { b: 1 },
      { a: { b: 1 } },
      { a: 1, b: 2 },
      [1, 2],
      Int32Array.of(1, 2),
      Float32Array.of(1, 2),
      Uint8Array.of(1, 2),
      Number.NaN,
      Number.POSITIVE_INFINITY,
      0.1,
      0.1 + 1e-18,
      new Int32Array(0),
      new Uint8Array(0),
      Float32Array.of(-0),
      Float32Array.of(0),
    ];
    expect(new Set(values.map(contentKey)).size).toBe(values.length - 1); // 0.1 and 0.1 + 1e-18 are one number
  });

  it("is the same in every process (a fixed figure)", () => {
    expect(contentKey({ a: [1, "x", null], b: Float32Array.of(1) })).toMatchInlineSnapshot(
      `"d7ca6124969671594c2bd3c784454d64d5828dc9e524f45734fc76afb0a13d37"`,
    );
  });

  it("refuses what is no data and names the field", () => {
    expect(() => contentKey({ a: [() => 1] })).toThrow("contentKey: value.a[0] is function");
    expect(() => contentKey({ when: new Date() })).toThrow("value.when is Date");
    expect(() => contentKey(new Map())).toThrow("value is Map");
    expect(() => contentKey([undefined])).toThrow("value[0] is undefined");
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(() => contentKey(loop)).toThrow("value.self is a cycle");
    const shared = { x: 1 };
    expect(contentKey([shared, shared])).toBe(contentKey([{ x: 1 }, { x: 1 }]));
  });
});
