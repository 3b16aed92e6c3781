/** What a count of products in a corpus comes to, in the form of the published file. */

/** `unordered` writes 4*3 under `3,4`, as the published counts do; `ordered` keeps the order in which it is written. */
export type CorpusKeys = "unordered" | "ordered";

/** Counts in the form of the published file, with what was counted and how beside them. */
export interface CorpusCounts {
  readonly summary: {
    readonly total_documents: number;
    /** Unicode code points. */
    readonly total_characters: number;
    readonly total_matches: number;
    readonly unique_pairs: number;
    readonly shards_processed: number;
    /** Shards that could not be read, with `onUnreadable: "record"`. */
    readonly missing_shards: readonly string[];
    readonly keys: CorpusKeys;
    readonly operands: readonly [number, number];
    readonly forms: readonly string[];
    readonly matches_by_form: Readonly<Record<string, number>>;
    readonly not_counted: string;
    readonly text_column: string;
    /** Every shard that is in these counts, by absolute path: merging refuses to count one twice. */
    readonly shards: readonly string[];
  };
  /** Keys `a,b`; a pair that is not there was never written. */
  readonly pair_counts: Readonly<Record<string, number>>;
}
