/** Items as token sequences, and the texts of tokens. */
import type { Model } from "../../model/model.js";
import type { Item } from "../../tasks/task.js";
import type { Vocabulary } from "./judge.js";

export interface Prepared {
  readonly item: Item;
  readonly prompt: Int32Array;
  /** The canonical answer's tokens, as they follow the prompt. */
  readonly answer: Int32Array;
}

/** Prompts rendered in one go: between two of these an interrupt is heard. */
const SLICE = 500;

/** Prompts by the model's chat template, answers by its tokenizer, both in batches. */
export async function prepare(
  model: Model,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<Prepared[]> {
  const texts = [...new Set(items.map((item) => item.answer))];
  const answers = await model.answerTokens(texts);
  const byText = new Map(texts.map((text, i) => [text, answers[i]!]));
  const prepared: Prepared[] = [];
  for (let from = 0; from < items.length; from += SLICE) {
    await new Promise((resolve) => setImmediate(resolve)); // a promise alone lets no interrupt in
    signal.throwIfAborted();
    const slice = items.slice(from, from + SLICE);
    const prompts = await model.prompts(slice.map((item) => item.prompt));
    slice.forEach((item, i) => {
      prepared.push({ item, prompt: prompts[i]!.tokens, answer: byText.get(item.answer)! });
    });
  }
  return prepared;
}

/** A vocabulary that knows the tokens it has been told to learn. */
export interface LearningVocabulary extends Vocabulary {
  learn(tokens: Iterable<number>): Promise<void>;
}

export function vocabularyOf(model: Model): LearningVocabulary {
  const pieces = new Map<number, string>();
  const ends = new Set(model.info.endTokens);
  return {
    async learn(tokens) {
      const unknown = [...new Set(tokens)].filter((token) => !pieces.has(token));
      if (unknown.length === 0) return;
      const texts = await model.engine.pieces(unknown);
      unknown.forEach((token, i) => {
        pieces.set(token, texts[i]!);
      });
    },
    piece(token) {
      const piece = pieces.get(token);
      if (piece === undefined) throw new Error(`vocabulary: token ${token} was not learnt`);
      return piece;
    },
    ends: (token) => ends.has(token),
  };
}
