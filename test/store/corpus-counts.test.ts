import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../src/stats/random.js";
import { corpusCommand } from "../../src/store/corpus-command.js";
import { type CorpusCounts, countCorpus } from "../../src/store/corpus-counts.js";
import { PRODUCT_FORMS } from "../../src/store/corpus-forms.js";
import { mergeCounts } from "../../src/store/corpus-merge.js";

/** What looks like a product and is none of the 9,801: each must leave the counts alone. */
const NEAR_MISSES = [
  "113*45",
  "13*450",
  "1.13*45",
  "13*45.5",
  "2.0.3x4.1",
  "v3x4",
  "3x4cm",
  "0x12",
  "03*04",
  "2024-03-3 x 4-5",
  "12/3*4",
  "3*4/5",
  "3*4*5",
  "2 x 3 x 4",
  "113 * 4 * 5",
  "100 times 4",
  "3 ** 4",
  "3 * x",
  "1,3*4",
  "12:3*4",
  "2024-11-30",
  "3.4.5",
  "3/4",
];

interface Planted {
  readonly documents: string[];
  readonly pairs: Map<string, number>;
  readonly byForm: Map<string, number>;
}

/** Documents of words, products in all forms and near misses, and what a right count of them is. */
function plant(seed: number, documents: number): Planted {
  const draw = random(seed, "corpus");
  const pairs = new Map<string, number>();
  const byForm = new Map<string, number>(PRODUCT_FORMS.map((form) => [form, 0]));
  const words = ["the", "sum\n", "of", '"quoted"', "Größe,", "(see", "below)", "7", "99", "é", "is", "= 12."];
  const texts = Array.from({ length: documents }, () => {
    const parts: string[] = [];
    for (let i = 0; i < 40; i += 1) {
      const kind = draw.uniform();
      if (kind < 0.15) {
        const [a, b] = [draw.integer(1, 12), draw.integer(1, 99)];
        const form = draw.choice(PRODUCT_FORMS);
        const key = a <= b ? `${a},${b}` : `${b},${a}`;
        pairs.set(key, (pairs.get(key) ?? 0) + 1);
        byForm.set(form, (byForm.get(form) ?? 0) + 1);
        // A comma, a full stop or an equals sign right behind does not make it anything else.
        parts.push(
          form.replace("{a}", String(a)).replace("{b}", String(b)) + draw.choice(["", ",", ".", "=", ")"]),
        );
      } else if (kind < 0.3) parts.push(draw.choice(NEAR_MISSES));
      else parts.push(draw.choice(words));
    }
    return parts.join(" and ");
  });
  return { documents: texts, pairs, byForm };
}

const jsonl = (texts: readonly string[]) =>
  texts.map((text, i) => `${JSON.stringify({ url: `u${i}`, text })}\n`).join("");

