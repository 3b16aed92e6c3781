/**
 * Models behind an OpenAI-compatible server (llama-server, vLLM, Ollama, the hosted ones): behaviour only, no activations.
 */
import type { PromptParts } from "../model/prompt.js";
import { createPace, type PaceOptions, wait } from "./pace.js";
import { backoff, type Failure, isPassing, retryAfter } from "./retry.js";
import { addAnswer, noUsage, type Prices, type Usage } from "./usage.js";
import { type Answer, API_PATHS, type Api, readAnswer, requestBody } from "./wire.js";

/** Where a server is, how fast it may be asked, and how it decodes. */
export interface EndpointOptions extends PaceOptions {
  /** Up to and with the version: `http://127.0.0.1:8080/v1`. */
  readonly url: string;
  /** The model's name at the server. */
  readonly model: string;
  /** Default `chat`. */
  readonly api?: Api;
  /** Name of the environment variable that holds the key. Default `OPENAI_API_KEY`; without a value no key is sent. */
  readonly keyVariable?: string;
  /** Requests in flight. Default 4. */
  readonly concurrency?: number;
  /** Further attempts after one that failed in a way that can pass. Default 5. */
  readonly retries?: number;
  /** First wait of the backoff, in ms. Default 500; doubled for each attempt, up to a minute. */
  readonly backoffMs?: number;
  /** Longest wait for one answer, in ms. Default 60,000. */
  readonly timeoutMs?: number;
  /** Most tokens of an answer, reasoning included. Default 64. */
  readonly maxTokens?: number;
  /** Default 0. */
  readonly temperature?: number;
  /** Further fields of the body, for example `{ seed: 1 }`; `null` takes one away: `{ temperature: null }`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly prices?: Prices;
}

/** Options of one call to a server. */
export interface AskOptions {
  readonly signal?: AbortSignal;
  /** Called for each answer as it comes. */
  readonly onAnswer?: (index: number, answer: Answer) => void;
}

/** A model behind an OpenAI-compatible server: text in, text out. */
export interface Endpoint {
  readonly url: string;
  readonly model: string;
  readonly api: Api;
  /** Everything that can move an answer; no key. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly prices?: Prices;
  /** Answers in the order of the prompts. One prompt that gets none in the end makes the whole call fail. */
  ask(prompts: readonly PromptParts[], options?: AskOptions): Promise<Answer[]>;
  /** The `curl` command of a prompt; the key stays a variable. */
  curl(prompt: PromptParts): string;
  /** Totals so far. */
  usage(): Usage;
}

/** Is it a server rather than a model? */
export function isEndpoint(subject: object): subject is Endpoint {
  return "ask" in subject && "curl" in subject;
}

const MOST_BYTES = 16 * 2 ** 20;
const MOST_WAIT = 60_000;

/**
 * An endpoint. Nothing is sent before the first `ask`.
 *
 * Asked again, with backoff: no connection, no answer in time, 408, 409, 425, 429 (for as long as `Retry-After` says), 5xx,
 * and bodies that are broken or hold no answer. Everything else, and the last failure, is an error: an answer that did
 * not come is never counted as a wrong one.
 *
 * @example
 * const gpt = openEndpoint({ url: "https://api.openai.com/v1", model: "gpt-5.2", api: "responses" });
 * const [answer] = await gpt.ask([{ system: "Answer with only the integer.", user: "127*82=" }]);
 */
export function openEndpoint(options: EndpointOptions): Endpoint {
  const { model, api = "chat", concurrency = 4, retries = 5, backoffMs = 500, timeoutMs = 60_000 } = options;
  const { maxTokens = 64, temperature = 0, keyVariable = "OPENAI_API_KEY", prices, extra } = options;
  if (!URL.canParse(options.url) || !/^https?:$/.test(new URL(options.url).protocol)) {
    throw new Error(`endpoint: url "${options.url}"; expected http(s)://host/v1`);
  }
  const given = new URL(options.url);
  if (given.username !== "" || given.password !== "") {
    throw new Error(
      "endpoint: url with a user name or password in it; put the key into the environment (keyVariable)",
    );
  }
  for (const [name, value, least] of [
    ["concurrency", concurrency, 1],
    ["retries", retries, 0],
    ["maxTokens", maxTokens, 1],
  ] as const) {
    if (!Number.isInteger(value) || value < least) {
      throw new Error(`endpoint: ${name} ${value}; expected a whole number from ${least}`);
    }
  }
  const base = options.url.replace(/\/+$/, "");
  const target = `${base}/${API_PATHS[api]}`;
  const bodyOptions = { model, maxTokens, temperature, ...(extra === undefined ? {} : { extra }) };
  const pace = createPace(options);
  let usage = noUsage(prices);

  const attempt = async (prompt: PromptParts, signal: AbortSignal): Promise<Answer | Failure> => {
    const body = JSON.stringify(requestBody(api, prompt, bodyOptions));
    const key = process.env[keyVariable];
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(target, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(key === undefined || key === "" ? {} : { authorization: `Bearer ${key}` }),
        },
        body,
        signal: AbortSignal.any([signal, late]),
      });
      const text = await readText(response);
      if (!response.ok) {
        const asked = retryAfter(response.headers.get("retry-after"), Date.now());
        const said = withoutKey(text, key).replace(/\s+/g, " ").trim().slice(0, 200);
        return {
          what: `HTTP ${response.status}${said === "" ? "" : `: ${said}`}`,
          passing: isPassing(response.status),
          ...(asked === undefined ? {} : { retryAfter: asked }),
        };
      }
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        return { what: "broken JSON", passing: true };
      }
      return readAnswer(api, json) ?? { what: `JSON that is no ${api} answer`, passing: true };
    } catch (error) {
      signal.throwIfAborted();
      if (late.aborted) return { what: `no answer in ${timeoutMs / 1000} s`, passing: true };
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      return { what: withoutKey(cause instanceof Error ? cause.message : String(cause), key), passing: true };
    }
  };

  const askOne = async (prompt: PromptParts, index: number, signal: AbortSignal): Promise<Answer> => {
    for (let tried = 0; ; tried++) {
      await pace.turn(signal);
      const got = await attempt(prompt, signal);
      if ("text" in got) {
        pace.used(got.inputTokens + got.outputTokens);
        usage = addAnswer(usage, got, tried + 1, prices);
        return got;
      }
      if (!got.passing || tried >= retries) {
        usage = { ...usage, requests: usage.requests + tried + 1, retries: usage.retries + tried };
        const times = tried === 0 ? "" : ` after ${tried + 1} attempts`;
        throw new Error(`endpoint: ${target}: ${got.what}${times}; ${hint(got, keyVariable)}`);
      }
      if (got.retryAfter !== undefined) pace.pause(got.retryAfter);
      await wait(backoff(tried, index, backoffMs, MOST_WAIT, got.retryAfter), signal);
    }
  };

  return {
    url: base,
    model,
    api,
    settings: { maxTokens, temperature, ...(extra === undefined ? {} : { extra }) },
    ...(prices === undefined ? {} : { prices }),
    usage: () => usage,
    curl(prompt) {
      const body = JSON.stringify(requestBody(api, prompt, bodyOptions)).replaceAll("'", "'\\''");
      const auth = process.env[keyVariable] ? ` -H "Authorization: Bearer $${keyVariable}"` : "";
      return `curl -s ${target}${auth} -H "Content-Type: application/json" -d '${body}'`;
    },
    async ask(prompts, { signal: outer, onAnswer } = {}) {
      for (const prompt of prompts) requestBody(api, prompt, bodyOptions); // refused before anything is sent
      const failed = new AbortController();
      const signal = outer === undefined ? failed.signal : AbortSignal.any([outer, failed.signal]);
      const answers = new Array<Answer>(prompts.length);
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < prompts.length) {
          const index = next++;
          answers[index] = await askOne(prompts[index]!, index, signal);
          onAnswer?.(index, answers[index]!);
        }
      };
      try {
        await Promise.all(Array.from({ length: Math.min(concurrency, prompts.length) }, worker));
      } catch (error) {
        failed.abort(error);
        throw error;
      }
      return answers;
    },
  };
}

/** The body as text; more than 16 MiB is refused, since a server may send anything. */
async function readText(response: Response): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`an answer of more than ${MOST_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Servers like to repeat the key they were given. */
function withoutKey(text: string, key: string | undefined): string {
  return key === undefined || key === "" ? text : text.replaceAll(key, "[key]");
}

function hint(failure: Failure, keyVariable: string): string {
  if (/^HTTP 40[13]/.test(failure.what)) return `check the key in ${keyVariable}`;
  if (/^HTTP 404/.test(failure.what)) return "check the url (it ends in /v1) and the model's name";
  if (/^HTTP 4(?!08|09|25|29)/.test(failure.what))
    return "the server refuses this body; see the option extra";
  return "check that the server runs; fewer requests at once (concurrency) or more retries may help";
}
