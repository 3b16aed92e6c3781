import { describe, expect, it } from "vitest";
import type { EngineInfo } from "../../src/engine/engine.js";
import { groupsOf } from "../../src/engine/generation-groups.js";
import type { PlacedRequest } from "../../src/engine/validate.js";

const info = {
  kvBytesPerToken: 1000,
  parameters: 100_000,
  width: 48,
  layers: 4,
  settings: { gpuLayers: 0 },
} as unknown as EngineInfo;

const prompt = (tokens: number[], privateFrom = Number.POSITIVE_INFINITY) => ({
  placed: { tokens: Int32Array.from(tokens), privateFrom } as unknown as PlacedRequest,
});
const range = (from: number, length: number) => Array.from({ length }, (_, i) => from + i);
const sizes = (groups: readonly (readonly unknown[])[]) => groups.map(({ length }) => length);

describe("groupsOf", () => {
  it("keeps together what shares its prompt, up to the ids there are", () => {
    const alike = Array.from({ length: 300 }, () => prompt(range(0, 100)));
    expect(sizes(groupsOf(info, alike, 4, false))).toEqual([254, 46]);
    const tails = Array.from({ length: 60 }, (_, i) => prompt([...range(0, 100), 1000 + i, 7]));
    expect(sizes(groupsOf(info, tails, 4, false))).toEqual([60]);
  });

  it("parts what does not: other prompts, edited ones, and all where nothing may be shared", () => {
    const others = Array.from({ length: 8 }, (_, i) => prompt(range(1000 * i, 60)));
    expect(sizes(groupsOf(info, others, 4, false))).toEqual([4, 4]);
    const edited = Array.from({ length: 8 }, () => prompt(range(0, 60), 2));
    expect(sizes(groupsOf(info, edited, 4, false))).toEqual([4, 4]);
    const alike = Array.from({ length: 8 }, () => prompt(range(0, 60)));
    expect(sizes(groupsOf(info, alike, 4, true))).toEqual([4, 4]);
  });

  it("counts what is shared with any prompt of the group, and lets a long first prompt carry as much again", () => {
    const lists = [400, 100, 380, 120, 360].map((length) => prompt([...range(0, length), 9999]));
    expect(sizes(groupsOf(info, lists, 4, false))).toEqual([5]);
    const long = Array.from({ length: 4 }, (_, i) =>
      prompt([...range(0, 500), ...range(1000 * (i + 1), 240)]),
    );
    expect(sizes(groupsOf(info, long, 4, false))).toEqual([4]);
  });

  it("holds the cache within its bytes, and leaves groups large on a GPU", () => {
    const alike = Array.from({ length: 100 }, () => prompt(range(0, 100)));
    expect(sizes(groupsOf({ ...info, kvBytesPerToken: 1e6 }, alike, 100, false))).toEqual(Array(50).fill(2));
    const gpu = { ...info, settings: { ...info.settings, gpuLayers: -1 } };
    const edited = Array.from({ length: 40 }, () => prompt(range(0, 60), 2));
    expect(sizes(groupsOf(gpu, edited, 4, false))).toEqual([40]);
    expect(groupsOf(info, [], 4, false)).toEqual([]);
  });
});
