import { describe, expect, it } from "vitest";
import { duration, progress, progressLine } from "../../src/figures/progress.js";

function recorder(mode: "line" | "log" | "none") {
  const written: string[] = [];
  let clock = 0;
  const reporter = progress("capturing", {
    unit: "tokens",
    mode,
    now: () => clock,
    stream: { write: (text) => written.push(text), columns: 120 },
  });
  const at = (ms: number, done: number): void => {
    clock = ms;
    reporter.update({ done, total: 4000 });
  };
  return { reporter, at, written };
}

describe("progress", () => {
  it("is quiet for two seconds, and about work that ends before", () => {
    const { reporter, at, written } = recorder("line");
    at(500, 100);
    at(1900, 200);
    reporter.end();
    expect(written).toEqual([]);
  });

  it("updates one line in place and ends it", () => {
    const { reporter, at, written } = recorder("line");
    at(2000, 1000);
    at(2050, 1010);
    at(2200, 1100);
    at(8000, 4000);
    reporter.end();
    reporter.update({ done: 1, total: 2 });
    expect(written).toHaveLength(4);
    expect(written[0]).toBe("\r\u001b[Kcapturing 1,000/4,000 tokens (25 %), 500 tokens/s, 6.0 s left");
    expect(written.at(-1)).toBe("\r\u001b[Kcapturing 4,000/4,000 tokens, 500 tokens/s, took 8.0 s\n");
  });

  it("writes one line every 30 s into a log", () => {
    const { at, written } = recorder("log");
    for (let ms = 0; ms <= 70_000; ms += 500) at(ms, ms / 50);
    expect(written).toHaveLength(3);
    expect(written.every((line) => line.endsWith("\n") && !line.includes("\r"))).toBe(true);
  });

  it("can be silenced, and hands itself on as a callback", () => {
    const { reporter, at, written } = recorder("none");
    at(5000, 10);
    reporter.onProgress({ what: "x", done: 1, total: 2, unit: "y" });
    expect(written).toEqual([]);
  });

  it("takes what and unit from the update, and a total that is not known", () => {
    expect(progressLine({ what: "downloading", done: 1500, total: 0, unit: "kB" }, 3000)).toBe(
      "downloading 1,500 kB, 500 kB/s",
    );
    expect(progressLine({ what: "cells", done: 0, total: 10 }, 0)).toBe("cells 0/10 (0 %)");
  });
});

describe("duration", () => {
  it("picks its unit", () => {
    expect([340, 6800, 42_000, 250_000, 7_500_000, 59_999].map(duration)).toEqual([
      "340 ms",
      "6.8 s",
      "42 s",
      "4 min 10 s",
      "2 h 5 min",
      "60 s",
    ]);
  });
});
