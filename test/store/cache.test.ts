import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  cacheFolder,
  expandHome,
  listCache,
  makeCacheFolder,
  pathInside,
  removeFromCache,
} from "../../src/store/cache.js";

describe("cache", () => {
  it("lies where it is told, else where the platform keeps such things", () => {
    expect(cacheFolder({ COUNTLENS_CACHE: "/x/y", XDG_CACHE_HOME: "/z" })).toBe("/x/y");
    expect(cacheFolder({ COUNTLENS_CACHE: "~/models" })).toBe(join(homedir(), "models"));
    expect(cacheFolder({ XDG_CACHE_HOME: "/z" }, "linux")).toBe("/z/countlens");
    expect(cacheFolder({ XDG_CACHE_HOME: "relative" }, "linux")).toBe(join(homedir(), ".cache", "countlens"));
    expect(cacheFolder({}, "darwin")).toBe(join(homedir(), "Library", "Caches", "countlens"));
    expect(cacheFolder({ LOCALAPPDATA: "/l" }, "win32")).toBe(join("/l", "countlens", "Cache"));
    expect(expandHome("~other/x")).toBe("~other/x");
  });

  it("lists, sizes and removes, and stays inside", async () => {
    const cache = mkdtempSync(join(tmpdir(), "countlens-"));
    mkdirSync(join(cache, "models", "m"), { recursive: true });
    writeFileSync(join(cache, "models", "m", "a.gguf"), "12345");
    writeFileSync(join(cache, "models", "m", "b.txt"), "1");
    expect((await listCache({ cache })).map((f) => [f.path, f.bytes])).toEqual([
      ["models/m/a.gguf", 5],
      ["models/m/b.txt", 1],
    ]);
    await expect(removeFromCache("../elsewhere", { cache })).rejects.toThrow(/leads out of its folder/);
    await expect(removeFromCache(".", { cache })).rejects.toThrow(/leads out/);
    expect(await removeFromCache("models/m", { cache })).toBe(6);
    expect(await removeFromCache("models/m", { cache })).toBe(0);
    expect(await listCache({ cache: join(cache, "none") })).toEqual([]);
  });

  it("lets no path escape, and says which variable moves a cache that cannot be made", async () => {
    expect(pathInside("/c", "a", "b.gguf")).toBe("/c/a/b.gguf");
    for (const bad of ["..", "a/../../x", "/etc/passwd", ""])
      expect(() => pathInside("/c", bad)).toThrow(/leads out/);
    const file = join(mkdtempSync(join(tmpdir(), "countlens-")), "f");
    writeFileSync(file, "");
    await expect(makeCacheFolder(join(file, "x"))).rejects.toThrow(
      /cannot be made \(ENOTDIR\); set COUNTLENS_CACHE/,
    );
  });
});
