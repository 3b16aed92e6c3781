import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { download } from "../../src/store/download.js";
import type { FetchProgress } from "../../src/store/fetch-progress.js";
import { projectRoot } from "../../src/store/project-root.js";
import { type Handler, type LocalServer, sendFile, serve } from "./local-server.js";

const file = randomBytes(600_000);
const sha256 = createHash("sha256").update(file).digest("hex");
const quick = { backoffMs: 1 };

let dest: string;
let folder: string;
const servers: LocalServer[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countlens-"));
  dest = join(folder, "model.gguf");
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(handler: Handler): Promise<LocalServer> {
  const server = await serve(handler);
  servers.push(server);
  return server;
}

// Where request k began. What a cut leaves of the last bytes sent is for the network to decide.
function startOf(server: LocalServer, k: number): number {
  return Number(/^bytes=(\d+)-$/.exec(server.requests[k]?.range ?? "")?.[1] ?? 0);
}

describe("download", () => {
  it("brings a file, checks it, leaves nothing else, and keeps it the second time", async () => {
    const server = await start((req, res) => sendFile(req, res, file));
    const seen: FetchProgress[] = [];
    const first = await download(`${server.url}/f`, dest, {
      sha256,
      bytes: file.length,
      onProgress: (p) => seen.push(p),
    });
    expect(first).toEqual({ path: dest, sha256, bytes: file.length, received: file.length });
    expect(readFileSync(dest).equals(file)).toBe(true);
    expect(readdirSync(folder)).toEqual(["model.gguf"]);
    expect(seen.at(-1)).toMatchObject({
      what: "model.gguf",
      done: file.length,
      total: file.length,
      unit: "bytes",
    });
    expect((await download(`${server.url}/f`, dest, { sha256 })).received).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it("goes on after a cut, with If-Range, in the same call", async () => {
    const server = await start((req, res, n) =>
      sendFile(req, res, file, { etag: '"v1"', ...(n === 1 && { cutAfter: 200_000 }) }),
    );
    const got = await download(`${server.url}/f`, dest, { ...quick, sha256 });
    expect(readFileSync(dest).equals(file)).toBe(true);
    expect(got.received).toBe(file.length);
    expect(startOf(server, 1)).toBeGreaterThan(0);
    expect(server.requests[1]!.ifRange).toBe('"v1"');
  });

  it("goes on from the part of an earlier call, also without an ETag when the sha256 is known", async () => {
    const server = await start((req, res, n) =>
      sendFile(req, res, file, n <= 1 ? { cutAfter: 300_000 } : {}),
    );
    await expect(download(`${server.url}/f`, dest, { ...quick, sha256, tries: 1 })).rejects.toThrow(
      /was cut after|could not be reached/,
    );
    expect(existsSync(`${dest}.part`)).toBe(true);
    const got = await download(`${server.url}/f`, dest, { ...quick, sha256 });
    expect(startOf(server, 1)).toBeGreaterThan(0);
    expect(got.received).toBe(file.length - startOf(server, 1));
    expect(readdirSync(folder)).toEqual(["model.gguf"]);
  });

  it("starts anew when nothing says that the part is of the same file", async () => {
    const server = await start((req, res, n) =>
      sendFile(req, res, file, n <= 1 ? { cutAfter: 300_000 } : {}),
    );
    await expect(download(`${server.url}/f`, dest, { ...quick, tries: 1 })).rejects.toThrow();
    await download(`${server.url}/f`, dest, quick);
    expect(server.requests[1]!.range).toBeUndefined();
    expect(readFileSync(dest).equals(file)).toBe(true);
  });

  it("starts anew when the file changed in between", async () => {
    const other = randomBytes(500_000);
    const server = await start((req, res, n) =>
      n === 1
        ? sendFile(req, res, file, { etag: '"old"', cutAfter: 100_000 })
        : sendFile(req, res, other, { etag: '"new"' }),
    );
    await download(`${server.url}/f`, dest, quick);
    expect(readFileSync(dest).equals(other)).toBe(true);
  });

  it("takes the whole from a server that ignores ranges", async () => {
    const server = await start((req, res, n) =>
      sendFile(req, res, file, { etag: '"v1"', ranges: false, ...(n === 1 && { cutAfter: 100_000 }) }),
    );
    await download(`${server.url}/f`, dest, { ...quick, sha256 });
    expect(server.requests).toHaveLength(2);
    expect(readFileSync(dest).equals(file)).toBe(true);
  });

  it("gives up on a server that ignores ranges and always cuts at the same place", async () => {
    const server = await start((req, res) => sendFile(req, res, file, { ranges: false, cutAfter: 200_000 }));
    await expect(download(`${server.url}/f`, dest, { ...quick, sha256, tries: 3 })).rejects.toThrow();
    expect(server.requests.length).toBeLessThan(7);
  });

  it("throws away a part that made the whole wrong, and tries once from the start", async () => {
    const server = await start((req, res, n) =>
      sendFile(req, res, file, n === 1 ? { cutAfter: 100_000 } : {}),
    );
    await expect(download(`${server.url}/f`, dest, { ...quick, sha256, tries: 1 })).rejects.toThrow();
    writeFileSync(`${dest}.part`, randomBytes(100_000));
    await download(`${server.url}/f`, dest, { ...quick, sha256 });
    expect(server.requests.map((r) => r.range)).toEqual([undefined, "bytes=100000-", undefined]);
    expect(readFileSync(dest).equals(file)).toBe(true);
  });

  it("starts anew after 416", async () => {
    const server = await start((req, res, n) =>
      sendFile(req, res, file, n === 1 ? { cutAfter: 100_000 } : {}),
    );
    await expect(download(`${server.url}/f`, dest, { ...quick, sha256, tries: 1 })).rejects.toThrow();
    writeFileSync(`${dest}.part`, randomBytes(700_000));
    await download(`${server.url}/f`, dest, { ...quick, sha256 });
    expect(readFileSync(dest).equals(file)).toBe(true);
  });

  it("refuses a wrong sha256, a wrong length and what exceeds it, and keeps nothing", async () => {
    const server = await start((req, res) => {
      if (req.url !== "/endless") return sendFile(req, res, file);
      res.writeHead(200).end(file); // no length said
    });
    const wrong = "0".repeat(64);
    await expect(download(`${server.url}/f`, dest, { ...quick, sha256: wrong })).rejects.toThrow(
      `has sha256 ${sha256}; expected ${wrong}`,
    );
    await expect(download(`${server.url}/f`, dest, { ...quick, bytes: 5 })).rejects.toThrow(
      /has 600000 bytes; expected 5/,
    );
    await expect(download(`${server.url}/endless`, dest, { ...quick, bytes: 1000 })).rejects.toThrow(
      /sent more than/,
    );
    expect(existsSync(dest)).toBe(false);
    expect(server.requests).toHaveLength(3);
  });

  it("replaces a file that is there and wrong", async () => {
    const server = await start((req, res) => sendFile(req, res, file));
    writeFileSync(dest, "something else");
    await download(`${server.url}/f`, dest, { sha256 });
    expect(readFileSync(dest).equals(file)).toBe(true);
  });

  it("says at once that there is no such file, and tries again after a server's fault", async () => {
    const server = await start((req, res, n) => {
      if (req.url === "/none") return void res.writeHead(404).end("no");
      if (n <= 3) return void res.writeHead(503).end("busy");
      sendFile(req, res, file);
    });
    await expect(download(`${server.url}/none`, dest, quick)).rejects.toThrow(
      /\/none answered 404; the file is not there/,
    );
    expect(server.requests).toHaveLength(1);
    await download(`${server.url}/f`, dest, { ...quick, sha256 });
    expect(server.requests).toHaveLength(4);
  });

  it("gives up after the tries allowed, in one line without the query", async () => {
    const server = await start((_req, res) => void res.writeHead(500).end());
    const failed = await download(`${server.url}/f?key=secret`, dest, { ...quick, tries: 3 }).catch(
      (e: Error) => e,
    );
    expect((failed as Error).message).toMatch(
      /^download: 127\.0\.0\.1:\d+\/f answered 500; the server has a fault/,
    );
    expect(server.requests).toHaveLength(3);
  });

  it("says that nothing is there", async () => {
    const server = await start(() => undefined);
    await server.close();
    await expect(download(`${server.url}/f`, dest, { ...quick, tries: 2 })).rejects.toThrow(
      /could not be reached \(ECONNREFUSED\); check the network connection/,
    );
  });

  it("gives up a connection that falls silent", async () => {
    const server = await start((req, res, n) => {
      if (n > 1) return sendFile(req, res, file);
      res.writeHead(200, { "content-length": file.length });
      res.write(file.subarray(0, 1000));
    });
    await download(`${server.url}/f`, dest, { ...quick, sha256, stallMs: 300 });
    expect(server.requests).toHaveLength(2);
  });

  it("sends a credential to its own origin only, and shows it to nobody", async () => {
    const other = await start((req, res) => sendFile(req, res, file));
    const first = await start((req, res) =>
      req.url === "/a"
        ? void res.writeHead(302, { location: "/b" }).end()
        : void res.writeHead(302, { location: `${other.url}/elsewhere?sig=1` }).end(),
    );
    await download(`${first.url}/a`, dest, {
      sha256,
      authorisation: { origin: first.url, value: "Bearer hf_secret" },
    });
    expect(first.requests.map((r) => r.authorization)).toEqual(["Bearer hf_secret", "Bearer hf_secret"]);
    expect(other.requests.map((r) => r.authorization)).toEqual([undefined]);
  });

  it("follows no endless redirects", async () => {
    const server = await start((_req, res) => void res.writeHead(302, { location: "/again" }).end());
    await expect(download(`${server.url}/f`, dest, quick)).rejects.toThrow(/redirects more than 10 times/);
  });

  it("stops at an abort, keeps the part, and leaves no lock", async () => {
    const stop = new AbortController();
    const server = await start((_req, res) => {
      res.writeHead(200, { "content-length": file.length, etag: '"v1"' });
      res.write(file.subarray(0, 50_000));
      setTimeout(() => stop.abort(new Error("enough")), 100);
    });
    await expect(download(`${server.url}/f`, dest, { signal: stop.signal })).rejects.toThrow("enough");
    expect(readdirSync(folder).sort()).toEqual(["model.gguf.part", "model.gguf.part.json"]);
    expect(readFileSync(`${dest}.part.json`, "utf8")).not.toContain("127.0.0.1");
  });

  it("refuses what does not fit on the disk before it begins", async () => {
    const server = await start((_req, res) => {
      res.writeHead(200, { "content-length": 1e17 });
      res.write("x");
    });
    await expect(download(`${server.url}/f`, dest, quick)).rejects.toThrow(
      /needs 100000000000 MB in .* which has/,
    );
  });

  it("downloads once for two calls of one process", async () => {
    const server = await start((req, res) => setTimeout(() => sendFile(req, res, file), 100));
    const waits: number[] = [];
    const options = { sha256, onWait: (pid: number) => waits.push(pid) };
    const both = await Promise.all([1, 2].map(() => download(`${server.url}/f`, dest, options)));
    expect(both.map((b) => b.received).sort()).toEqual([0, file.length]);
    expect(server.requests).toHaveLength(1);
    expect(waits).toEqual([process.pid]);
  });

  it("takes over the lock of a process that is gone", async () => {
    const server = await start((req, res) => sendFile(req, res, file));
    const gone = spawn(process.execPath, ["-e", ""]);
    await new Promise((resolve) => gone.on("exit", resolve));
    const { hostname } = await import("node:os");
    writeFileSync(`${dest}.lock`, JSON.stringify({ pid: gone.pid, host: hostname(), time: 0 }));
    await download(`${server.url}/f`, dest, { sha256 });
    expect(readdirSync(folder)).toEqual(["model.gguf"]);
  });
});

describe("download by several processes", () => {
  // Other processes run the built library. Skipped where it is not built; npm test builds it first.
  const built = join(projectRoot(), "dist", "src", "store", "download.js");
  it.skipIf(!existsSync(built))(
    "happens once; the others wait and find the file",
    async () => {
      const server = await start((req, res) => setTimeout(() => sendFile(req, res, file), 500));
      const script = `const { download } = await import(${JSON.stringify(pathToFileURL(built).href)});
      const [, url, dest, sha256] = process.argv;
      console.log((await download(url, dest, { sha256 })).received);`;
      const args = ["--input-type=module", "-e", script, `${server.url}/f`, dest, sha256];
      const outputs = await Promise.all([1, 2, 3].map(() => run(spawn(process.execPath, args))));
      expect(outputs.sort()).toEqual(["0", "0", String(file.length)]);
      expect(server.requests).toHaveLength(1);
    },
    180_000,
  );
});

function run(child: ChildProcess): Promise<string> {
  let output = "";
  child.stdout?.on("data", (d) => (output += d));
  child.stderr?.on("data", (d) => (output += d));
  return new Promise((resolve) => child.on("exit", () => resolve(output.trim())));
}
