/** A prompt, token by token, with its named spans underlined. */
import type { Shown, TokenSpan } from "./html-tokens.js";
import { htmlTokens } from "./html-tokens.js";

/** What is read of a prompt: the model's `Prompt` has this shape. */
export interface PromptFacts {
  readonly pieces: readonly string[];
  readonly tokens: ArrayLike<number>;
  readonly spans: Readonly<Record<string, ArrayLike<number>>>;
}

/**
 * The token-by-token picture.
 *
 * @param names spans to underline. Default: all but `last` and `user`, which are plain to see. An unknown name is an error.
 * @example await show(figures.htmlPrompt(await model.prompt("What is 2+2?")));
 */
export function htmlPrompt(prompt: PromptFacts, names?: readonly string[]): Shown {
  const wanted = names ?? Object.keys(prompt.spans).filter((name) => name !== "last" && name !== "user");
  const spans: TokenSpan[] = wanted.map((name) => {
    const positions = prompt.spans[name];
    if (positions === undefined) {
      throw new Error(`htmlPrompt: no span ${name}; this prompt has ${Object.keys(prompt.spans).join(", ")}`);
    }
    return { name, positions: Array.from(positions) };
  });
  return htmlTokens(
    prompt.pieces.map((text, i) => ({ text, id: prompt.tokens[i]!, special: /^<[|/]?\w.*>$/.test(text) })),
    { spans },
  );
}
