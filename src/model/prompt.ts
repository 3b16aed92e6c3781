/** A prompt as the model sees it: tokens, the text they came from, and named spans. */
import type { Engine } from "../engine/engine.js";
import type { Render, Rendered } from "./chat-template.js";
import type { PromptParts } from "./prompt-parts.js";

export type { PromptParts } from "./prompt-parts.js";

/**
 * A rendered and tokenised prompt with named token positions. It shows itself as a cell's last expression.
 */
export interface Prompt {
  /** The rendered text, control tokens written out. */
  readonly text: string;
  readonly tokens: Int32Array;
  /** Text of each token. */
  readonly pieces: readonly string[];
  /** Token positions by name. `last` is always there; `user`: the user's text; `assistant`: the tokens that open the
   * assistant's turn and what it begins with; and the names given in `PromptParts.spans` (for each range, the last
   * token that overlaps it). */
  readonly spans: Readonly<Record<string, Int32Array>>;
}

/**
 * Renders and tokenizes many prompts at once.
 *
 * Exactly one BOS: the template's own, or one put in front when the model wants it and the template has none. Control
 * tokens written in the text are read as such, as every chat front end does; so is one that a user's text contains.
 */
export async function makePrompts(
  engine: Engine,
  render: Render,
  parts: readonly PromptParts[],
): Promise<Prompt[]> {
  parts.forEach(checkParts);
  const rendered = parts.map(render);
  const { bos, addBos } = engine.info;
  const tokenized = await engine.tokenize(
    rendered.map(({ text }) => text),
    true,
  );
  const sequences = tokenized.map((tokens) =>
    addBos && bos >= 0 && tokens[0] !== bos ? Int32Array.from([bos, ...tokens]) : tokens,
  );
  const pieceOf = await pieceTable(engine, sequences);
  return sequences.map((tokens, i) => {
    const pieces = Array.from(tokens, (token) => pieceOf.get(token)!);
    return {
      text: rendered[i]!.text,
      tokens,
      pieces: pieces.map(({ text }) => text),
      spans: locateSpans(parts[i]!, rendered[i]!, pieces),
    };
  });
}

function checkParts({ user, spans }: PromptParts): void {
  if (user === "")
    throw new Error('prompt: the user\'s text is empty; expected at least one character in "user"');
  for (const [name, ranges] of Object.entries(spans ?? {})) {
    for (const [start, end] of ranges) {
      if (
        !(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= user.length)
      ) {
        throw new Error(
          `prompt: span ${name} has [${start}, ${end}); expected a range of the ${user.length} characters of user`,
        );
      }
    }
  }
}

interface Piece {
  readonly text: string;
  readonly bytes: number;
}

const encoder = new TextEncoder();

/** The text of every token that occurs, each looked up once. */
async function pieceTable(engine: Engine, sequences: readonly Int32Array[]): Promise<Map<number, Piece>> {
  const distinct = [...new Set(sequences.flatMap((tokens) => [...tokens]))];
  const [texts, lengths] = [await engine.pieces(distinct), await engine.pieceBytes(distinct)];
  return new Map(distinct.map((token, i) => [token, { text: texts[i]!, bytes: lengths[i]! }]));
}

/** Token positions of the named parts, by counting bytes. */
function locateSpans(
  parts: PromptParts,
  rendered: Rendered,
  pieces: readonly Piece[],
): Record<string, Int32Array> {
  const { text, userStart, assistantStart } = rendered;
  const textBytes = encoder.encode(text).length;
  const ends: number[] = [];
  let total = 0;
  for (const { bytes } of pieces) {
    total += bytes;
    ends.push(total);
  }
  // What the tokens have in front of the text: a BOS, or the space that SentencePiece puts first.
  const before = total - textBytes;
  const byteAt = (character: number) => before + encoder.encode(text.slice(0, character)).length;
  const overlapping = (start: number, end: number): Int32Array => {
    const [from, to] = [byteAt(start), byteAt(end)];
    const found: number[] = [];
    ends.forEach((tokenEnd, i) => {
      if (tokenEnd > from && tokenEnd - pieces[i]!.bytes < to) found.push(i);
    });
    return Int32Array.from(found);
  };
  const spans: Record<string, Int32Array> = {
    user: overlapping(userStart, userStart + parts.user.length),
    assistant: overlapping(assistantStart, text.length),
    last: Int32Array.of(pieces.length - 1),
  };
  for (const [name, ranges] of Object.entries(parts.spans ?? {})) {
    spans[name] = lastTokens(text, ranges, userStart, byteAt(0), ends);
  }
  return spans;
}

/** For each range of the user's text, in one pass over the tokens, the last token that overlaps it. */
function lastTokens(
  text: string,
  ranges: readonly (readonly [number, number])[],
  userStart: number,
  before: number,
  ends: readonly number[],
): Int32Array {
  // Byte offset of each character, so that thousands of ranges cost one encoding.
  const offsets = new Int32Array(text.length + 1);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // The second half of a surrogate pair brings the pair from 2 x 2 to 4 bytes.
    const bytes = code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
    offsets[i + 1] = offsets[i]! + bytes;
  }
  return Int32Array.from(ranges, ([, end]) => {
    const lastByte = before + offsets[userStart + end]! - 1;
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! > lastByte) high = middle;
      else low = middle + 1;
    }
    return low;
  });
}
