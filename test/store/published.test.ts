import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../src/store/project-root.js";
import { loadPublished, pairFrequency } from "../../src/store/published.js";

const shared = join(projectRoot(), "..", "shared", "published", "zeh");
const here = existsSync(join(shared, "c4_frequency_results.json"));

describe("published data", () => {
  it("is undefined where it is nowhere and not to be fetched, and an error in a folder that lacks it", async () => {
    const empty = mkdtempSync(join(tmpdir(), "countlens-"));
    await expect(loadPublished({ folder: empty })).rejects.toThrow(/lacks files of zeh-published/);
    if (!here) expect(await loadPublished({ cache: empty })).toBeUndefined();
  });

  it("looks up unordered pairs, and ordered ones as published", () => {
    const frequency = new Map([["2,3", 7]]);
    expect(pairFrequency(frequency, 3, 2)).toBe(7);
    expect(pairFrequency(frequency, 3, 2, { ordered: true })).toBe(0);
    expect(pairFrequency(frequency, 2, 3, { ordered: true })).toBe(7);
    expect(pairFrequency(frequency, 9, 9)).toBe(0);
  });

  // Skipped where the data are not beside the project: they are not part of the repository.
  it.skipIf(!here)("gives seven models with the published error counts, answers and keys", async () => {
    const data = (await loadPublished({ folder: shared }))!;
    expect(data.grids.map((g) => g.parameters)).toEqual([0.5e9, 1.5e9, 3e9, 7e9, 14e9, 32e9, 72e9]);
    expect(data.grids.map((g) => g.errors.length)).toEqual([4412, 2360, 2032, 668, 287, 140, 141]);
    expect(data.grids.filter((g) => g.responses !== undefined)).toHaveLength(5);
    for (const grid of data.grids) {
      expect(grid.total).toBe(9801);
      expect(grid.range).toEqual([1, 99]);
      expect(grid.errors.every((e) => e.expected === e.a * e.b && e.predicted !== e.expected)).toBe(true);
      if (grid.responses !== undefined) expect(grid.responses.size).toBe(9801);
    }
    expect(data.frequency.size).toBe(2194);
    const keys = [...data.frequency.keys()].map((key) => key.split(",").map(Number));
    expect(keys.every(([a, b]) => a! <= b!)).toBe(true);
    expect(data.files).toHaveLength(8);
  });

  it.skipIf(!here)("refuses a changed file", async () => {
    const folder = join(mkdtempSync(join(tmpdir(), "countlens-")), "zeh");
    cpSync(shared, folder, { recursive: true });
    const path = join(folder, "c4_frequency_results.json");
    const text = readFileSync(path, "utf8");
    const { chmodSync } = await import("node:fs");
    chmodSync(path, 0o644);
    writeFileSync(path, text.replace('"18,36": 7', '"18,36": 8'));
    await expect(loadPublished({ folder })).rejects.toThrow(/has sha256 .* expected 9e7b4d25/);
  });
});
