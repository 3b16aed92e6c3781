/**
 * What form an answer has, apart from whether its number is right.
 *
 * The paper counts answers without a single valid number (501 of 9,797) as blank, prompt echoes, code and spurious
 * reasoning; here the class is recorded for every answer, with or without an integer, and the score is kept apart.
 */
import { parseCount } from "./parse-count.js";

/**
 * - `clean`: one integer and nothing else, but for white space, emphasis or a full stop;
 * - `blank`: nothing, or only control tokens;
 * - `code`: a code block, a JSON value or statements;
 * - `reasoning`: a thinking block, a count said aloud, or several sentences of working;
 * - `echo`: the prompt's list or instruction again;
 * - `prose`: other text with an integer in it, as a rule one sentence;
 * - `noInteger`: other text without one.
 *
 * Where several fit, the first of this order is taken: `blank`, `clean`, `code`, `reasoning`, `echo`.
 */
export type FormatClass = "clean" | "prose" | "echo" | "code" | "reasoning" | "blank" | "noInteger";

/** The classes in which the form of an answer is recorded beside its score. */
export const formatClasses: readonly FormatClass[] = [
  "clean",
  "prose",
  "echo",
  "code",
  "reasoning",
  "blank",
  "noInteger",
];

/** What an answer is compared with to find echoes. */
export interface FormatContext {
  /** Repeated item and delimiter of the prompt; four items in a row are an echo. */
  readonly item?: string;
  readonly delimiter?: string;
  /** The prompt's text; six of its words in a row are an echo. */
  readonly prompt?: string;
}

const CONTROL = /<\|[^|>]{1,40}\|>|<\/?s>|<(?:start|end)_of_turn>/g;
const CLEAN = /^(?!```)[*_`$\s]*[-\u2212]?\p{Nd}[\p{Nd},.'’_\u00A0\u2009\u202F]*[*_`$\s.。]*$/u;
const CODE =
  /```|~~~|^\s*(?:def |class |import |from \w+ import|print\s*\(|for \w+ in |(?:let|const|var) \w|#include|[\w.]+\s*=\s*\S+)|\b\w+\([^()]*\)\s*[;:]|(?:==|=>|\+=|;\s*$)/m;
const THINKING = /<think(?:ing)?>|<\/think(?:ing)?>|<reasoning>|<\|channel\|>/i;
const WORKING =
  /\b(?:let me|let's|let us|step by step|step 1|first,|wait,|counting (?:them|each|the)|i(?:'ll| will) count|to count|we (?:can|need to) count|therefore|thinking)\b/i;

/**
 * The format class of an answer. Rules, not a model: each is a pattern that can be read above and is tested on written
 * answers. Weakness: an answer in a language other than English that reasons aloud is `prose`.
 *
 * @example
 * formatClass("a, a, a, a, a", { item: "a", delimiter: ", " }) // "echo"
 */
export function formatClass(answer: string, context: FormatContext = {}): FormatClass {
  const thinking = THINKING.test(answer);
  const text = answer.replace(CONTROL, "").trim();
  if (/^[\p{C}\p{Z}\s]*$/u.test(text)) return "blank";
  const { value, integers } = parseCount(text);
  if (value !== null && integers === 1 && CLEAN.test(text)) return "clean";
  if (isJson(text) || CODE.test(text)) return "code";
  if (thinking || WORKING.test(text) || countsAloud(text) || isLong(text)) return "reasoning";
  if (echoes(text, context)) return "echo";
  return value === null ? "noInteger" : "prose";
}

function isJson(text: string): boolean {
  if (!/^[{["]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** 1, 2, 3, 4 in order, with anything short between them: `1. a`, `a (1), a (2)`, `1 2 3 4`. */
function countsAloud(text: string): boolean {
  const numbers = text.match(/\p{Nd}+/gu)?.map(Number) ?? [];
  let run = 1;
  for (let i = 1; i < numbers.length; i += 1) {
    run = numbers[i] === (numbers[i - 1] ?? 0) + 1 ? run + 1 : 1;
    if (run >= 4) return true;
  }
  return false;
}

/** Three sentences or more, of 200 characters together. */
const isLong = (text: string): boolean =>
  text.length >= 200 && (text.match(/[.!?](?=\s|$)|\n/g)?.length ?? 0) >= 3;

function echoes(text: string, { item, delimiter, prompt }: FormatContext): boolean {
  if (item !== undefined && item !== "") {
    const run = new Array(4).fill(item).join(delimiter ?? "");
    // A model that repeats the list may drop or change its white space.
    if (squeeze(text).includes(squeeze(run))) return true;
  }
  if (prompt === undefined) return false;
  const words = plainWords(prompt);
  const said = ` ${plainWords(text).join(" ")} `;
  for (let i = 0; i + 6 <= words.length; i += 1) {
    if (said.includes(` ${words.slice(i, i + 6).join(" ")} `)) return true;
  }
  return false;
}

const squeeze = (text: string): string => text.replace(/\s+/g, "");
const plainWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Trials of one format class. */
export interface FormatRow {
  readonly format: FormatClass;
  readonly trials: number;
  /** Of all trials. */
  readonly share: number;
  /** Trials with a valid integer. */
  readonly parsed: number;
  /** Trials whose integer is the right one. */
  readonly exact: number;
}

/** One row a class, in the order of `formatClasses`, classes that did not occur included: the paper's Supplementary Tables 1 to 3. */
export function formatTable(
  trials: readonly {
    readonly format: FormatClass;
    readonly prediction: number | null;
    readonly target: number;
  }[],
): FormatRow[] {
  return formatClasses.map((format) => {
    const own = trials.filter((trial) => trial.format === format);
    return {
      format,
      trials: own.length,
      share: trials.length === 0 ? 0 : own.length / trials.length,
      parsed: own.filter(({ prediction }) => prediction !== null).length,
      exact: own.filter(({ prediction, target }) => prediction === target).length,
    };
  });
}