let folder: string;
const shards: string[] = [];
const planted = Array.from({ length: 6 }, (_, i) => plant(i, 60));
const all = new Map<string, number>();
for (const { pairs } of planted) for (const [key, count] of pairs) all.set(key, (all.get(key) ?? 0) + count);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "corpus-"));
  for (const [i, { documents }] of planted.entries()) {
    const plain = join(folder, `shard-${i}.jsonl`);
    await writeFile(plain, jsonl(documents));
    if (i % 3 === 0) shards.push(plain);
    else if (i % 3 === 1) {
      await writeFile(`${plain}.gz`, gzipSync(jsonl(documents)));
      shards.push(`${plain}.gz`);
    } else {
      const { DuckDBInstance } = await import("@duckdb/node-api");
      const connection = await (await DuckDBInstance.create(":memory:")).connect();
      const parquet = join(folder, `shard-${i}.parquet`);
      await connection.run(`COPY (SELECT * FROM read_json('${plain}')) TO '${parquet}' (FORMAT parquet)`);
      connection.closeSync();
      shards.push(parquet);
    }
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("countCorpus", () => {
  it("counts what was planted, exactly, in JSONL, gzip and Parquet", async () => {
    const { summary, pair_counts } = await countCorpus({ shards });
    expect(new Map(Object.entries(pair_counts))).toEqual(new Map([...all]));
    const characters = planted
      .flatMap(({ documents }) => documents)
      .reduce((n, text) => n + [...text].length, 0);
    expect(summary).toMatchObject({
      total_documents: 360,
      total_characters: characters,
      total_matches: [...all.values()].reduce((sum, count) => sum + count, 0),
      unique_pairs: all.size,
      shards_processed: 6,
      missing_shards: [],
      keys: "unordered",
      operands: [1, 99],
      forms: PRODUCT_FORMS,
    });
    for (const form of PRODUCT_FORMS)
      expect(summary.matches_by_form[form]).toBe(
        planted.reduce((n, { byForm }) => n + (byForm.get(form) ?? 0), 0),
      );
  });

  it("counts no near miss, and says what it takes for one", async () => {
    const shard = join(folder, "near.jsonl");
    await writeFile(shard, jsonl([...NEAR_MISSES, NEAR_MISSES.join(" "), NEAR_MISSES.join("\n")]));
    const { summary, pair_counts } = await countCorpus({ shards: [shard] });
    expect(pair_counts).toEqual({});
    expect(summary.not_counted).toContain("113*45");
  });

  it("keeps the order, and takes other forms and operands, when asked", async () => {
    const shard = join(folder, "order.jsonl");
    await writeFile(shard, jsonl(["3*4 4*3 4*3 3·4 120*7", "", "5 by 6"]));
    const ordered = await countCorpus({ shards: [shard], keys: "ordered" });
    expect(ordered.pair_counts).toEqual({ "3,4": 1, "4,3": 2 });
    expect(ordered.summary.keys).toBe("ordered");
    const forms = ["{a}·{b}", "{a} by {b}", "{a}*{b}"];
    const other = await countCorpus({ shards: [shard], forms, operands: [4, 200] });
    expect(other.pair_counts).toEqual({ "5,6": 1, "7,120": 1 });
    expect(other.summary.forms).toEqual(forms);
  });

  it("goes on after an interruption and counts each shard once", async () => {
    const work = join(folder, "work");
    const stop = new AbortController();
    const first = countCorpus({
      shards,
      work,
      signal: stop.signal,
      onProgress: ({ done }) => {
        if (done === 2) stop.abort(new Error("stopped by the test"));
      },
    });
    await expect(first).rejects.toThrow("stopped by the test");
    expect((await readdir(work)).length).toBe(2);
    // What a kill leaves behind is never read.
    await writeFile(join(work, "shard-2.parquet.0.json.1.part"), "{");
    const seen: number[] = [];
    const second = await countCorpus({ shards, work, onProgress: ({ resumed }) => seen.push(resumed) });
    expect(seen.at(-1)).toBe(2);
    expect(second).toEqual(await countCorpus({ shards }));
    // Other rules find nothing to go on from.
    const third: number[] = [];
    await countCorpus({ shards, work, keys: "ordered", onProgress: ({ resumed }) => third.push(resumed) });
    expect(third.at(-1)).toBe(0);
  });

  it("stops within a shard", async () => {
    const big = join(folder, "big.jsonl");
    await writeFile(big, jsonl(plant(99, 60).documents).repeat(400));
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("enough")), 30);
    await expect(countCorpus({ shards: [big], signal: stop.signal })).rejects.toThrow("enough");
  });

  it("gives the same from four jobs merged as from one run", async () => {
    const jobs: CorpusCounts[] = [];
    for (let index = 0; index < 4; index += 1)
      jobs.push(await countCorpus({ shards, shard: { index: index + 1, of: 4 } }));
    expect(jobs.map(({ summary }) => summary.shards_processed)).toEqual([2, 2, 1, 1]);
    const whole = await countCorpus({ shards });
    expect(JSON.stringify(mergeCounts([...jobs].reverse()))).toBe(JSON.stringify(whole));
    expect(() => mergeCounts([whole, jobs[0] as CorpusCounts])).toThrow("is in two parts");
    const other = await countCorpus({ shards: [join(folder, "near.jsonl")], keys: "ordered" });
    expect(() => mergeCounts([whole, other])).toThrow("the parts differ");
    expect(() => mergeCounts([])).toThrow("mergeCounts: no parts");
  });

  it("refuses wrong input before it starts, and states unreadable shards", async () => {
    await expect(countCorpus({ shards: [] })).rejects.toThrow("countCorpus: no shards");
    await expect(countCorpus({ shards: [shards[0]!, shards[0]!] })).rejects.toThrow("is listed twice");
    await expect(countCorpus({ shards, shard: { index: 0, of: 4 } })).rejects.toThrow("shard 0/4");
    await expect(countCorpus({ shards: [join(folder, "no.jsonl")] })).rejects.toThrow("no.jsonl is no file");
    const text = join(folder, "notes.txt");
    await writeFile(text, "3*4");
    await expect(countCorpus({ shards: [text] })).rejects.toThrow("expected .jsonl");
    const broken = join(folder, "broken.jsonl.gz");
    await writeFile(broken, "this is no gzip");
    await expect(countCorpus({ shards: [broken] })).rejects.toThrow(`countCorpus: ${broken} cannot be read`);
    const kept = await countCorpus({ shards: [shards[0]!, broken], onUnreadable: "record" });
    expect(kept.summary).toMatchObject({ shards_processed: 1, missing_shards: [broken] });
    await expect(countCorpus({ shards: [shards[2]!], column: "body" })).rejects.toThrow('its column "body"');
  });
});

