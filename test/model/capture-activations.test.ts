import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attnPattern, heads, residPost } from "../../src/engine/hooks.js";
import { type CaptureOptions, captureActivations, captureSize } from "../../src/model/capture-activations.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { random } from "../../src/stats/random.js";
import { openActivations } from "../../src/store/activation-reader.js";
import { evictActivations, listActivations } from "../../src/store/activation-store.js";
import { activationsCommand } from "../../src/store/activations-command.js";
import { mutate, mutateJson, seededInts } from "../store/mutations.js";

const root = mkdtempSync(join(tmpdir(), "countlens-activations-"));
afterAll(() => rmSync(root, { recursive: true }));
let stores = 0;
const newStore = () => join(root, `store-${stores++}`);
const build = join(import.meta.dirname, "..", "..", "dist", "src", "index.js");

let model: Model;
beforeAll(async () => {
  model = await open("tally-25k", { isolated: false, threads: 1 });
});
afterAll(async () => model?.close());

/** Prompts of 5 to 24 tokens, some with the same beginning. */
function requests(count: number): { tokens: number[] }[] {
  const draw = random(2, "capture");
  return Array.from({ length: count }, () => ({
    tokens: [3, 5, 8, 11, ...Array.from({ length: draw.integer(1, 20) }, () => draw.integer(3, 60))],
  }));
}

const allLayers = () => Array.from({ length: model.info.layers }, (_, layer) => residPost(layer));
const options = (more: Partial<CaptureOptions> = {}): CaptureOptions => ({
  hooks: allLayers(),
  store: newStore(),
  shardBytes: 40_000,
  ...more,
});

