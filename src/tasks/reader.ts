/**
 * How an answer is read: the parser of a task, and what can be said before the answer has ended.
 */

/** What a text says about an answer: decided for every continuation, or not yet. */
export type Settled = "right" | "wrong" | "open";

/** How answers are read: what a text says, and when a text that may go on is settled. */
export interface Reader {
  /** For example `integer at the start`. Recorded with every result. */
  readonly name: string;
  /** The answer a finished text gives, in the form of `Task.answer`; undefined where it gives none. */
  parse(text: string): string | undefined;
  /**
   * What a text that may still go on says. `right` and `wrong` are promises about *every* continuation: whatever follows,
   * `parse` will (or will never) give `answer`. Anything short of that is `open`.
   */
  settle(text: string, answer: string): Settled;
}

/**
 * A reader from a parser alone. Nothing is settled before the text ends, so verification calls an answer right only when
 * it is given token for token and then ended, and decodes everything else.
 *
 * @example reader("letter", (text) => /[A-D]/.exec(text)?.[0])
 */
export function reader(name: string, parse: (text: string) => string | undefined): Reader {
  return { name, parse, settle: () => "open" };
}

/** The verdict on a finished text. */
export function isRight(from: Reader, text: string, answer: string): boolean {
  return from.parse(text) === answer;
}
