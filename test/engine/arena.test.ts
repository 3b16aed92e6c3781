import { describe, expect, it } from "vitest";
import { Arena } from "../../src/engine/arena.js";

describe("Arena", () => {
  it("gives the same memory again after a reset, cleared", () => {
    const arena = new Arena();
    arena.allocate(16); // of its own: nothing is known yet of what will be needed
    arena.reset();
    const first = arena.allocate(4).fill(1);
    const second = arena.allocate(6).fill(2);
    expect(second.buffer).toBe(first.buffer);
    expect(second.byteOffset).toBe(16);
    expect([...first]).toEqual([1, 1, 1, 1]);
    arena.reset();
    const again = arena.allocate(10);
    expect(again.buffer).toBe(first.buffer);
    expect(again.every((value) => value === 0)).toBe(true);
  });

  it("gives more than it holds from elsewhere, and holds it the next time", () => {
    const arena = new Arena();
    arena.allocate(2);
    arena.reset();
    const [inside, outside] = [arena.allocate(2), arena.allocate(6)];
    expect(outside.buffer).not.toBe(inside.buffer);
    expect(outside).toHaveLength(6);
    arena.reset();
    expect(arena.allocate(2).buffer).toBe(arena.allocate(6).buffer);
  });

  it("keeps 32 MB at most", () => {
    const arena = new Arena();
    arena.allocate(20 * 2 ** 20);
    arena.reset();
    expect(arena.allocate(1).buffer.byteLength).toBe(32 * 2 ** 20);
    expect(arena.allocate(20 * 2 ** 20)).toHaveLength(20 * 2 ** 20);
  });
});
