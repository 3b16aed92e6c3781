import { describe, expect, it } from "vitest";
import { checkShard, ownsUnit, parseShard } from "../../src/store/shard.js";

describe("shards", () => {
  it("are written i/n from 1", () => {
    expect(parseShard("2/4")).toEqual({ index: 2, of: 4 });
    for (const bad of ["0/4", "5/4", "1", "a/b", "1/0", "-1/2", "1.5/3", ""])
      expect(() => parseShard(bad)).toThrow(/expected i\/n with i from 1 to n/);
  });

  it("every unit belongs to exactly one, in turn", () => {
    const shards = [1, 2, 3, 4].map((index) => ({ index, of: 4 }));
    for (let unit = 0; unit < 21; unit++)
      expect(shards.filter((shard) => ownsUnit(shard, unit)).length).toBe(1);
    expect(ownsUnit(undefined, 3)).toBe(true);
  });

  it("need a log", () => {
    expect(() => checkShard("denseSweep", { index: 1, of: 2 }, undefined)).toThrow(/without a log; give one/);
    expect(() => checkShard("denseSweep", { index: 3, of: 2 }, "x")).toThrow(/shard 3\/2; expected an index/);
    checkShard("denseSweep", undefined, undefined);
  });
});