describe("corpusCommand", () => {
  const lines: string[] = [];
  const out = { line: (text: string) => lines.push(text), error: (text: string) => lines.push(text) };

  it("counts as a job array and merges, in the published file's form", async () => {
    const parts = join(folder, "parts");
    await mkdir(parts);
    const files = [0, 1, 2, 3].map((k) => join(parts, `${k}.json`));
    for (const [k, file] of files.entries())
      expect(await corpusCommand(["count", ...shards, "--shard", `${k + 1}/4`, "--out", file], out)).toBe(0);
    const merged = join(parts, "all.json");
    expect(await corpusCommand(["merge", ...files, "--out", merged], out)).toBe(0);
    const { summary, pair_counts } = JSON.parse(await readFile(merged, "utf8")) as CorpusCounts;
    expect(new Map(Object.entries(pair_counts))).toEqual(new Map([...all]));
    expect(summary.total_documents).toBe(360);
    expect(lines.at(-1)).toContain("(unordered keys) in 360 documents");
    expect(lines.join("\n")).toMatch(/2\/2 {2}.*MB\/s/);
  });

  it("says how it is used, and what failed", async () => {
    expect(await corpusCommand([], out)).toBe(2);
    expect(await corpusCommand(["count", "--out", "x", "--nonsense"], out)).toBe(2);
    expect(lines.at(-1)).toContain("usage: npm run corpus");
    expect(await corpusCommand(["--help"], out)).toBe(0);
    const file = join(folder, "x.json");
    expect(await corpusCommand(["count", ...shards, "--shard", "a", "--out", file], out)).toBe(1);
    expect(lines.at(-1)).toContain('shard: "a"; expected i/n');
    expect(await corpusCommand(["merge", shards[0]!, "--out", file], out)).toBe(1);
    const stopped = AbortSignal.abort();
    expect(
      await corpusCommand(["count", ...shards, "--work", join(folder, "w"), "--out", file], out, stopped),
    ).toBe(130);
    expect(lines.at(-1)).toContain("the same command goes on from here");
  });
});
