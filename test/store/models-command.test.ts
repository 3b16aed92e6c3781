import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelsCommand } from "../../src/store/models-command.js";
import { type LocalServer, serve } from "./local-server.js";

let lines: string[];
let errors: string[];
let server: LocalServer | undefined;
const before = { ...process.env };

beforeEach(() => {
  lines = [];
  errors = [];
  process.env.COUNTLENS_CACHE = mkdtempSync(join(tmpdir(), "countlens-"));
});
afterEach(async () => {
  process.env = { ...before };
  await server?.close();
});

const run = (...args: string[]) =>
  modelsCommand(args, { line: (t) => void lines.push(t), error: (t) => void errors.push(t) });

describe("models command", () => {
  it("explains itself: 0 when asked to, 2 after wrong use", async () => {
    expect(await run("--help")).toBe(0);
    expect(lines.join()).toMatch(/usage: npm run models/);
    for (const args of [[], ["fetch", "x"], ["get"], ["get", "a", "b"], ["list", "x"], ["list", "--fast"]]) {
      errors = [];
      expect(await run(...args)).toBe(2);
      expect(errors.join()).toMatch(/usage: npm run models/);
    }
  });

  it("lists names, kinds, sizes and licences", async () => {
    expect(await run("list")).toBe(0);
    const text = lines.join("\n");
    expect(text).toMatch(/smollm2-135m-instruct +model +not here +98\.4 MB/);
    expect(text).toMatch(/licence Apache-2\.0/);
    expect(text).toMatch(/counting-published +pointer +elsewhere/);
    expect(text).toMatch(/cache: .*, 0 files, 0\.0 MB/);
  });

  it("fails with one line for what is unknown or not here, and finds no model where there is none", async () => {
    expect(await run("get", "gemma-3-270")).toBe(1);
    expect(errors[0]).toMatch(/did you mean gemma-3-270m\?/);
    expect(await run("path", "smollm2-135m-instruct")).toBe(1);
    expect(errors[1]).toMatch(/not in the cache, and offline; run npm run models -- get smollm2/);
    expect(await run("path", "zeh-published")).toBe(1);
    expect(await run("verify", "smollm2-135m-instruct")).toBe(1);
    expect(await run("remove", "smollm2-135m-instruct")).toBe(0);
    expect(lines.at(-1)).toMatch(/was not in the cache/);
    expect(await run("remove", "tally-400k")).toBe(1);
    expect(errors.at(-1)).toMatch(/part of the project/);
  });

  it("gets, finds, verifies and removes a hub model, and says when a file was changed", async () => {
    const gguf = Buffer.from("GGUF and what follows");
    const commit = "d".repeat(40);
    server = await serve((req, res) => {
      if (req.url?.includes("/revision/")) res.end(JSON.stringify({ sha: commit }));
      else if (req.url?.includes("/tree/"))
        res.end(JSON.stringify([{ type: "file", path: "m-Q8_0.gguf", size: gguf.length }]));
      else res.end(gguf);
    });
    process.env.HF_ENDPOINT = server.url;
    expect(await run("get", "hf:o/r:Q8_0")).toBe(0);
    expect(lines).toContain(
      `sha256 ${(await import("node:crypto")).createHash("sha256").update(gguf).digest("hex")} (nobody states one), from hf:o/r@${commit}`,
    );
    expect(await run("path", "hf:o/r:Q8_0")).toBe(0);
    const path = lines.at(-1)!;
    expect(await run("verify", "hf:o/r:Q8_0")).toBe(0);
    expect(lines.at(-1)).toMatch(/^right {2}/);
    expect(await run("remove", "hf:o/r:Q8_0")).toBe(0);
    expect(lines.at(-1)).toMatch(/^removed hf\/o--r/);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, gguf);
    expect(await run("path", "hf:o/r:Q8_0")).toBe(1); // the listing went with it
  });

  it("verifies a catalogue model against the catalogue", async () => {
    const folder = join(process.env.COUNTLENS_CACHE!, "models", "smollm2-135m-instruct");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SmolLM2-135M-Instruct.Q4_1.gguf"), "GGUF, but not that one");
    expect(await run("verify", "smollm2-135m-instruct")).toBe(1);
    expect(lines.at(-1)).toMatch(/^WRONG .* expected b179c9523d0e/);
    expect(errors.at(-1)).toMatch(/1 of 1 files are not what they should be/);
  });
});
