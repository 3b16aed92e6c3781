import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/**
 * Keys in the environment must not turn up in anything that is written: logs, results, errors, notebooks, reports, activations, locks.
 * Real programs run with such keys set, against a server that repeats the key in its answers; then everything is searched.
 */
const folder = mkdtempSync(join(tmpdir(), "countlens-keys-"));
afterAll(() => rmSync(folder, { recursive: true }));
const root = join(import.meta.dirname, "..", "..");
const dist = (path: string) => join(root, "dist", path);

/** Letters that stand nowhere by chance. */
const SECRETS: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "sk-kQ7vXw2ZpL9mNs4TfYhB",
  HF_TOKEN: "hf_Jr5GdKcEoUaVqRzWxPiM",
  MY_PASSWORD: "pw-Tb8HnLyCsDgFjMeAuKo",
  AWS_SECRET_ACCESS_KEY: "aws-Vm3XzQpWrEtYuIoPaSdF",
};

let server: Server;
let url = "";
const authorised: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    authorised.push(request.headers.authorization ?? "");
    request.resume().on("end", () => {
      const wrong = request.url?.includes("/bad/") === true;
      response.writeHead(wrong ? 401 : 200, {
        "content-type": "application/json",
        "x-key": authorised.at(-1)!,
      });
      const said = wrong
        ? { error: { message: `Incorrect API key provided: ${authorised.at(-1)}` } }
        : {
            choices: [{ message: { content: "1" }, finish_reason: "stop" }],
            usage: { prompt_tokens: 5, completion_tokens: 1 },
          };
      response.end(JSON.stringify(said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server?.close());

/** Runs a program with the keys set; what it says counts as written. */
async function run(name: string, args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...SECRETS },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => {
      said += text;
    });
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  writeFileSync(join(folder, `${name}.said.txt`), said);
  return code;
}

/** Every file below a folder that holds one of the keys, or the beginning of one. */
function leaks(of: string): string[] {
  const parts = Object.entries(SECRETS).map(
    ([name, secret]) => [name, Buffer.from(secret.slice(0, 14))] as const,
  );
  return readdirSync(of, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      const bytes = readFileSync(path);
      return parts.filter(([, part]) => bytes.includes(part)).map(([name]) => `${name} in ${path}`);
    });
}

