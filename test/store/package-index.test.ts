import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { findWheel, packageIndex } from "../../src/store/package-index.js";
import { type LocalServer, serve } from "./local-server.js";

const sha256 = "a".repeat(64);
const part = { package: "My.Model_pkg", version: "1.0", wheel: "my_model_pkg-1.0-py3-none-any.whl", sha256 };

describe("package index", () => {
  let server: LocalServer | undefined;
  afterEach(async () => server?.close());

  async function index(type: string, page: string): Promise<NodeJS.ProcessEnv> {
    server = await serve((req, res) =>
      req.url === "/root/simple/my-model-pkg/"
        ? void res.writeHead(200, { "content-type": type }).end(page)
        : void res.writeHead(404).end(),
    );
    return { PIP_INDEX_URL: `${server.url.replace("http://", "http://user:p%40ss@")}/root/simple/` };
  }

  it("finds a wheel in JSON, with the credentials in a header and not in the address", async () => {
    const json = JSON.stringify({
      files: [{ filename: part.wheel, url: "../../files/w.whl", hashes: { sha256 } }],
    });
    const env = await index("application/vnd.pypi.simple.v1+json", json);
    const found = await findWheel(part, { env });
    expect(found.url).toBe(`${server!.url}/root/files/w.whl`);
    const basic = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;
    expect(found.authorisation).toEqual({ origin: server!.url, value: basic });
    expect(found.label).toBe(`${part.wheel} from the configured package index`);
    expect(server!.requests[0]).toMatchObject({ authorization: basic });
    expect(server!.requests[0]!.accept).toContain("application/vnd.pypi.simple.v1+json");
  });

  it("finds a wheel in HTML", async () => {
    const page = `<!DOCTYPE html><a href="other.whl">other.whl</a>
      <a data-requires-python="&gt;=3" href="/f/my%5Fmodel.whl?a=1&amp;b=2#sha256=${sha256}">${part.wheel}</a>`;
    const env = await index("text/html; charset=utf-8", page);
    expect((await findWheel(part, { env })).url).toBe(`${server!.url}/f/my%5Fmodel.whl?a=1&b=2`);
  });

  it("refuses another sha256 before anything is downloaded, and names what is missing, never the mirror", async () => {
    const page = `<a href="w.whl#sha256=${"b".repeat(64)}">${part.wheel}</a>`;
    const env = await index("text/html", page);
    const wrong = await findWheel(part, { env }).catch((e: Error) => e.message);
    expect(wrong).toMatch(
      /^download: the configured package index, package my-model-pkg serves a .* of sha256 bbb/,
    );
    const missing = await findWheel({ ...part, wheel: "x.whl" }, { env }).catch((e: Error) => e.message);
    expect(missing).toMatch(/has no x.whl; it has 1 other files/);
    const unknown = await findWheel({ ...part, package: "none" }, { env }).catch((e: Error) => e.message);
    expect(unknown).toMatch(/package none answered 404/);
    await server!.close();
    const down = await findWheel(part, { env }).catch((e: Error) => e.message);
    for (const text of [wrong, missing, unknown, down])
      expect(text).not.toMatch(/127\.0\.0\.1|user|p%40ss|p@ss/);
  });

  it("is the public one unless pip is told otherwise", () => {
    const none = { PIP_CONFIG_FILE: "/dev/null" };
    expect(packageIndex(none)).toEqual({ url: "https://pypi.org/simple", label: "pypi.org" });
    const conf = join(mkdtempSync(join(tmpdir(), "countlens-")), "pip.conf");
    writeFileSync(
      conf,
      "[install]\nindex-url = https://wrong.example/\n[global]\ntimeout = 3\nindex-url = https://a.example/simple/\n",
    );
    expect(packageIndex({ PIP_CONFIG_FILE: conf }).url).toBe("https://a.example/simple");
    expect(packageIndex({ PIP_CONFIG_FILE: conf, PIP_INDEX_URL: "https://b.example/s" }).url).toBe(
      "https://b.example/s",
    );
    expect(() => packageIndex({ ...none, PIP_INDEX_URL: "/opt/wheels" })).toThrow(/no http\(s\) address/);
  });
});
