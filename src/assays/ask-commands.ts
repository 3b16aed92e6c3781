/** Command lines that ask a model one prompt again: the evidence anyone can check (first paper, Figure 1). */
import { API_PATHS, requestBody } from "../endpoints/wire.js";
import type { PromptParts } from "../model/prompt.js";

const PORT = 8080;

/** A text as one word of a POSIX shell; line breaks and quotes stay as they are. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Command lines that ask a local model one prompt again. */
export interface AskCommands {
  /** This project's own: the same engine, settings and chat template. */
  readonly ask: string;
  /** llama.cpp's own program. It prepares the prompt itself, so a model's answer may differ where its template does. */
  readonly llamaCli: string;
  /** llama.cpp's server on the same file and with the same settings, for `curl`. */
  readonly llamaServer: string;
  /** The request to that server. */
  readonly curl: string;
}

/**
 * Commands for a local model.
 *
 * @param model name or path, as it was opened
 * @param path the weights file
 */
export function askCommands(
  model: string,
  path: string,
  prompt: PromptParts,
  maxTokens: number,
): AskCommands {
  const user = shellWord(prompt.user);
  const system = prompt.system === undefined ? undefined : shellWord(prompt.system);
  const body = requestBody("chat", prompt, { model, maxTokens, temperature: 0 });
  return {
    ask: [
      "npm run -s ask --",
      `--model ${shellWord(model)}`,
      ...(system === undefined ? [] : [`--system ${system}`]),
      `--user ${user}`,
      `--max-tokens ${maxTokens}`,
    ].join(" "),
    llamaCli: [
      `llama-cli -m ${shellWord(path)}`,
      ...(system === undefined ? [] : [`-sys ${system}`]),
      `-p ${user} -n ${maxTokens} --temp 0 --jinja --single-turn --flash-attn off -ctk f32 -ctv f32`,
    ].join(" "),
    llamaServer: `llama-server -m ${shellWord(path)} --jinja --flash-attn off -ctk f32 -ctv f32 --port ${PORT}`,
    curl:
      `curl -s http://127.0.0.1:${PORT}/v1/${API_PATHS.chat} -H "Content-Type: application/json" ` +
      `-d ${shellWord(JSON.stringify(body))}`,
  };
}
