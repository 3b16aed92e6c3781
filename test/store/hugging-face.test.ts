import { afterEach, describe, expect, it } from "vitest";
import {
  chooseGguf,
  hubAuthorisation,
  hubEndpoint,
  hubFileUrl,
  listHub,
  parseHubSpec,
} from "../../src/store/hugging-face.js";
import { type LocalServer, serve } from "./local-server.js";

const commit = "c".repeat(40);
const oid = "d".repeat(64);
const row = (path: string) => ({
  type: "file",
  path,
  size: 5,
  oid: "e".repeat(40),
  lfs: { oid, size: 5, pointerSize: 1 },
});
const listing = (...paths: string[]) => ({
  repo: "o/r",
  commit,
  files: paths.map((path) => ({ path, bytes: 5, sha256: oid })),
});

describe("hub specs", () => {
  it.each([
    ["hf:o/r", { repo: "o/r", revision: "main" }],
    [
      "hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q8_0",
      { repo: "Qwen/Qwen2.5-0.5B-Instruct-GGUF", revision: "main", quant: "Q8_0" },
    ],
    ["hf:o/r@v1.0:q4_k_m", { repo: "o/r", revision: "v1.0", quant: "q4_k_m" }],
    ["hf:o/r/sub/m-Q8_0.gguf", { repo: "o/r", revision: "main", file: "sub/m-Q8_0.gguf" }],
  ])("%s", (spec, parsed) => expect(parseHubSpec(spec)).toEqual(parsed));

  it.each(["hf:", "hf:o", "hf:o/", "hf:../r", "hf:o/r/../../x.gguf", "hf:o/r:a b", "hf:o/r@/x", "hf:o/r//x"])(
    "refuses %s",
    (spec) => expect(() => parseHubSpec(spec)).toThrow(/expected hf:owner\/repo:quant or/),
  );
});

describe("choice of a file", () => {
  const pick = (spec: string, ...paths: string[]) =>
    chooseGguf(listing(...paths), parseHubSpec(spec)).map((f) => f.path);

  it("finds the quant whole, whatever its case, and the plainest name", () => {
    const files = [
      "README.md",
      "m-q4_k_m.gguf",
      "m-q4_k_s.gguf",
      "UD/m-UD-Q8_0.gguf",
      "m.Q8_0.gguf",
      "mmproj-Q8_0.gguf",
    ];
    expect(pick("hf:o/r:Q4_K_M", ...files)).toEqual(["m-q4_k_m.gguf"]);
    expect(pick("hf:o/r:q8_0", ...files)).toEqual(["m.Q8_0.gguf"]);
    expect(pick("hf:o/r:UD-Q8_0", ...files)).toEqual(["UD/m-UD-Q8_0.gguf"]);
    expect(pick("hf:o/r", ...files)).toEqual(["m-q4_k_m.gguf"]);
    expect(pick("hf:o/r", "m-f16.gguf")).toEqual(["m-f16.gguf"]);
    expect(() => pick("hf:o/r:Q4_K", ...files)).toThrow(
      /hf:o\/r has no Q4_K; it has m-q4_k_m.gguf, m-q4_k_s.gguf/,
    );
    expect(() => pick("hf:o/r", "a-f16.gguf", "b-f16.gguf")).toThrow(/has no Q4_K_M or Q8_0/);
    expect(() => pick("hf:o/r", "README.md")).toThrow(/has no GGUF files/);
  });

  it("takes all parts of a split model, from either form, and refuses an incomplete one", () => {
    const parts = [3, 1, 2].map((k) => `q8/m-q8_0-0000${k}-of-00003.gguf`);
    expect(pick("hf:o/r:Q8_0", ...parts, "m-q4_0.gguf")).toEqual([...parts].sort());
    expect(pick(`hf:o/r/${parts[0]}`, ...parts)).toEqual([...parts].sort());
    expect(() => pick("hf:o/r:Q8_0", parts[1]!, parts[0]!)).toThrow(/has 2 of the 3 parts/);
    expect(() => pick("hf:o/r/none.gguf", ...parts)).toThrow(/has no none.gguf/);
  });
});

describe("the hub", () => {
  let server: LocalServer | undefined;
  afterEach(async () => server?.close());

  it("lists page by page at a pinned commit, with the token for its own server", async () => {
    server = await serve((req, res) => {
      const json = (value: unknown, headers = {}) => res.writeHead(200, headers).end(JSON.stringify(value));
      if (req.url === "/api/models/o/r/revision/main") json({ sha: commit });
      else if (req.url === `/api/models/o/r/tree/${commit}?recursive=true`)
        json([row("a.gguf"), { type: "directory", path: "x", size: 0 }], {
          link: `<${server!.url}/api/models/o/r/tree/${commit}?recursive=true&cursor=2>; rel="next"`,
        });
      else if (req.url?.endsWith("cursor=2")) json([{ type: "file", path: "b.md", size: 9, oid: "f" }]);
      else res.writeHead(404).end();
    });
    const env = { HF_ENDPOINT: `${server.url}/`, HF_TOKEN: "hf_secret" };
    expect(await listHub("o/r", "main", { env })).toEqual({
      repo: "o/r",
      commit,
      files: [
        { path: "a.gguf", bytes: 5, sha256: oid },
        { path: "b.md", bytes: 9, sha256: null },
      ],
    });
    expect(server.requests.map((r) => r.authorization)).toEqual(Array(3).fill("Bearer hf_secret"));
    await expect(listHub("o/none", "main", { env })).rejects.toThrow(
      /hf:o\/none answered 404; the file is not there/,
    );
  });

  it("says what a gated repository needs, and when the endpoint is none", async () => {
    server = await serve(
      (req, res) => void (req.url?.includes("gated") ? res.writeHead(403).end() : res.end("<html>")),
    );
    const env = { HF_ENDPOINT: server.url };
    await expect(listHub("o/gated", "main", { env })).rejects.toThrow(
      /403; access is refused; a gated .* HF_TOKEN/,
    );
    await expect(listHub("o/r", "main", { env })).rejects.toThrow(/is HF_ENDPOINT right/);
  });

  it("keeps the token to https and this machine", () => {
    expect(hubAuthorisation({ HF_TOKEN: "t" })).toEqual({
      origin: "https://huggingface.co",
      value: "Bearer t",
    });
    expect(hubAuthorisation({ HF_TOKEN: "t", HF_ENDPOINT: "http://mirror.example" })).toBeUndefined();
    expect(hubAuthorisation({})).toBeUndefined();
    expect(() => hubEndpoint({ HF_ENDPOINT: "mirror" })).toThrow(/HF_ENDPOINT is no http/);
    expect(hubFileUrl("o/r", "main", "a b/c#.gguf", {})).toBe(
      "https://huggingface.co/o/r/resolve/main/a%20b/c%23.gguf",
    );
  });
});
