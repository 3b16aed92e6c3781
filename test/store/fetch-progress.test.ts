import { describe, expect, it } from "vitest";
import { type FetchProgress, progressMeter } from "../../src/store/fetch-progress.js";

describe("progressMeter", () => {
  it("gives rate and time left over the last seconds, seldom enough, and always the end", () => {
    const seen: FetchProgress[] = [];
    let time = 0;
    const meter = progressMeter(
      "x",
      1000,
      (p) => seen.push(p),
      () => time,
    );
    for (let done = 0; done <= 1000; done += 10) {
      meter(done);
      time += 50; // 200 bytes a second
    }
    expect(seen).toHaveLength(51);
    expect(seen[0]).toEqual({ what: "x", done: 0, total: 1000, unit: "bytes", bytesPerSecond: 0 });
    expect(seen[25]!.bytesPerSecond).toBeCloseTo(200, 6);
    expect(seen[25]!.secondsLeft).toBeCloseTo(2.5, 6);
    expect(seen.at(-1)).toMatchObject({ done: 1000, secondsLeft: 0 });
  });

  it("knows no time left where the total is not known", () => {
    const seen: FetchProgress[] = [];
    let time = 0;
    const meter = progressMeter(
      "x",
      0,
      (p) => seen.push(p),
      () => time,
    );
    meter(10);
    time = 1000;
    meter(30, true);
    expect(seen.at(-1)).toEqual({ what: "x", done: 30, total: 0, unit: "bytes", bytesPerSecond: 20 });
  });
});
