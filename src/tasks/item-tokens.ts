/**
 * Items against tokens: how a tokenizer cuts a list of repeated items.
 *
 * Paper: Methods, "We verified tokenization lengths for all evaluated tokenizers to identify compression anomalies".
 */
import { type CountingOptions, itemList } from "./counting.js";

/** Anything that tokenises: `{ name: model.info.name, tokenize: (texts) => model.engine.tokenize(texts, false) }`. */
export interface Tokenizer {
  readonly name: string;
  /** Token ids of each text. */
  tokenize(texts: readonly string[]): Promise<readonly ArrayLike<number>[]>;
}

/** What a list of items costs in tokens, count by count. */
export interface ItemTokens {
  readonly tokenizer: string;
  readonly item: string;
  readonly delimiter: string;
  readonly counts: Int32Array;
  /** Tokens of the list alone at each count. */
  readonly tokens: Int32Array;
  /** Slope between the smallest and the largest count: tokens for each further item. NaN with a single count. */
  readonly tokensPerItem: number;
  /** Counts at which the list is not as long as that slope says (off by half a token or more): runs of items that the tokenizer merges. */
  readonly anomalies: readonly {
    readonly count: number;
    readonly tokens: number;
    readonly expected: number;
  }[];
}

/**
 * Tokens of lists of each count, for one tokenizer and one motif. `counts` in rising order; default 1 to 128.
 *
 * @example
 * const own = { name: model.info.name, tokenize: (texts) => model.engine.tokenize(texts, false) };
 * const [row] = await itemTokens([own], { motifs: [{ item: "a", delimiter: ", " }] });
 * row.tokensPerItem // 2 for most tokenizers
 */
export async function itemTokens(
  tokenizers: readonly Tokenizer[],
  options: {
    readonly motifs?: readonly Pick<CountingOptions, "item" | "delimiter">[];
    readonly counts?: readonly number[];
  } = {},
): Promise<ItemTokens[]> {
  const counts = options.counts ?? Array.from({ length: 128 }, (_, i) => i + 1);
  if (counts.length === 0 || counts.some((n, i) => !Number.isInteger(n) || n <= (counts[i - 1] ?? 0)))
    throw new Error(`itemTokens: counts ${counts.slice(0, 5)}; expected rising whole numbers from 1`);
  const rows: ItemTokens[] = [];
  for (const tokenizer of tokenizers) {
    for (const { item = "a", delimiter = ", " } of options.motifs ?? [{}]) {
      const lists = await tokenizer.tokenize(counts.map((n) => itemList(n, { item, delimiter })));
      const tokens = Int32Array.from(lists, (list) => list.length);
      rows.push({
        tokenizer: tokenizer.name,
        item,
        delimiter,
        counts: Int32Array.from(counts),
        tokens,
        ...slope(counts, tokens),
      });
    }
  }
  return rows;
}

function slope(
  counts: readonly number[],
  tokens: Int32Array,
): Pick<ItemTokens, "tokensPerItem" | "anomalies"> {
  const first = counts[0] ?? 0;
  const last = counts.at(-1) ?? 0;
  const start = tokens[0] ?? 0;
  const tokensPerItem = ((tokens.at(-1) ?? 0) - start) / (last - first);
  const anomalies = counts.flatMap((count, i) => {
    const expected = start + tokensPerItem * (count - first);
    const seen = tokens[i] ?? 0;
    return Math.abs(seen - expected) >= 0.5 ? [{ count, tokens: seen, expected }] : [];
  });
  return { tokensPerItem, anomalies };
}
