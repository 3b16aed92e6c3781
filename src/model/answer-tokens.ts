/** How an answer's text is tokenized where it really stands: right after the opening of the assistant's turn. */
import type { Engine } from "../engine/engine.js";

/**
 * Token ids of each text as a continuation. SentencePiece puts a space before a text that stands alone, so each text is
 * tokenized behind a line break, whose own tokens are then taken off; byte-level BPE gives the same either way.
 *
 * Texts that begin with a space or a line break may join with what comes before them and are refused.
 */
export async function answerTokens(engine: Engine, texts: readonly string[]): Promise<Int32Array[]> {
  for (const text of texts) {
    if (text === "" || /^\s/.test(text)) {
      throw new Error(
        `answerTokens: ${JSON.stringify(text)}; expected a text that does not begin with white space`,
      );
    }
  }
  const [alone] = await engine.tokenize(["\n"], false);
  const after = await engine.tokenize(
    texts.map((text) => `\n${text}`),
    false,
  );
  return after.map((tokens, i) => {
    if (!alone!.every((token, k) => tokens[k] === token)) {
      throw new Error(
        `answerTokens: ${JSON.stringify(texts[i])} joins with the line break before it in this tokenizer`,
      );
    }
    return tokens.slice(alone!.length);
  });
}
