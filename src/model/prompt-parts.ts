/** What goes into a chat turn. */
export interface PromptParts {
  readonly system?: string;
  readonly user: string;
  /** Text that the assistant's turn already begins with. */
  readonly assistant?: string;
  /** Character ranges of `user` that deserve a name, as [start, end) pairs: `{ items: [[60, 61], [63, 64]] }`. */
  readonly spans?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}