describe("keys from the environment", () => {
  it("a run against a server: its log, its result, its errors", async () => {
    const code = `
      import { writeFileSync } from "node:fs";
      import { assays, endpoints, tasks, verify } from ${JSON.stringify(dist("src/index.js"))};
      const out = ${JSON.stringify(folder)};
      const good = endpoints.openEndpoint({ url: ${JSON.stringify(url)} + "/v1", model: "m" });
      const log = out + "/server.jsonl";
      const result = await assays.zeroErrorHorizon(good, tasks.multiplication(), { upTo: 3, wholeGrid: true, log });
      writeFileSync(out + "/server.json", JSON.stringify(result));
      const ladder = await assays.countingCapacity(assays.fromEndpoint(good), { ceiling: 32, log });
      writeFileSync(out + "/ladder.json", JSON.stringify(ladder));
      const bad = endpoints.openEndpoint({ url: ${JSON.stringify(url)} + "/bad/v1", model: "m", retries: 0 });
      const errors = [];
      await assays.zeroErrorHorizon(bad, tasks.multiplication(), { upTo: 1, log }).catch((error) => errors.push(String(error), error.stack));
      await verify(result).catch((error) => errors.push(String(error)));
      writeFileSync(out + "/errors.txt", errors.join("\\n"));
      console.log(good.curl({ user: "1*1=" }));`;
    expect(await run("server", ["--input-type=module", "-e", code])).toBe(0);
    expect(
      authorised.filter((header) => header === `Bearer ${SECRETS.OPENAI_API_KEY}`).length,
    ).toBeGreaterThan(10);
    expect(readFileSync(join(folder, "errors.txt"), "utf8")).toMatch(/HTTP 401: .*\[key\]/);
    expect(readFileSync(join(folder, "server.said.txt"), "utf8")).toContain("$OPENAI_API_KEY");
    expect(leaks(folder)).toEqual([]);
  }, 120_000);

  it("a run of a model: its log, result, activations, and what the engine's process knows", async () => {
    const args = [
      "--model",
      "tally-25k",
      "--log",
      join(folder, "runs.jsonl"),
      "--out",
      join(folder, "horizon.json"),
    ];
    expect(
      await run("horizon", [dist("src/assays/assay-command.js"), "horizon", "--up-to", "3", ...args]),
    ).toBe(0);
    const code = `
      import { readFileSync, readdirSync, writeFileSync } from "node:fs";
      import { captureActivations, open, residPost } from ${JSON.stringify(dist("src/index.js"))};
      const model = await open("tally-25k");
      const { tokens } = await model.prompt("1*1=");
      await captureActivations(model, [{ tokens }], { hooks: [residPost(0)], store: ${JSON.stringify(join(folder, "store"))} });
      for (const pid of readdirSync("/proc").filter((name) => /^\\\\d+$/.test(name))) {
        try {
          if (readFileSync("/proc/" + pid + "/stat", "utf8").split(") ")[1].split(" ")[1] === String(process.pid))
            writeFileSync(${JSON.stringify(folder)} + "/engine-environment.txt", readFileSync("/proc/" + pid + "/environ"));
        } catch {}
      }
      await model.close();`.replaceAll("\\\\d", "\\d");
    expect(await run("capture", ["--input-type=module", "-e", code])).toBe(0);
    if (process.platform === "linux")
      expect(readFileSync(join(folder, "engine-environment.txt"), "utf8")).toContain("GGML_NO_BACKTRACE");
    const broken = [dist("src/assays/assay-command.js"), "horizon", "--model", "no-such-model"];
    expect(await run("error", broken)).toBe(1);
    expect(leaks(folder)).toEqual([]);
  }, 120_000);

  it("a notebook that was run and saved with its outputs, and one that failed", async () => {
    const cell = (id: string, source: string) => ({
      cell_type: "code",
      id,
      metadata: {},
      source,
      outputs: [],
      execution_count: null,
    });
    for (const [name, source] of [
      [
        "fine",
        'import { open, show, provenance } from "countlens"; const m = await open("tally-25k"); await show([{ a: 1 }], { name: "a" }); console.log(JSON.stringify(provenance({ model: m }))); await m.close();',
      ],
      ["fails", 'import { open } from "countlens"; await open("no-such-model");'],
    ] as const) {
      const path = join(folder, `${name}.ipynb`);
      writeFileSync(
        path,
        JSON.stringify({ cells: [cell("one", source)], metadata: {}, nbformat: 4, nbformat_minor: 5 }),
      );
      const code = await run(`notebook-${name}`, [
        dist("kernels/notebook.js"),
        path,
        "--save",
        join(folder, `${name}-saved.ipynb`),
      ]);
      expect(code === 0).toBe(name === "fine");
    }
    expect(readFileSync(join(folder, "fine-saved.ipynb"), "utf8")).toContain("llamaVersion");
    expect(leaks(folder)).toEqual([]);
  }, 180_000);

  it("a report page and a limiter card", async () => {
    const report = [dist("kernels/report.js"), "--only", "00", "--out", join(folder, "report")];
    expect(await run("report", report)).toBe(0);
    expect(readFileSync(join(folder, "report", "index.html"), "utf8")).toContain("00-quickstart");
    const code = `
      import { assays, open, tasks } from ${JSON.stringify(dist("src/index.js"))};
      const model = await open("tally-25k");
      const horizon = await assays.zeroErrorHorizon(model, tasks.multiplication(), { upTo: 20 });
      await assays.saveLimiterCard(${JSON.stringify(join(folder, "card.html"))}, horizon);
      await model.close();`;
    expect(await run("card", ["--input-type=module", "-e", code])).toBe(0);
    expect(readFileSync(join(folder, "card.html"), "utf8")).toContain("llama-cli");
    expect(leaks(folder)).toEqual([]);
  }, 300_000);

  it("and the search finds a key where there is one", () => {
    const other = mkdtempSync(join(tmpdir(), "countlens-leak-"));
    writeFileSync(join(other, "x.bin"), Buffer.concat([Buffer.alloc(100), Buffer.from(SECRETS.HF_TOKEN!)]));
    expect(leaks(other)).toHaveLength(1);
    rmSync(other, { recursive: true });
  });
});
