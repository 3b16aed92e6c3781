/**
 * Text that came from a model, a tokenizer or a file is untrusted: it passes through here before it is put
 * into HTML or into a plotly label (plotly reads a subset of HTML, and `$...$` as TeX where MathJax is loaded).
 */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** `text` for HTML element content or a quoted attribute. `null` and `undefined` give an empty string. */
export function escapeHtml(text: unknown): string {
  if (text === null || text === undefined) return "";
  return String(text).replace(/[&<>"']/g, (c) => ENTITIES[c]!);
}

/** `text` for any plotly label, tick, legend entry or hover text: shown as it is, never read as markup or TeX. */
export function escapeLabel(text: unknown): string {
  if (text === null || text === undefined) return "";
  return visible(String(text)).replace(/[&<>$]/g, (c) => (c === "$" ? "&#36;" : ENTITIES[c]!));
}

/**
 * A token's text with what cannot be seen made visible: a space is `·`, a line feed `⏎`, a tab `⇥`; other control,
 * invisible and direction-changing characters are their code point (`U+200B`).
 */
export function visibleToken(text: string): string {
  return visible(text.replace(/ /g, "·").replace(/\n/g, "⏎").replace(/\r/g, "␍").replace(/\t/g, "⇥"));
}

/** `text` cut to `length` characters (code points), the last of them `…` where something was left out. */
export function shorten(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, Math.max(0, length - 1)).join("")}…`;
}

// Bidirectional controls could reorder a whole label, and NUL and its like are not allowed in XML at all. Lone
// surrogates (half an emoji, from a byte-level token) are not allowed either.
const INVISIBLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|\p{Surrogate}/gu;

function visible(text: string): string {
  return text.replace(INVISIBLE, (c) => `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`);
}
