/**
 * Where the final token looks: attention from it to the items and delimiters of the list, per layer and head.
 *
 * Paper: section 3, the picture of Fig. 4h (a state per item, read by the last token before the answer).
 */
import { attnPattern } from "../engine/hooks.js";
import type { RunOptions } from "../engine/request.js";
import { type Model, requireHook } from "../model/model.js";
import type { CountedPrompt } from "./sae-features.js";

/** Which layers are looked at, and from which token. */
export interface AttentionAtItemsOptions extends Pick<RunOptions, "signal" | "onProgress"> {
  /** Default: all layers. */
  readonly layers?: readonly number[];
  /** The token that looks. Default -1, the last. Negative counts from the end. */
  readonly query?: number;
}

/** Where one head of one layer looks, as shares of its weight. */
export interface AttentionRow {
  readonly count: number;
  readonly layer: number;
  readonly head: number;
  /** Share of the weight on the items' tokens (the last one of each item), on the other tokens between the first and the last
   * item, on the very first token of the prompt, and on all else. They sum to 1. */
  readonly items: number;
  readonly delimiters: number;
  readonly first: number;
  readonly rest: number;
  /** What `items` would be if the query looked at all tokens alike: the items' share of the tokens. */
  readonly uniform: number;
  /** `[item]` weights. */
  readonly weights: Float32Array;
  /** exp of the entropy of `weights` rescaled to 1: over how many items the look is spread. NaN where no weight is on them. */
  readonly spread: number;
}

/**
 * One row a prompt, layer and head. Each prompt runs alone, because attention weights need a cache of their own.
 *
 * Weakness: weight is not use. A head may look at items and write nothing; attention knockout tells.
 *
 * @throws for prompts without items, a query that does not come after them, a layer out of range, or a model whose attention
 * weights cannot be read (flash attention on)
 */
export async function attentionAtItems(
  model: Model,
  prompts: readonly CountedPrompt[],
  options: AttentionAtItemsOptions = {},
): Promise<AttentionRow[]> {
  const { layers = allLayers(model), query = -1, ...run } = options;
  if (prompts.length === 0) throw new Error("attentionAtItems: no prompts; expected at least one");
  for (const layer of layers) requireHook(model, attnPattern(layer), "attentionAtItems");
  const places = prompts.map(({ count, prompt }) => {
    const items = prompt.spans.items ?? new Int32Array(0);
    const at = query < 0 ? prompt.tokens.length + query : query;
    if (items.length === 0 || at >= prompt.tokens.length || at < items.at(-1)!)
      throw new Error(
        `attentionAtItems: query ${query} of the prompt of count ${count} (${items.length} items, the last at token ${items.at(-1)} of ${prompt.tokens.length}); expected a token after the items`,
      );
    return { at, items };
  });
  const { heads } = model.info;
  const rows: AttentionRow[] = [];
  const requests = prompts.map(({ prompt }, i) => ({
    tokens: prompt.tokens,
    captures: layers.map((layer) => ({ hook: attnPattern(layer), positions: [places[i]!.at] })),
  }));
  for await (const { index, result } of model.stream(requests, run)) {
    const { count, prompt } = prompts[index]!;
    const { items, at } = places[index]!;
    const length = prompt.tokens.length;
    result.captures.forEach(({ data }, l) => {
      for (let head = 0; head < heads; head++) {
        const pattern = data.subarray(head * length, (head + 1) * length);
        rows.push({ count, layer: layers[l]!, head, ...massOf(pattern, items, at) });
      }
    });
  }
  return rows;
}

function massOf(
  pattern: Float32Array,
  items: Int32Array,
  query: number,
): Omit<AttentionRow, "count" | "layer" | "head"> {
  const weights = Float32Array.from(items, (position) => pattern[position]!);
  const isItem = new Set(items);
  let [onItems, delimiters, first, rest] = [0, 0, 0, 0];
  for (let i = 0; i <= query; i++) {
    const weight = pattern[i]!;
    if (isItem.has(i)) onItems += weight;
    else if (i > items[0]! && i < items.at(-1)!) delimiters += weight;
    else if (i === 0) first += weight;
    else rest += weight;
  }
  let entropy = 0;
  for (const weight of weights) if (weight > 0) entropy -= (weight / onItems) * Math.log(weight / onItems);
  return {
    items: onItems,
    delimiters,
    first,
    rest,
    uniform: items.length / (query + 1),
    weights,
    spread: onItems > 0 ? Math.exp(entropy) : Number.NaN,
  };
}

function allLayers(model: Model): number[] {
  return Array.from({ length: model.info.layers }, (_, layer) => layer);
}
