/** The two request forms of OpenAI-compatible servers, and what their answers say. */
import type { PromptParts } from "../model/prompt.js";

/** Which of OpenAI's two forms of request the server takes. */
export type Api = "chat" | "responses";

/** One answer of a server. */
export interface Answer {
  /** What the model wrote, "" where it wrote nothing. */
  readonly text: string;
  /** Did the model end it? False where a limit cut it. */
  readonly ended: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of the output that is not shown. */
  readonly reasoningTokens: number;
  /** What the server calls the machine that answered, where it says. */
  readonly fingerprint?: string;
}

export interface BodyOptions {
  readonly model: string;
  readonly maxTokens: number;
  readonly temperature: number;
  /** Further fields; `null` takes a field away. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The path below the base URL. */
export const API_PATHS: Readonly<Record<Api, string>> = { chat: "chat/completions", responses: "responses" };

/** The JSON body of a request. `responses` has the fields that the paper's commands use. */
export function requestBody(api: Api, prompt: PromptParts, options: BodyOptions): Record<string, unknown> {
  if (prompt.assistant !== undefined) {
    throw new Error(
      "endpoint: a prompt that begins the assistant's turn; servers take system and user text only",
    );
  }
  const { model, maxTokens, temperature } = options;
  const system = prompt.system;
  const body: Record<string, unknown> =
    api === "chat"
      ? {
          model,
          messages: [
            ...(system === undefined ? [] : [{ role: "system", content: system }]),
            { role: "user", content: prompt.user },
          ],
          max_tokens: maxTokens,
          temperature,
        }
      : {
          model,
          ...(system === undefined ? {} : { instructions: system }),
          input: prompt.user,
          max_output_tokens: maxTokens,
          temperature,
        };
  for (const [field, value] of Object.entries(options.extra ?? {})) {
    if (value === null) delete body[field];
    else body[field] = value;
  }
  return body;
}

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const count = (value: unknown): number =>
  typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : 0;
const inner = (value: unknown): Json => (isJson(value) ? value : {});

/** Texts of content parts: `[{ type: "output_text", text: "12" }]`. */
function partsText(content: unknown): string {
  return list(content)
    .map((part) => (isJson(part) && typeof part.text === "string" ? part.text : ""))
    .join("");
}

function chatAnswer(json: Json): Answer | undefined {
  const choice = list(json.choices)[0];
  if (!isJson(choice) || !isJson(choice.message)) return undefined;
  const { content, refusal } = choice.message;
  const empty = content === null || content === undefined;
  if (!empty && typeof content !== "string" && !Array.isArray(content)) return undefined;
  const refused = typeof refusal === "string" ? refusal : "";
  const usage = inner(json.usage);
  return {
    text: typeof content === "string" ? content : empty ? refused : partsText(content),
    ended: choice.finish_reason !== "length",
    inputTokens: count(usage.prompt_tokens),
    outputTokens: count(usage.completion_tokens),
    reasoningTokens: count(inner(usage.completion_tokens_details).reasoning_tokens),
    ...(typeof json.system_fingerprint === "string" ? { fingerprint: json.system_fingerprint } : {}),
  };
}

function responsesAnswer(json: Json): Answer | undefined {
  if (!Array.isArray(json.output)) return undefined;
  // Reasoning items come before the message and hold no answer.
  const messages = json.output.filter((item) => isJson(item) && item.type === "message") as Json[];
  if (messages.length === 0 && json.status !== "incomplete") return undefined;
  const usage = inner(json.usage);
  return {
    text: messages.map((message) => partsText(message.content)).join(""),
    ended: json.status !== "incomplete",
    inputTokens: count(usage.input_tokens),
    outputTokens: count(usage.output_tokens),
    reasoningTokens: count(inner(usage.output_tokens_details).reasoning_tokens),
    ...(typeof json.system_fingerprint === "string" ? { fingerprint: json.system_fingerprint } : {}),
  };
}

/** The answer in a parsed body, or undefined where the body does not have the form of one. Token counts missing are 0. */
export function readAnswer(api: Api, json: unknown): Answer | undefined {
  if (!isJson(json)) return undefined;
  return api === "chat" ? chatAnswer(json) : responsesAnswer(json);
}
