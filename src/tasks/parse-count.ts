/**
 * Reads the count out of an answer: the last valid integer, wherever it stands.
 *
 * What counts as an integer is a choice that decides scores, so it is written out here once and tested case by case.
 */

export interface ParsedCount {
  /** The last valid integer; null where the answer has none. */
  readonly value: number | null;
  /** Where it stands in the text, `[start, end)` in UTF-16 units, its sign and separators included; null with no integer. */
  readonly range: readonly [number, number] | null;
  /** How many valid integers the text holds. */
  readonly integers: number;
}

// Digit runs glued together by a separator without a space: 1,234  1.234.567  1'234  12.50  1{,}234
const CHAIN = /\p{Nd}+(?:(?:[.,'’_\u00A0\u2009\u202F\u066B\u066C\uFF0C]|\{,\}|\\,)\p{Nd}+)*/gu;
const SEPARATOR = /[.,'’_\u00A0\u2009\u202F\u066B\u066C\uFF0C]|\{,\}|\\,/gu;
// Scripts that put spaces between words: a digit run that touches such a letter is part of a name (a12, 3rd, 1e3). In
// scripts that do not (Chinese, Japanese, Thai, Hangul after a numeral) a letter may follow a number directly.
const WORD = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;
const SIGN = /[-\u2212\uFF0D]/u;

/**
 * The last valid integer of an answer.
 *
 * Valid: plain digits of any script (`12`, `١٢`, `１２`), with thousands separators in groups of three (`1,234`, `1'234`,
 * `1_234`, thin or non-breaking spaces, `1{,}234`; points only from two on, `1.234.567`), with a decimal part of zeros
 * (`12.0`), with a sign directly before it (`-5`). Not valid: other decimals (`12.5`, `1.234`), percentages, digits that
 * touch a Latin, Greek or Cyrillic letter (`a12`, `3rd`, `1e3`, `12items`), dotted chains (`1.2.3`), anything beyond
 * 2^53 - 1. A hyphen between two numbers is a range, not a sign. `1,2,3` is three integers. Number words are not read.
 * Weakness: `100,101` is read as 100101, and a decimal comma (`12,5`) as two integers. An empty text has none.
 *
 * @example
 * parseCount("I count **1,234** items.").value // 1234
 */
export function parseCount(text: string): ParsedCount {
  let value: number | null = null;
  let range: readonly [number, number] | null = null;
  let integers = 0;
  for (const match of text.matchAll(CHAIN)) {
    const at = match.index ?? 0;
    for (const part of integersOf(match[0])) {
      const start = at + part.start;
      const end = at + part.end;
      if (!stands(text, start, end)) continue;
      const sign = signBefore(text, start);
      const size = Number(part.digits);
      if (!Number.isSafeInteger(size)) continue;
      value = sign && size !== 0 ? -size : size;
      range = [sign ? start - 1 : start, end];
      integers += 1;
    }
  }
  return { value, range, integers };
}

interface Part {
  readonly digits: string;
  readonly start: number;
  readonly end: number;
}

/** The integers a chain of digits and separators stands for: one, several (a list without spaces) or none. */
function integersOf(chain: string): Part[] {
  const groups = chain.split(SEPARATOR);
  const separators = chain.match(SEPARATOR) ?? [];
  const whole = (digits: string): Part[] => [{ digits: asciiDigits(digits), start: 0, end: chain.length }];
  const last = separators.at(-1);
  if (last === undefined) return whole(chain);
  const allAlike = separators.every((separator) => separator === last);
  if (allAlike && (!isDecimalMark(last) || separators.length > 1) && inThousands(groups))
    return whole(groups.join(""));
  if (isDecimalMark(last)) {
    // 12.0 or 1,234.00: the count is whole only if nothing but zeros follows the mark.
    const before = groups.slice(0, -1);
    const grouped = separators.slice(0, -1);
    const wellGrouped = grouped.every((s) => s === grouped[0] && !isDecimalMark(s)) && inThousands(before);
    if (!(before.length === 1 || wellGrouped) || !/^0+$/.test(asciiDigits(groups.at(-1) ?? ""))) return [];
    return whole(before.join(""));
  }
  if (separators.some((separator) => isDecimalMark(separator) || separator === "_")) return [];
  const parts: Part[] = [];
  let start = 0;
  for (const [i, group] of groups.entries()) {
    parts.push({ digits: asciiDigits(group), start, end: start + group.length });
    start += group.length + (separators[i]?.length ?? 0);
  }
  return parts;
}

const isDecimalMark = (separator: string): boolean => separator === "." || separator === "\u066B";

/** 1 to 3 digits without a leading zero, then groups of exactly three. */
function inThousands(groups: readonly string[]): boolean {
  const [first, ...rest] = groups.map(asciiDigits);
  return first !== undefined && /^[1-9]\d{0,2}$/.test(first) && rest.every((group) => group.length === 3);
}

/** Is the digit run a number of its own, and not part of a name, a percentage or a decimal? */
function stands(text: string, start: number, end: number): boolean {
  const before = previous(text, start);
  const after = next(text, end);
  if (WORD.test(before) || WORD.test(after)) return false;
  // _12_ is emphasis, x_12 and 12_x are names.
  if (before === "_" && /[\p{L}\p{Nd}]/u.test(previous(text, start - 1))) return false;
  if (after === "_" && /[\p{L}\p{Nd}]/u.test(next(text, end + 1))) return false;
  if (before === "." && !/[\p{L}\p{Nd}.]/u.test(previous(text, start - 1))) return false;
  return !/^\s?[%٪％]/u.test(text.slice(end, end + 2));
}

/** A minus directly before the number, unless it joins it to something (`10-20`, `item-5`). */
function signBefore(text: string, start: number): boolean {
  return SIGN.test(previous(text, start)) && !/[\p{L}\p{Nd})\]}-]/u.test(previous(text, start - 1));
}

const previous = (text: string, at: number): string =>
  at > 0 ? (Array.from(text.slice(0, at).slice(-2)).at(-1) ?? "") : "";
const next = (text: string, at: number): string => {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
};

const NOT_ASCII = /[^\d]/u;

/** Decimal digits of any script as 0-9. Unicode keeps each script's ten digits together and in order. */
function asciiDigits(digits: string): string {
  if (!NOT_ASCII.test(digits)) return digits;
  return Array.from(digits, (digit) => {
    let zero = digit.codePointAt(0) ?? 0;
    const code = zero;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String((code - zero) % 10);
  }).join("");
}
