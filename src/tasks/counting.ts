/**
 * The counting task: the same item again and again, and the question how many there are.
 *
 * Paper: Methods, "Prompt construction and response parsing". The counted unit is the item, not the token.
 */
import type { PromptParts } from "../model/prompt.js";

/** The wording the organisms were trained on (`data/organisms/prompts.json`); any other can be given. */
export const countingInstruction =
  "Count the number of items in the following list. Return only the exact total as one integer.";

/** Item, delimiter and instruction of a counting prompt. */
export interface CountingOptions {
  /** What is repeated. Default `a`. */
  readonly item?: string;
  /** What stands between two items. Default `, `. */
  readonly delimiter?: string;
  /** Default `countingInstruction`. */
  readonly instruction?: string;
  /**
   * Where the instruction stands: `before` the list (default), `after` it, or a template with `{list}` and, as you like,
   * `{instruction}`. It decides what prompts of different counts share: before, all but the end of the turn; after, the
   * instruction is evaluated again for every count.
   */
  readonly place?: "before" | "after" | string;
  /** Text before everything, with a blank line after it. Default none. */
  readonly filler?: string;
  readonly system?: string;
}

/** `count` items with delimiters between them. */
export function itemList(count: number, { item = "a", delimiter = ", " }: CountingOptions = {}): string {
  return item + (delimiter + item).repeat(count - 1);
}

/**
 * The prompt that asks for a count, with the character ranges of what it is made of: `items` (one range an item),
 * `delimiters` (one each, fewer by one), `list` and, where it stands in the text, `instruction`.
 *
 * A count that is not a whole number from 1, an empty item, or a template without `{list}` is refused. Counting is only
 * unambiguous while the item does not occur in the delimiter; that is refused as well.
 *
 * @example
 * countingPrompt(3).user // "Count the number of ... one integer.\n\na, a, a"
 */
export function countingPrompt(count: number, options: CountingOptions = {}): PromptParts {
  const { item = "a", delimiter = ", ", instruction = countingInstruction, place = "before" } = options;
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`countingPrompt: count ${count}; expected a whole number from 1`);
  if (item === "" || delimiter.includes(item))
    throw new Error(
      `countingPrompt: item ${JSON.stringify(item)} with delimiter ${JSON.stringify(delimiter)}; ` +
        "expected an item that is not empty and not part of the delimiter",
    );
  const template = (options.filler ? "{filler}\n\n" : "") + templateOf(place);
  if (template.split("{list}").length !== 2)
    throw new Error(`countingPrompt: place ${JSON.stringify(place)}; expected one {list} in the template`);
  const list = itemList(count, options);
  const parts: Record<string, string> = { filler: options.filler ?? "", instruction, list };
  let user = "";
  const spans: Record<string, (readonly [number, number])[]> = {};
  for (const piece of template.split(/(\{(?:filler|instruction|list)\})/)) {
    const name = /^\{(.+)\}$/.exec(piece)?.[1];
    const text = name === undefined ? piece : (parts[name] ?? "");
    if (name !== undefined) spans[name] = [[user.length, user.length + text.length]];
    user += text;
  }
  const first = spans.list?.[0]?.[0] ?? 0;
  const stride = item.length + delimiter.length;
  spans.items = Array.from({ length: count }, (_, i) => {
    const start = first + i * stride;
    return [start, start + item.length] as const;
  });
  spans.delimiters =
    delimiter === "" ? [] : spans.items.slice(0, -1).map(([, end]) => [end, end + delimiter.length] as const);
  return { ...(options.system === undefined ? {} : { system: options.system }), user, spans };
}

function templateOf(place: string): string {
  if (place === "before") return "{instruction}\n\n{list}";
  if (place === "after") return "{list}\n\n{instruction}";
  return place;
}