describe("captureActivations", () => {
  it("writes what evaluate captures, row by row, over several shards", async () => {
    const asked = requests(40);
    const said: string[] = [];
    const captured = await captureActivations(model, asked, options({ onSize: (text) => said.push(text) }));
    expect(captured.found).toBe(false);
    expect(captured.index.shards.length).toBeGreaterThan(3);
    const rows = asked.reduce((sum, { tokens }) => sum + tokens.length, 0);
    expect(captured.rows).toBe(rows);
    expect(said).toEqual([
      expect.stringMatching(
        new RegExp(`^capturing .*B: ${rows} rows of ${model.info.layers} hook points, to `),
      ),
    ]);
    const { results } = await model.evaluate(
      asked.map(({ tokens }) => ({ tokens, captures: [{ hook: residPost(1), positions: "all" as const }] })),
    );
    const table = await captured.table();
    const { data, width } = await captured.read("residPost(1)");
    let row = 0;
    for (const [i, { tokens }] of asked.entries())
      for (const [position, token] of tokens.entries()) {
        expect([table.request[row], table.position[row], table.token[row]]).toEqual([i, position, token]);
        const expected = results[i]!.captures[0]!.data.subarray(position * width, (position + 1) * width);
        const got = data.subarray(row * width, (row + 1) * width);
        // Shards are batches of their own, so the last digits of what a row is a sum of may differ.
        const scale = Math.max(...expected.map(Math.abs));
        expected.forEach((value, k) => {
          expect(Math.abs(got[k]! - value)).toBeLessThan(1e-5 * scale);
        });
        row++;
      }
    // Pieces are the whole.
    let from = 0;
    for await (const piece of captured.stream("residPost(1)")) {
      expect(piece.from).toBe(from);
      expect(piece.data).toEqual(data.subarray(from * width, from * width + piece.data.length));
      from += piece.data.length / width;
    }
    expect((await captured.read("residPost(1)", 17, 18)).data).toEqual(data.subarray(17 * width, 18 * width));
    await expect(captured.read("residPost(9)")).rejects.toThrow(
      /residPost\(9\) was not captured; the set has residPost\(0\)/,
    );
    await expect(captured.read("residPost(1)", 5, 1e6)).rejects.toThrow(
      /rows 5..1000000; the set has rows 0../,
    );
  });

  it("is found again by content, and by nothing else", async () => {
    const store = newStore();
    const asked = requests(10);
    const first = await captureActivations(model, asked, options({ store }));
    const again = await captureActivations(model, asked, options({ store, shardBytes: 1e6 }));
    expect(again).toMatchObject({ found: true, key: first.key });
    const scaled = [{ hook: residPost(0), positions: [2], op: { type: "scale" as const, factor: 0 } }];
    for (const other of [
      [asked.slice(1), {}],
      [asked, { positions: [-1] }],
      [asked, { hooks: [residPost(0)] }],
      [asked.map((one) => ({ ...one, edits: scaled })), {}],
    ] as const)
      expect((await captureActivations(model, other[0], options({ store, ...other[1] }))).found).toBe(false);
    expect(await listActivations({ store })).toHaveLength(5);
  });

  it("says the size before, within a few per cent of what it is", async () => {
    const asked = requests(60);
    const opts = options();
    const size = captureSize(model, asked, opts);
    expect(existsSync(opts.store!)).toBe(false);
    const { folder, index } = await captureActivations(model, asked, opts);
    const real = readdirSync(folder)
      .filter((name) => name.endsWith(".safetensors"))
      .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(size.bytes / real).toBeGreaterThan(0.95);
    expect(size.bytes / real).toBeLessThan(1.1);
    expect(size).toMatchObject({ rows: index.rows, shards: index.shards.length, requests: 60 });
  });

  it("refuses before anything runs what it cannot do", async () => {
    const asked = requests(5);
    const refused = (more: Partial<CaptureOptions>, what = asked) =>
      expect(captureActivations(model, what, options(more))).rejects;
    await refused({ hooks: [residPost(77)] }).toThrow(/has no residPost\(77\); it has/);
    await refused({ hooks: [attnPattern(0)] }).toThrow(/no fixed width|has no attnPattern/);
    await refused({ hooks: [] }).toThrow(/no hook points/);
    await refused({ hooks: [residPost(0), residPost(0)] }).toThrow(/given twice/);
    await refused({}, []).toThrow(/no requests/);
    await refused({ positions: [99] }).toThrow(/99/);
    const store = newStore();
    await refused({ store, budget: 10_000 }).toThrow(
      /would bring the store to .*; its budget is 0.0 MB; evict sets .*, or give a larger budget/,
    );
    expect(readdirSync(store)).toEqual([]);
    const custom = [
      { hook: residPost(0), positions: [1], op: { type: "custom" as const, apply: () => undefined } },
    ];
    await refused(
      {},
      asked.map((one) => ({ ...one, edits: custom })),
    ).toThrow(/is function; expected plain data/);
    writeFileSync(join(root, "file"), "");
    await refused({ store: join(root, "file") }).toThrow(/cannot be made \((EEXIST|ENOTDIR)\)/);
  });

  it("an interrupted capture goes on with the next shard, and ends with the same bytes", async () => {
    const asked = requests(40);
    const whole = await captureActivations(model, asked, options());
    const store = newStore();
    const stop = new AbortController();
    let shards = 0;
    await expect(
      captureActivations(model, asked, {
        ...options({ store }),
        signal: stop.signal,
        onProgress: () => {
          if (++shards === 2) stop.abort(new Error("interrupted"));
        },
      }),
    ).rejects.toThrow("interrupted");
    const [half] = await listActivations({ store });
    expect(half!.index).toMatchObject({ complete: false });
    expect(half!.index!.shards).toHaveLength(2);
    await expect(openActivations(half!.folder)).rejects.toThrow(/is not complete: .* run the capture again/);
    writeFileSync(join(half!.folder, "shard-00002.safetensors.1.writing"), "left behind");
    const resumed = await captureActivations(model, asked, options({ store }));
    expect(resumed.found).toBe(false);
    for (const { file } of whole.index.shards)
      expect(readFileSync(join(resumed.folder, file)).equals(readFileSync(join(whole.folder, file)))).toBe(
        true,
      );
    expect(readdirSync(resumed.folder).filter((name) => name.includes("writing"))).toEqual([]);
  });

  it("kill -9 at random moments: the resumed set is the uninterrupted one", async () => {
    const asked = requests(120);
    const whole = await captureActivations(model, asked, options());
    const store = newStore();
    const code = `import { captureActivations, open, residPost } from ${JSON.stringify(build)};
      const model = await open("tally-25k", { isolated: false, threads: 1 });
      const hooks = Array.from({ length: model.info.layers }, (_, layer) => residPost(layer));
      console.log("open");
      await captureActivations(model, ${JSON.stringify(asked)}, { hooks, store: ${JSON.stringify(store)}, shardBytes: 40000 });
      await model.close();`;
    const draw = random(4, "kill");
    for (let kills = 0; kills < 8; kills++) {
      const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await Promise.race([ended, new Promise((resolve) => child.stdout!.once("data", resolve))]);
      setTimeout(() => child.kill("SIGKILL"), draw.uniform(0, 120));
      await ended;
    }
    const resumed = await captureActivations(model, asked, options({ store }));
    expect(resumed.index.shards).toEqual(whole.index.shards);
    for (const { file } of whole.index.shards)
      expect(readFileSync(join(resumed.folder, file)).equals(readFileSync(join(whole.folder, file)))).toBe(
        true,
      );
  }, 300_000);

  it.skipIf(process.platform === "win32")(
    "a full disk: a clear error, whole shards stay, and it goes on with room",
    async () => {
      const store = newStore();
      const asked = requests(60);
      const code = `import { captureActivations, heads, open, residPost } from ${JSON.stringify(build)};
      const model = await open("tally-25k", { isolated: false, threads: 1 });
      const hooks = [residPost(0), residPost(1)];
      const requests = ${JSON.stringify(asked)};
      // The last shard is larger than the limit on files: all prompts but the first ones in one.
      await captureActivations(model, requests.slice(0, 59).concat({ tokens: Array(900).fill(7) }), { hooks, store: ${JSON.stringify(store)}, shardBytes: 40000 })
        .catch((error) => console.log(error.message));
      await model.close();`;
      const out = execFileSync(
        "bash",
        ["-c", `ulimit -f 200; exec ${process.execPath} --input-type=module -e '${code}'`],
        {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "inherit"],
        },
      );
      expect(out).toMatch(
        /shard-000\d\d.safetensors cannot be written \(EFBIG\); \d+ shards are whole: make room/,
      );
      const [set] = await listActivations({ store });
      expect(set!.index!.shards.length).toBeGreaterThan(2);
      expect(readdirSync(set!.folder).sort()).toEqual([
        "index.json",
        ...set!.index!.shards.map(({ file }) => file),
      ]);
      const again = await captureActivations(
        model,
        [...asked.slice(0, 59), { tokens: Array(900).fill(7) }],
        options({ store, hooks: [residPost(0), residPost(1)] }),
      );
      expect(again.index.complete).toBe(true);
      expect(again.key).toBe(set!.key);
    },
  );

  it("other hook points, and a process that captures the same set", async () => {
    const asked = requests(5);
    const store = newStore();
    const { index, read } = await captureActivations(
      model,
      asked,
      options({ store, hooks: [heads(0)], positions: [-1] }),
    );
    expect(index.rows).toBe(5);
    expect((await read("heads(0)")).data.every(Number.isFinite)).toBe(true);
    const both = await Promise.allSettled([
      captureActivations(model, requests(30), options({ store })),
      captureActivations(model, requests(30), options({ store })),
    ]);
    const failed = both.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    for (const { reason } of failed)
      expect((reason as Error).message).toMatch(/is capturing the same set; wait for it/);
    expect(failed.length).toBeLessThan(2);
  });
});

