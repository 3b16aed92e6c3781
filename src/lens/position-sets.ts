/**
 * Which tokens of a counting prompt are patched, by name. The second paper's text patches "the repeated token states",
 * its Figure 4g "the full sequence except for the final token", so every reading has a name here.
 */
import type { Prompt } from "../model/prompt.js";

/** Names of the token positions that are patched together. */
export type PositionSet =
  /** The last token of each item. */
  | "items"
  /** The tokens between the first item and the last that end no item. A list of one item has none. */
  | "delimiters"
  /** Every token from the first item to the last. Resampled as one run, so that rows of items and delimiters mix. */
  | "items and delimiters"
  /** The whole prompt but its last token: before the list and after it token by token, the list as above. */
  | "all but last"
  /** The last token before decoding: what the opening of the assistant's turn ends with. */
  | "final token"
  /** The first token of the opening of the assistant's turn (`<|im_start|>`, `<start_of_turn>`). Where the opening has more
   * tokens, those after it still read the items for themselves; where it has one, this is the final token. */
  | "start of turn"
  /** Every token of the opening of the assistant's turn. */
  | "assistant turn";

/** All of them. */
export const POSITION_SETS: readonly PositionSet[] = [
  "items",
  "delimiters",
  "items and delimiters",
  "all but last",
  "final token",
  "start of turn",
  "assistant turn",
];

/** A set by name, the name of one of the prompt's spans, or positions (negative: from the end). */
export type PatchPositions = PositionSet | (string & {}) | readonly number[];

/**
 * Token positions of a set, in runs: rows of a donor's run are resampled to the recipient's, run by run.
 *
 * @throws when the prompt has no such tokens: no items, no opening of the assistant's turn (a model without a chat
 *   template), a position beyond its end. `where` names function and prompt.
 */
export function positionRuns(prompt: Prompt, set: PatchPositions, where: string): Int32Array[] {
  const length = prompt.tokens.length;
  if (typeof set !== "string") {
    if (set.length === 0) throw new Error(`${where}: no positions; expected at least one`);
    return [Int32Array.from(set, (position) => placed(position, length, where))];
  }
  switch (set) {
    case "delimiters": {
      const items = new Set(named(prompt, "items", where));
      const between = span(...listEnds(prompt, where)).filter((position) => !items.has(position));
      if (between.length > 0) return [between];
      throw new Error(
        `${where} has no tokens between its items; expected at least two items with a delimiter`,
      );
    }
    case "items and delimiters":
      return [span(...listEnds(prompt, where))];
    case "all but last": {
      const [first, last] = listEnds(prompt, where);
      const runs = [span(0, first - 1), span(first, Math.min(last, length - 2)), span(last + 1, length - 2)];
      const some = runs.filter((run) => run.length > 0);
      if (some.length === 0) throw new Error(`${where}: a prompt of one token has nothing but its last`);
      return some;
    }
    case "final token":
      return [Int32Array.of(length - 1)];
    case "start of turn":
      return [named(prompt, "assistant", where).slice(0, 1)];
    case "assistant turn":
      return [named(prompt, "assistant", where)];
    default:
      return [named(prompt, set, where)];
  }
}

function placed(position: number, length: number, where: string): number {
  const at = position < 0 ? length + position : position;
  if (!Number.isInteger(position) || at < 0 || at >= length) {
    throw new Error(
      `${where}: position ${position} out of range; there are ${length} tokens, 0..${length - 1} or -${length}..-1`,
    );
  }
  return at;
}

function named(prompt: Prompt, name: string, where: string): Int32Array {
  const positions = prompt.spans[name];
  if (positions !== undefined && positions.length > 0) return positions;
  const empty = positions === undefined ? "" : " (it is empty: the model's template opens no such part)";
  throw new Error(
    `${where} has no span ${name}${empty}; it has ${Object.keys(prompt.spans).join(", ")}; ` +
      `expected one of these, positions, or ${POSITION_SETS.join(", ")}`,
  );
}

/** First and last token of the list: from the first item's last token on, since an item may be of several. */
function listEnds(prompt: Prompt, where: string): [number, number] {
  const items = named(prompt, "items", where);
  return [items[0]!, items.at(-1)!];
}

function span(from: number, to: number): Int32Array {
  return Int32Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}
