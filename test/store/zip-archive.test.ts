import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { crc32, extractMember, listMembers } from "../../src/store/zip-archive.js";
import { mutate, seededInts } from "./mutations.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-"));
const int = seededInts(3);
const noise = Uint8Array.from({ length: 700_000 }, () => int(7) * int(30));
const small = Buffer.from("one, two, three\n".repeat(50));

function archive(name: string): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    zipSync({
      "pkg/data/model.bin": noise,
      "pkg/__init__.py": [small, { level: 0 }],
      "pkg/none": [] as unknown as Uint8Array,
    }),
  );
  return path;
}

async function bytesOf(path: string, member: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await extractMember(path, member, (chunk) => void chunks.push(Buffer.from(chunk)));
  return Buffer.concat(chunks);
}

describe("zip archives", () => {
  const path = archive("a.whl");

  it("gives deflated, stored and empty members exactly", async () => {
    expect((await bytesOf(path, "pkg/data/model.bin")).equals(noise)).toBe(true);
    expect((await bytesOf(path, "pkg/__init__.py")).equals(small)).toBe(true);
    expect(await listMembers(path)).toHaveLength(3);
  });

  it("waits for its sink before it goes on", async () => {
    let busy = false;
    await extractMember(path, "pkg/data/model.bin", async () => {
      expect(busy).toBe(false);
      busy = true;
      await new Promise((resolve) => setImmediate(resolve));
      busy = false;
    });
  });

  it("reads ZIP64 archives, as Python writes them", async () => {
    const out = join(folder, "z64.zip");
    const script = `import zipfile,sys
with zipfile.ZipFile(sys.argv[1],"w",zipfile.ZIP_DEFLATED) as z:
    with z.open("big.txt","w",force_zip64=True) as f: f.write(b"abc"*1000)
`;
    try {
      execFileSync("python3", ["-c", script, out], { stdio: "pipe" });
    } catch {
      return; // no Python here
    }
    expect((await bytesOf(out, "big.txt")).toString()).toBe("abc".repeat(1000));
  });

  it("names a member that is not there, a cut archive and one that is none", async () => {
    await expect(bytesOf(path, "pkg/nothing")).rejects.toThrow(/holds no pkg\/nothing/);
    const cut = join(folder, "cut.whl");
    writeFileSync(cut, readFileSync(path).subarray(0, 20_000));
    await expect(bytesOf(cut, "pkg/data/model.bin")).rejects.toThrow(/does not end as a zip archive/);
    const none = join(folder, "none.whl");
    writeFileSync(none, "<html>404</html>");
    await expect(bytesOf(none, "x")).rejects.toThrow(/damaged or of another kind/);
  });

  it("finds one changed byte in the data by its CRC-32", async () => {
    const bytes = readFileSync(path);
    const at = bytes.indexOf(small) + 5; // stored: the bytes stand there as they are
    bytes[at] = bytes[at]! ^ 1;
    const changed = join(folder, "changed.whl");
    writeFileSync(changed, bytes);
    await expect(bytesOf(changed, "pkg/__init__.py")).rejects.toThrow(/another CRC-32/);
  });

  it("stops at an abort", async () => {
    const stop = new AbortController();
    stop.abort(new Error("enough"));
    await expect(
      extractMember(path, "pkg/data/model.bin", () => {}, { signal: stop.signal }),
    ).rejects.toThrow("enough");
  });

  it("survives 1,000 damaged archives: the right bytes or one line, never a hang", async () => {
    const tiny = zipSync({ a: small, "b/c": [Buffer.from("stored"), { level: 0 }] });
    const draw = seededInts(11);
    const changed = join(folder, "mutant.zip");
    let right = 0;
    let refused = 0;
    for (let k = 0; k < 1000; k++) {
      writeFileSync(changed, mutate(tiny, draw, tiny.length));
      try {
        const got = await bytesOf(changed, "a");
        expect(got.equals(small)).toBe(true); // CRC-32 and length hold
        right++;
      } catch (error) {
        expect((error as Error).message).toMatch(/^(zip|extractMember): [^\n]*$/);
        refused++;
      }
    }
    expect(right).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(100);
  });

  it("computes CRC-32 in pieces (check value of the standard)", () => {
    expect(crc32(Buffer.from("123456789"))).toBe(0xcbf43926);
    expect(crc32(Buffer.from("6789"), crc32(Buffer.from("12345")))).toBe(0xcbf43926);
  });
});
