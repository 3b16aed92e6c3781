/** A prompt as the model sees it: tokens, the text they came from, and named spans. */

/** What goes into a chat turn. */
export interface PromptParts {
  readonly system?: string;
  readonly user: string;
  /** Text that the assistant's turn already begins with. */
  readonly assistant?: string;
  /** Character ranges of `user` that deserve a name, as [start, end) pairs: `{ items: [[60, 61], [63, 64]] }`. */
  readonly spans?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}

export interface Prompt {
  /** The rendered text, control tokens written out. */
  readonly text: string;
  readonly tokens: Int32Array;
  /** Text of each token. */
  readonly pieces: readonly string[];
  /** Token positions by name. `last` is always there; `assistant`: the tokens that open the assistant's turn; `user`: the
   * user's text; and the names given in `PromptParts.spans` (for each range, the last token that overlaps it). */
  readonly spans: Readonly<Record<string, Int32Array>>;
}
