import { describe, expect, it } from "vitest";
import { type Checker, type SearchOptions, searchHorizon } from "../../src/assays/horizon-search.js";
import type { Check } from "../../src/assays/verification/check.js";
import { random } from "../../src/stats/random.js";
import { MULTIPLICATION_TEMPLATES, multiplication } from "../../src/tasks/multiplication.js";
import { parity } from "../../src/tasks/parity.js";

const options: SearchOptions = {
  template: MULTIPLICATION_TEMPLATES[0]!,
  upTo: 30,
  wholeGrid: false,
  texts: "limiters",
  mostInstances: 100_000,
  signal: new AbortController().signal,
};

/** Verdicts from a set of wrong keys; `corrected` ones turn out right when their full answers are seen. */
function from(wrong: ReadonlySet<string>, lookAhead: boolean, corrected: ReadonlySet<string> = new Set()) {
  const seen: string[] = [];
  const completed: string[] = [];
  const checker: Checker = {
    lookAhead,
    check: async (items) =>
      items.map(({ key }): Check => {
        seen.push(key);
        return { verdict: wrong.has(key) ? "wrong" : "right", margin: 1, by: "forced" };
      }),
    complete: async (items, checks) =>
      checks.map((check, i): Check => {
        completed.push(items[i]!.key);
        return corrected.has(items[i]!.key) ? { ...check, verdict: "right" } : { ...check, text: "9" };
      }),
  };
  return { checker, seen, completed };
}

function randomErrors(draw: ReturnType<typeof random>): Set<string> {
  return new Set(
    Array.from({ length: draw.integer(0, 8) }, () => `${draw.integer(1, 30)},${draw.integer(1, 30)}`),
  );
}

describe("searchHorizon", () => {
  it("finds the same sizes and limiters with and without looking ahead, and over the whole grid", async () => {
    for (let seed = 0; seed < 60; seed++) {
      const draw = random(seed, "search");
      const wrong = randomErrors(draw);
      const corrected = new Set([...wrong].filter(() => draw.uniform() < 0.3));
      const real = [...wrong].filter((key) => !corrected.has(key));
      const first = Math.min(31, ...real.map((key) => Math.max(...key.split(",").map(Number))));
      for (const [lookAhead, wholeGrid] of [
        [false, false],
        [true, false],
        [true, true],
      ] as const) {
        const { checker, seen } = from(wrong, lookAhead, corrected);
        const found = await searchHorizon(multiplication(), checker, { ...options, wholeGrid });
        expect(found.failing ?? 31).toBe(first);
        expect(found.last).toBe(wholeGrid ? 30 : Math.min(first, 30));
        expect(found.checked).toHaveLength(found.last ** 2);
        expect(new Set(seen).size).toBe(seen.length);
      }
    }
  });

  it("asks for full answers of the failing size only, or of all errors", async () => {
    const wrong = new Set(["2,5", "5,1", "9,9"]);
    const limited = from(wrong, true);
    await searchHorizon(multiplication(), limited.checker, { ...options, wholeGrid: true });
    expect(limited.completed).toEqual(["2,5", "5,1"]);
    const all = from(wrong, true);
    await searchHorizon(multiplication(), all.checker, { ...options, wholeGrid: true, texts: "errors" });
    expect(all.completed.slice(0, 3)).toEqual(["2,5", "5,1", "9,9"]);
  });

  it("stops before a size that is too large, and says so", async () => {
    const { checker } = from(new Set(), true);
    const template = parity().templates[0]!;
    const found = await searchHorizon(parity(), checker, {
      ...options,
      template,
      upTo: 99,
      mostInstances: 1000,
    });
    expect(found.last).toBe(8);
    expect(found.stopped).toBe("size 9 has 512 instances; mostInstances is 1000");
  });

  it("an aborted search gives nothing", async () => {
    const stop = new AbortController();
    const { checker } = from(new Set(), false);
    const search = searchHorizon(multiplication(), checker, {
      ...options,
      signal: stop.signal,
      onProgress: ({ done }) => {
        if (done >= 9) stop.abort(new Error("interrupted"));
      },
    });
    await expect(search).rejects.toThrow("interrupted");
  });
});
