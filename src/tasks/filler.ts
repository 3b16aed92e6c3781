/**
 * Neutral sentences before a list, so that what reads a count cannot be reading a position.
 *
 * The vocabulary is the organisms' own (`data/organisms/prompts.json`).
 */
import { random } from "../stats/random.js";

/** Parts of the sentences that neutral filler text is made of. */
export const fillerWords = {
  subjects: [
    "The river",
    "The old mill",
    "A small boat",
    "The road",
    "The north wind",
    "A grey bird",
    "The garden",
  ],
  verbs: ["runs past", "rests near", "turns toward", "waits beside", "moves along"],
  objects: ["the stone bridge", "the open field", "the quiet harbor", "the tall trees", "the far hills"],
  times: ["in the morning", "at noon", "in the evening", "after the rain", "before winter"],
} as const;

/**
 * Neutral prose of exactly `words` words, cut after any word and ended with a full stop; "" for none. The same seed and
 * number give the same text. A negative or broken number is refused.
 */
export function fillerText(words: number, seed: number | string): string {
  if (!Number.isInteger(words) || words < 0)
    throw new Error(`fillerText: ${words} words; expected a whole number from 0`);
  const draw = random(seed, "filler");
  const text: string[] = [];
  while (text.length < words) {
    const { subjects, verbs, objects, times } = fillerWords;
    const sentence = [subjects, verbs, objects, times].map((list) => draw.choice<string>(list)).join(" ");
    text.push(...`${sentence}.`.split(" "));
  }
  text.length = words;
  return text.length === 0 ? "" : `${text.join(" ").replace(/\.$/, "")}.`;
}
