import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkCatalogue, findEntry, readCatalogue } from "../../src/store/catalogue.js";
import { projectRoot } from "../../src/store/project-root.js";
import { mutate, mutateJson, seededInts } from "./mutations.js";

const good = {
  version: 1,
  entries: [
    {
      name: "m",
      kind: "model",
      description: "a model",
      licence: "MIT",
      files: [
        {
          path: "m.gguf",
          bytes: 3,
          sha256: "a".repeat(64),
          sources: [{ type: "url", url: "https://x.org/m" }],
        },
      ],
    },
  ],
};

/** The catalogue with one value of it replaced, by a path such as `entries.0.name`. */
function changed(path: string, value: unknown): unknown {
  const copy = structuredClone(good) as unknown as Record<string, unknown>;
  const steps = path.split(".");
  let at: Record<string, unknown> = copy;
  for (const step of steps.slice(0, -1)) at = at[step] as Record<string, unknown>;
  at[steps.at(-1)!] = value;
  return copy;
}

describe("catalogue", () => {
  it("of the project is sound: both models from the index and the hub, the published data, the organisms", () => {
    const catalogue = readCatalogue();
    const smol = findEntry(catalogue, "smollm2-135m-instruct");
    expect(smol.files[0]!.sources.map((s) => s.type)).toEqual(["pypi", "hf"]);
    const gemma = findEntry(catalogue, "gemma-3-270m").files[0]!;
    const [pypi] = gemma.sources;
    expect(pypi?.type === "pypi" && pypi.parts.length).toBe(4);
    expect(findEntry(catalogue, "zeh-published").files).toHaveLength(8);
    expect(catalogue.entries.filter((e) => e.kind === "organism").map((e) => e.name)).toContain("tally-400k");
    for (const { kind, files } of catalogue.entries) {
      if (kind === "model" || kind === "data") expect(files.every((f) => f.sha256 && f.bytes)).toBe(true);
    }
  });

  it.each([
    ["version", 2, /version is 2; expected 1/],
    ["entries", {}, /entries is {}; expected a list/],
    ["entries.0.name", "M x", /entries\[0\]\.name is M x/],
    ["entries.0.kind", "toy", /m\.kind is toy; expected model, organism/],
    ["entries.0.files", [], /m\.files is none/],
    [
      "entries.0.files.0.path",
      "../../etc/passwd",
      /path is \.\.\/\.\.\/etc\/passwd; expected a relative path/,
    ],
    ["entries.0.files.0.path", "/m.gguf", /expected a relative path/],
    ["entries.0.files.0.path", "a\\b", /expected a relative path/],
    ["entries.0.files.0.path", "C:m", /expected a relative path/],
    ["entries.0.files.0.bytes", 1.5, /bytes is 1.5; expected a positive integer/],
    ["entries.0.files.0.sha256", "ABC", /sha256 is ABC; expected a sha256/],
    ["entries.0.files.0.sources.0.type", "ftp", /type is ftp; expected pypi, hf, url or local/],
    ["entries.0.files.0.sources.0.url", "https://me:pw@x.org/m", /without credentials/],
    ["entries.0.files.0.sources.0.url", "file:///m", /expected an http/],
  ])("refuses %s = %j", (path, value, message) => {
    expect(() => checkCatalogue(changed(path, value))).toThrow(message);
  });

  it("refuses a name given twice, and a file that is none", () => {
    const entry = good.entries[0];
    expect(() => checkCatalogue({ version: 1, entries: [entry, entry] })).toThrow(
      /name is m; expected a name that is/,
    );
    const path = join(mkdtempSync(join(tmpdir(), "countlens-")), "c.json");
    expect(() => readCatalogue(path)).toThrow(/cannot be read \(ENOENT\)/);
    writeFileSync(path, "{");
    expect(() => readCatalogue(path)).toThrow(/is no JSON/);
  });

  it("suggests the nearest name", () => {
    expect(() => findEntry(readCatalogue(), "gemma-3-270")).toThrow(
      /no entry named gemma-3-270; did you mean gemma-3-270m/,
    );
  });
});

describe("1,000 damaged catalogues", () => {
  it("a checked catalogue or one line", () => {
    const shipped = readFileSync(join(projectRoot(), "data", "catalogue.json"));
    const draw = seededInts(21);
    const path = join(mkdtempSync(join(tmpdir(), "catalogue-")), "mutant.json");
    let read = 0;
    for (let k = 0; k < 1000; k++) {
      const bytes =
        k % 2 === 0
          ? mutate(shipped, draw, shipped.length)
          : JSON.stringify(mutateJson(JSON.parse(shipped.toString("utf8")), draw));
      writeFileSync(path, bytes);
      try {
        const { entries } = readCatalogue(path);
        read++;
        // Whatever passes cannot lead out of its folder, and names no file of another size than it says.
        for (const { path, bytes, sha256 } of entries.flatMap(({ files }) => files)) {
          expect(path.split("/")).not.toContain("..");
          expect(bytes === null || bytes > 0).toBe(true);
          expect(sha256 === null || /^[0-9a-f]{64}$/.test(sha256)).toBe(true);
        }
      } catch (error) {
        expect((error as Error).message).toMatch(/^(readCatalogue|catalogue): [^\n]*$/);
      }
    }
    expect(read).toBeGreaterThan(50);
    expect(read).toBeLessThan(950);
  });
});
