import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openEndpoint } from "../../src/endpoints/endpoint.js";
import { type Fault, type LocalServer, openWriter, startServer } from "./local-server.js";
import { testModel } from "./test-model.js";

const prompt = (a: number, b: number) => ({ system: "Answer with only the integer.", user: `${a}*${b}=` });
const quick = { model: "local", maxTokens: 8, backoffMs: 5, keyVariable: "COUNTLENS_TEST_KEY" };

let writer: Awaited<ReturnType<typeof openWriter>>;
let server: LocalServer;
let truth: string;

beforeAll(async () => {
  writer = await openWriter(testModel);
  truth = (await writer.write(prompt(3, 4).system, prompt(3, 4).user, 8)).text;
}, 240_000);
afterEach(async () => {
  await server?.close();
  delete process.env.COUNTLENS_TEST_KEY;
});
afterAll(async () => writer?.close());

describe("a real server", () => {
  it.each(["chat", "responses"] as const)("%s: what the model writes, with its tokens", async (api) => {
    server = await startServer(writer.write);
    const endpoint = openEndpoint({ ...quick, url: server.url, api, prices: { input: 1e6, output: 2e6 } });
    const [answer] = await endpoint.ask([prompt(3, 4)]);
    expect(answer).toMatchObject({ text: truth });
    expect(answer!.inputTokens).toBeGreaterThan(10);
    const { inputTokens, outputTokens, cost } = endpoint.usage();
    expect(cost).toBeCloseTo(inputTokens + 2 * outputTokens);
    const path = api === "chat" ? "/v1/chat/completions" : "/v1/responses";
    expect(server.seen.map((request) => [request.path, request.body.temperature])).toEqual([[path, 0]]);
  });

  it("answers in the order of the prompts, whatever comes first", async () => {
    server = await startServer(writer.write, ["500", "none", "429"]);
    const endpoint = openEndpoint({ ...quick, url: server.url, concurrency: 3 });
    const prompts = Array.from({ length: 6 }, (_, i) => prompt(i + 1, 2));
    const came: number[] = [];
    const answers = await endpoint.ask(prompts, { onAnswer: (index) => came.push(index) });
    const alone = [];
    for (const { system, user } of prompts) alone.push((await writer.write(system, user, 8)).text);
    expect(answers.map((answer) => answer.text)).toEqual(alone);
    expect(came.sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(endpoint.usage()).toMatchObject({ requests: 8, answers: 6, retries: 2 });
  });

  it("says when an answer was cut, and takes an empty one as empty", async () => {
    server = await startServer(writer.write, ["cut", "null content"]);
    const endpoint = openEndpoint({ ...quick, url: server.url });
    expect((await endpoint.ask([prompt(9, 9)]))[0]!.ended).toBe(false);
    expect((await endpoint.ask([prompt(9, 9)]))[0]!.text).toBe("");
  });

  it("gives a command that asks the same, with the key as a variable", async () => {
    server = await startServer(writer.write);
    process.env.COUNTLENS_TEST_KEY = "sk-secret";
    const endpoint = openEndpoint({
      ...quick,
      url: server.url,
      api: "responses",
      extra: { temperature: null },
    });
    const command = endpoint.curl({ user: "it's 3*4=" });
    expect(command).not.toContain("sk-secret");
    const { execFile } = await import("node:child_process");
    const out = await new Promise<string>((resolve, reject) =>
      execFile("sh", ["-c", command], { env: process.env }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      ),
    );
    expect(JSON.parse(out)).toHaveProperty("output");
    expect(server.seen[0]).toMatchObject({ authorization: "Bearer sk-secret", body: { input: "it's 3*4=" } });
    expect(server.seen[0]!.body).not.toHaveProperty("temperature");
  });
});

describe("a faulty server", () => {
  const passing: Fault[] = [
    "silence",
    "hang up",
    "429",
    "500",
    "broken JSON",
    "truncated body",
    "wrong shape",
    "HTML",
  ];

  it.each(passing)("%s once: asked again, same answer", async (fault) => {
    server = await startServer(writer.write, [fault]);
    const endpoint = openEndpoint({
      ...quick,
      url: server.url,
      timeoutMs: fault === "silence" ? 500 : 30_000,
    });
    expect((await endpoint.ask([prompt(3, 4)]))[0]!.text).toBe(truth);
    expect(endpoint.usage()).toMatchObject({ requests: 2, answers: 1, retries: 1 });
  });

  it.each([
    ["silence", "no answer in 0.3 s after 3 attempts"],
    ["429", 'HTTP 429: {"error":{"message":"slow down"}} after 3 attempts'],
    ["500", "HTTP 500: internal error after 3 attempts"],
    ["broken JSON", "broken JSON after 3 attempts"],
    ["wrong shape", "JSON that is no chat answer after 3 attempts"],
  ] as const)("%s for ever: an error in words, no answer", async (fault, words) => {
    server = await startServer(
      writer.write,
      Array.from({ length: 50 }, () => fault),
    );
    const timeoutMs = fault === "silence" ? 300 : 30_000;
    const endpoint = openEndpoint({ ...quick, url: server.url, retries: 2, concurrency: 2, timeoutMs });
    await expect(endpoint.ask([prompt(3, 4), prompt(3, 5)])).rejects.toThrow(words);
    expect(endpoint.usage().answers).toBe(0);
  });

  it("waits as long as Retry-After says, all requests together", async () => {
    server = await startServer(writer.write, ["429"]);
    const endpoint = openEndpoint({ ...quick, url: server.url, concurrency: 1, backoffMs: 1 });
    const start = performance.now();
    await endpoint.ask([prompt(3, 4)]);
    expect(performance.now() - start).toBeGreaterThan(190); // the server asks for 0.2 s; backoff alone is 1 ms
  });

  it("a refused key is not asked again, and never repeated", async () => {
    process.env.COUNTLENS_TEST_KEY = "sk-secret";
    server = await startServer(writer.write, ["401", "401"]);
    const endpoint = openEndpoint({ ...quick, url: server.url });
    const error = await endpoint.ask([prompt(3, 4)]).then(
      () => undefined,
      (e: Error) => e,
    );
    expect(error!.message).toContain("HTTP 401");
    expect(error!.message).toContain("check the key in COUNTLENS_TEST_KEY");
    expect(error!.message).not.toContain("sk-secret");
    expect(server.seen).toHaveLength(1);
  });

  it("stops when told to", async () => {
    server = await startServer(writer.write, ["silence", "silence"]);
    const endpoint = openEndpoint({ ...quick, url: server.url });
    const stop = new AbortController();
    const asked = endpoint.ask([prompt(3, 4), prompt(3, 5)], { signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 50);
    await expect(asked).rejects.toThrow("enough");
  });

  it("nobody there", async () => {
    server = await startServer(writer.write);
    const { url } = server;
    await server.close();
    const endpoint = openEndpoint({ ...quick, url, retries: 1 });
    await expect(endpoint.ask([prompt(3, 4)])).rejects.toThrow(
      /ECONNREFUSED.* after 2 attempts; check that the server runs/,
    );
    server = await startServer(writer.write);
  });
});

describe("openEndpoint", () => {
  it("refuses what cannot work before anything is sent", async () => {
    const url = "http://127.0.0.1:9/v1";
    expect(() => openEndpoint({ url: "localhost:8080", model: "m" })).toThrow(
      'endpoint: url "localhost:8080"',
    );
    expect(() => openEndpoint({ url: "http://u:p@h/v1", model: "m" })).toThrow(
      "put the key into the environment",
    );
    expect(() => openEndpoint({ url, model: "m", concurrency: 0 })).toThrow("endpoint: concurrency 0");
    expect(() => openEndpoint({ url, model: "m", requestsPerMinute: 0 })).toThrow(
      "endpoint: requestsPerMinute 0",
    );
    await expect(openEndpoint({ url, model: "m" }).ask([{ user: "x", assistant: "y" }])).rejects.toThrow(
      "servers take system and user text only",
    );
  });
});
