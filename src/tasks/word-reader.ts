/** One word out of a few: `Yes`, ` no.`, `**No**`. */
import type { Reader } from "./reader.js";

/** What is no letter, the first run of letters, the rest. */
const FIRST = /^[^\p{L}]*(\p{L}*)([\s\S]*)$/u;

/**
 * Reads the first word of the answer, in any case, whatever is before it that is no letter. A first word that is none of
 * `words` gives undefined: `Not balanced` is no `No`.
 *
 * @param words the words as `Task.answer` writes them; at least one
 */
export function wordReader(words: readonly string[]): Reader {
  if (words.length === 0)
    throw new Error("wordReader: no words; expected at least one, as Task.answer writes them");
  const byLower = new Map(words.map((word) => [word.toLowerCase(), word]));
  const parse = (text: string): string | undefined =>
    byLower.get((FIRST.exec(text)?.[1] ?? "").toLowerCase());
  return {
    name: `first word, ${words.join(" or ")}`,
    parse,
    settle(text, answer) {
      const [, word = "", rest = ""] = FIRST.exec(text) ?? [];
      if (rest !== "" && word !== "") return parse(text) === answer ? "right" : "wrong";
      return answer.toLowerCase().startsWith(word.toLowerCase()) ? "open" : "wrong";
    },
  };
}
