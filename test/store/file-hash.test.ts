import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileHash, rememberHash } from "../../src/store/file-hash.js";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");

describe("fileHash", () => {
  const folder = mkdtempSync(join(tmpdir(), "countlens-"));
  const cache = join(folder, "cache");
  const path = join(folder, "f");

  it("hashes once and remembers as long as the file stays", async () => {
    writeFileSync(path, "one");
    const reads: number[] = [];
    const options = { cache, onProgress: (p: { done: number }) => reads.push(p.done) };
    expect(await fileHash(path, options)).toEqual({ sha256: digest("one"), bytes: 3 });
    expect(reads.length).toBeGreaterThan(0);
    reads.length = 0;
    expect((await fileHash(path, options)).sha256).toBe(digest("one"));
    expect(reads).toEqual([]);
    await fileHash(path, { ...options, fresh: true });
    expect(reads.length).toBeGreaterThan(0);
  });

  it("sees a change of equal length, even with the old date put back", async () => {
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "two");
    utimesSync(path, atime, mtime);
    expect((await fileHash(path, { cache })).sha256).toBe(digest("two"));
  });

  it("keeps the source of what was fetched, and survives a broken or impossible record", async () => {
    const sha256 = digest("two");
    await rememberHash(path, { sha256, bytes: 3, source: "pypi:x==1" }, cache);
    expect((await fileHash(path, { cache })).source).toBe("pypi:x==1");
    const record = join(cache, "hashes", readdirSync(join(cache, "hashes"))[0]!);
    writeFileSync(record, readFileSync(record, "utf8").slice(0, 20));
    expect(await fileHash(path, { cache })).toEqual({ sha256, bytes: 3 });
    expect((await fileHash(path, { cache: join(path, "no-folder") })).sha256).toBe(sha256);
  });
});
