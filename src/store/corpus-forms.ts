/** The forms in which a product is written, as one pattern that both DuckDB (RE2) and JavaScript read the same way. */

/** The default: `3*4`, `3x4`, `3×4`, each also with a space on either side, and `3 times 4`. Case does not matter. */
export const PRODUCT_FORMS: readonly string[] = [
  "{a}*{b}",
  "{a} * {b}",
  "{a}x{b}",
  "{a} x {b}",
  "{a}×{b}",
  "{a} × {b}",
  "{a} times {b}",
];

export interface Written {
  readonly a: number;
  readonly b: number;
  /** The form, as given in the list. */
  readonly form: string;
}

export interface FormMatcher {
  /** For `regexp_extract_all`: every match is a candidate, written out with what disqualifies it. */
  readonly pattern: string;
  /** The product that a candidate writes, or undefined: a part of a longer number, a decimal, a date, a version, a chain. */
  readonly judge: (candidate: string) => Written | undefined;
}

/** What is not counted, in words, for the output. */
export const NOT_COUNTED =
  "a product that touches a letter, digit or underscore (113*45, v3x4, 3x4cm), that is joined to a digit by . , : / or - " +
  "(1.3x4, 3x4.5, 2-3*4, 3*4/5), or that is part of a longer product (3*4*5); operands with a leading zero";

/**
 * Compiles a list of forms. A form is `{a}`, what stands between the operands, and `{b}`; a space in it stands for one
 * space, no-break space or tab. `operands` are the smallest and largest operand counted, 1 to 9,999.
 *
 * How near misses are told apart without looking behind (RE2 cannot): a candidate takes the joint before it and the joint
 * or rest of the chain after it along, when there is one, and is then turned down for it.
 */
export function compileForms(forms: readonly string[], operands: readonly [number, number]): FormMatcher {
  const [low, high] = operands;
  if (!Number.isInteger(low) || !Number.isInteger(high) || low < 1 || high < low || high > 9999)
    throw new Error(
      `compileForms: operands ${low}..${high}; expected whole numbers, 1 <= low <= high <= 9999`,
    );
  if (forms.length === 0) throw new Error("compileForms: no forms; expected at least one, e.g. {a}*{b}");
  const middles = forms.map((form) => {
    const middle = /^\{a\}([^0-9]+)\{b\}$/u.exec(form)?.[1];
    if (middle === undefined || middle.trim() === "")
      throw new Error(
        `compileForms: form "${form}"; expected {a}, something other than digits or space, {b}`,
      );
    if (/^\s*[.,:/-]\s*$/.test(middle))
      throw new Error(
        `compileForms: form "${form}" writes dates and numbers; expected a multiplication sign or word`,
      );
    return middle.toLowerCase();
  });
  if (new Set(middles).size !== middles.length)
    throw new Error(
      `compileForms: a form stands twice in ${forms.join("; ")}; case does not tell forms apart`,
    );
  // Long ones first: in an alternation the first that fits wins.
  const sources = [...middles].sort((x, y) => y.length - x.length).map(source);
  const between = `(?:${sources.join("|")})`;
  const number = `[1-9][0-9]{0,${String(high).length - 1}}`;
  const before = `(?:[0-9](?:[.,:/-]|${between}))?`;
  const after = `(?:[.,:/-][0-9]|(?:${between}[0-9]+)+)?`;
  const pattern = `(?i)${before}\\b${number}${between}${number}\\b${after}`;

  const whole = new RegExp(`^(${number})(${between})(${number})$`, "iu");
  const byMiddle = new Map(middles.map((middle, i) => [middle, forms[i] as string]));
  const judge = (candidate: string): Written | undefined => {
    const found = whole.exec(candidate);
    if (found === null) return undefined;
    const [a, b] = [Number(found[1]), Number(found[3])];
    const form = byMiddle.get((found[2] as string).toLowerCase().replace(/[\t\u00a0]/g, " "));
    if (form === undefined || a < low || b < low || a > high || b > high) return undefined;
    return { a, b, form };
  };
  return { pattern, judge };
}

/** A literal as a pattern; a space stands for one blank of any kind. */
function source(middle: string): string {
  return middle.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "[ \\t\u00a0]");
}
