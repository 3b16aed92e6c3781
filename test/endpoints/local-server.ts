/**
 * A real OpenAI-compatible server for tests: a GGUF through node-llama-cpp behind HTTP, and faults in front of it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LocalServer {
  /** `http://127.0.0.1:port/v1` */
  readonly url: string;
  /** Bodies of the requests that reached it, in order, faults included. */
  readonly seen: { path: string; body: Record<string, unknown>; authorization?: string }[];
  close(): Promise<void>;
}

/** What a server may do instead of answering. */
export type Fault =
  | "none"
  | "silence"
  | "hang up"
  | "429"
  | "500"
  | "401"
  | "broken JSON"
  | "truncated body"
  | "wrong shape"
  | "HTML"
  | "cut"
  | "null content";

interface Written {
  readonly text: string;
  readonly ended: boolean;
  readonly input: number;
  readonly output: number;
}

export type Write = (system: string | undefined, user: string, maxTokens: number) => Promise<Written>;

/** Greedy answers of a GGUF with its own chat template, one at a time. */
export async function openWriter(gguf: string): Promise<{ write: Write; close(): Promise<void> }> {
  const { getLlama, readGgufFileInfo } = await import("node-llama-cpp");
  const { Template } = await import("@huggingface/jinja");
  const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" as never });
  const info = await readGgufFileInfo(gguf);
  const template = new Template(
    (info.metadata as { tokenizer: { chat_template: string } }).tokenizer.chat_template,
  );
  const model = await llama.loadModel({ modelPath: gguf });
  const context = await model.createContext({ contextSize: 512, threads: 1 });
  const sequence = context.getSequence();
  let last: Promise<unknown> = Promise.resolve();
  const answer = async (system: string | undefined, user: string, maxTokens: number): Promise<Written> => {
    const messages = [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: user },
    ];
    const prompt = model.tokenize(template.render({ messages, add_generation_prompt: true }), true);
    await sequence.clearHistory();
    const tokens: typeof prompt = [];
    let ended = false;
    for await (const token of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
      ended = model.isEogToken(token);
      if (ended || tokens.push(token) >= maxTokens) break;
    }
    return { text: model.detokenize(tokens), ended, input: prompt.length, output: tokens.length };
  };
  return {
    write(...request) {
      const mine = last.then(() => answer(...request));
      last = mine.catch(() => undefined);
      return mine;
    },
    async close() {
      await last;
      await model.dispose();
      await llama.dispose();
    },
  };
}

/**
 * Serves `/v1/chat/completions` and `/v1/responses`.
 *
 * @param faults what happens to the first, second, ... request that comes in; after them all are answered
 */
export async function startServer(write: Write, faults: readonly Fault[] = []): Promise<LocalServer> {
  const seen: LocalServer["seen"] = [];
  const left = [...faults];
  const open = new Set<ServerResponse>();
  const server: Server = createServer((request, response) => {
    open.add(response);
    response.on("close", () => open.delete(response));
    serve(request, response).catch((error) => response.destroy(error as Error));
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const fault = left.shift() ?? "none";
    const body = JSON.parse(await textOf(request)) as Record<string, unknown>;
    const { authorization } = request.headers;
    seen.push({ path: request.url ?? "", body, ...(authorization === undefined ? {} : { authorization }) });
    if (fault === "silence") return;
    if (fault === "hang up") return void response.destroy();
    if (fault === "429")
      return send(response, 429, '{"error":{"message":"slow down"}}', { "retry-after": "0.2" });
    if (fault === "500") return send(response, 500, "internal\nerror");
    if (fault === "401") return send(response, 401, `{"error":{"message":"bad key ${authorization ?? ""}"}}`);
    if (fault === "HTML") return send(response, 200, "<html><body>gateway</body></html>");
    if (fault === "wrong shape") return send(response, 200, '{"choices":[{"text":12}],"output":"12"}');
    const json = JSON.stringify(await answerOf(request.url ?? "", body, fault));
    if (fault === "broken JSON") return send(response, 200, json.slice(0, -2));
    if (fault === "truncated body") {
      response.writeHead(200, { "content-type": "application/json", "content-length": String(json.length) });
      response.write(json.slice(0, json.length >> 1), () => response.destroy());
      return;
    }
    send(response, 200, json);
  };
  const answerOf = async (path: string, body: Record<string, unknown>, fault: Fault): Promise<unknown> => {
    const chat = path === "/v1/chat/completions";
    const messages = body.messages as { role: string; content: string }[];
    const system = chat
      ? messages.find((m) => m.role === "system")?.content
      : (body.instructions as string | undefined);
    const user = chat ? messages.at(-1)!.content : (body.input as string);
    const most = fault === "cut" ? 1 : ((chat ? body.max_tokens : body.max_output_tokens) as number);
    const { text, ended, input, output } = await write(system, user, most);
    return chat
      ? {
          choices: [
            {
              message: { role: "assistant", content: fault === "null content" ? null : text },
              finish_reason: ended ? "stop" : "length",
            },
          ],
          usage: { prompt_tokens: input, completion_tokens: output },
          system_fingerprint: "local-1",
        }
      : {
          status: ended ? "completed" : "incomplete",
          output: [
            { type: "reasoning", summary: [] },
            { type: "message", content: [{ type: "output_text", text }] },
          ],
          usage: {
            input_tokens: input,
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: 0 },
          },
        };
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    close: () =>
      new Promise((resolve, reject) => {
        if (!server.listening) return resolve();
        for (const response of open) response.destroy();
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}