describe("the store", () => {
  it("lists and evicts by key, by age, and down to a size, from the command line", async () => {
    const store = newStore();
    const lines: string[] = [];
    const run = (...args: string[]) =>
      activationsCommand([...args, "--store", store], {
        line: (t) => lines.push(t),
        error: (t) => lines.push(t),
      });
    for (const n of [3, 4, 5, 6]) await captureActivations(model, requests(n), options({ store }));
    expect(await run("list")).toBe(0);
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^[0-9a-f]{32} .*: \d+ rows of residPost\(0\).*, 3 prompts$/);
    const [first] = await listActivations({ store });
    expect(await run("evict", first!.key.slice(0, 8))).toBe(0);
    expect(existsSync(first!.folder)).toBe(false);
    expect(await run("evict", "zzzz")).toBe(1);
    expect(lines.at(-1)).toMatch(/no set begins so/);
    expect(await run("evict", "--to", "1kB")).toBe(0);
    expect(await listActivations({ store })).toEqual([]);
    expect(await run("evict", "--older-than", "0")).toBe(0);
    for (const bad of [["evict"], ["list", "x"], ["evict", "--to", "much"], ["nothing"]])
      expect(await run(...bad)).toBe(2);
    await captureActivations(model, requests(3), options({ store }));
    expect(await evictActivations({ before: Date.now() - 60_000 }, { store })).toEqual([]);
    expect(await evictActivations({ before: Date.now() + 60_000 }, { store })).toHaveLength(1);
  });

  it("finds one flipped bit in a shard, by call and from the command line", async () => {
    const store = newStore();
    const set = await captureActivations(model, requests(20), options({ store }));
    const seen: number[] = [];
    await set.verify((done, total) => seen.push(done / total));
    expect(seen.at(-1)).toBe(1);
    const path = join(set.folder, set.index.shards.at(-1)!.file);
    const bytes = readFileSync(path);
    bytes[bytes.length - 6]! ^= 1;
    writeFileSync(path, bytes);
    await set.read("residPost(1)"); // a number like any other
    await expect(set.verify()).rejects.toThrow(
      /shard-\d+\.safetensors is not as it was written .* capture again/,
    );
    const lines: string[] = [];
    const run = (...args: string[]) =>
      activationsCommand([...args, "--store", store], {
        line: (t) => lines.push(t),
        error: (t) => lines.push(t),
      });
    await captureActivations(model, requests(3), options({ store }));
    expect(await run("verify")).toBe(1);
    expect(lines).toHaveLength(2);
    expect(lines.join("\n")).toMatch(/^[0-9a-f]{32} {2}as it was written$/m);
    expect(lines.join("\n")).toMatch(/^activations: .*shard-\d+\.safetensors is not as it was written/m);
    expect(await run("verify", set.key.slice(0, 8))).toBe(1);
    expect(await run("verify", "--to", "1kB")).toBe(2);
  });

  it("survives 1,000 damaged indices and shards: right rows, finite rows, or one line", async () => {
    const { folder, index, read } = await captureActivations(model, requests(12), options());
    const good = await read("residPost(0)");
    const draw = seededInts(41);
    const paths = ["index.json", index.shards[1]!.file].map((name) => join(folder, name));
    const originals = paths.map((path) => readFileSync(path));
    let right = 0;
    let refused = 0;
    for (let k = 0; k < 1000; k++) {
      const which = k % 3 === 0 ? 1 : 0;
      const bytes =
        k % 3 === 1
          ? JSON.stringify(mutateJson(JSON.parse(originals[0]!.toString("utf8")), draw))
          : mutate(originals[which]!, draw, which === 1 ? 600 : originals[0]!.length);
      writeFileSync(paths[which]!, bytes);
      try {
        const set = await openActivations(folder);
        const { data } = await set.read(set.index.hooks[0]!.name);
        await set.table();
        expect(data.length).toBe(set.rows * set.index.hooks[0]!.width);
        if (data.length === good.data.length) right++;
      } catch (error) {
        expect((error as Error).message).toMatch(
          /^(activations|safetensors|readSafetensorsRows|read|pathInside): [^\n]*$/,
        );
        refused++;
      }
      writeFileSync(paths[which]!, originals[which]!);
    }
    expect(right).toBeGreaterThan(50);
    expect(refused).toBeGreaterThan(200);
  });
});
