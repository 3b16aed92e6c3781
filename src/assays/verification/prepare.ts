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

/** Prompts by the model's chat template, answers by its tokenizer, both in batches. */
export async function prepare(model: Model, items: readonly Item[]): Promise<Prepared[]> {
  const texts = [...new Set(items.map((item) => item.answer))];
  const prompts = await model.prompts(items.map((item) => item.prompt));
  const answers = await model.answerTokens(texts);
  const byText = new Map(texts.map((text, i) => [text, answers[i]!]));
  return items.map((item, i) => ({ item, prompt: prompts[i]!.tokens, answer: byText.get(item.answer)! }));
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
