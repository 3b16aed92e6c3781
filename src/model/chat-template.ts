/** Chat templates: the Jinja source in a GGUF, rendered. */
import { Template } from "@huggingface/jinja";
import type { PromptParts } from "./prompt-parts.js";

export interface Rendered {
  readonly text: string;
  /** Where the user's text starts in it. */
  readonly userStart: number;
  /** Where the tokens that open the assistant's turn start: the length of the text where there are none. */
  readonly assistantStart: number;
}

export type Render = (parts: PromptParts) => Rendered;

interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/**
 * A renderer for a template. Without one (a base model) the text is the system's line, the user's text and the beginning
 * of the answer, one after another.
 *
 * A template that refuses a system message (Gemma's) gets it in front of the user's text, with an empty line between.
 */
export function chatRenderer(source: string, bos: string, eos: string): Render {
  if (source === "") return renderPlain;
  let template: Template;
  try {
    template = new Template(source);
  } catch (error) {
    throw new Error(
      `open: the model's chat template cannot be read: ${String(error)}; open it with template: "" for plain text`,
    );
  }
  const render = (messages: readonly Message[], opensTurn: boolean): string =>
    template.render({
      messages,
      add_generation_prompt: opensTurn,
      bos_token: bos,
      eos_token: eos,
      tools: null,
      enable_thinking: false,
    });
  return (parts) => {
    const system: Message[] = parts.system === undefined ? [] : [{ role: "system", content: parts.system }];
    let user = parts.user;
    let messages: Message[] = [...system, { role: "user", content: user }];
    let open: string;
    try {
      open = render(messages, true);
    } catch (error) {
      if (system.length === 0) throw templateError(error);
      user = `${parts.system}\n\n${parts.user}`;
      messages = [{ role: "user", content: user }];
      try {
        open = render(messages, true);
      } catch {
        throw templateError(error);
      }
    }
    const closed = render(messages, false);
    // Templates may trim what they are given.
    const given = open.includes(user) ? parts.user : parts.user.trim();
    const userStart = open.lastIndexOf(given);
    const assistantStart = open.startsWith(closed) ? closed.length : userStart + given.length;
    return { text: open + (parts.assistant ?? ""), userStart, assistantStart };
  };
}

function renderPlain({ system, user, assistant }: PromptParts): Rendered {
  const before = system === undefined ? "" : `${system}\n`;
  const text = before + user;
  return { text: text + (assistant ?? ""), userStart: before.length, assistantStart: text.length };
}

function templateError(error: unknown): Error {
  const said = error instanceof Error ? error.message : String(error);
  return new Error(`prompt: the model's chat template refused the messages: ${said}`);
}
