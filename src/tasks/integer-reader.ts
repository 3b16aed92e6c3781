/** Integers in answers: `1204`, `1,204`, ` 01204` and `-7`. */
import type { Reader, Settled } from "./reader.js";
import { reader } from "./reader.js";

/**
 * Where the integer stands. `start`: at the start of the answer, white space before it allowed, whatever comes after it
 * ignored (the parser of the published grids). `last`: the last integer of the answer. `only`: the answer is the integer.
 */
export type IntegerPlace = "start" | "last" | "only";

/** White space, sign, digits with commas, the rest: `1,204 is` gives "", "1,204", " is". */
const START = /^\s*(-?)([0-9,]*)([\s\S]*)$/;

/** Canonical form of a sign and digits with commas: no comma, no leading zero, no negative zero. Undefined without a digit. */
function canonical(sign: string, digits: string): string | undefined {
  const plain = digits.replaceAll(",", "");
  if (plain === "") return undefined;
  const value = plain.replace(/^0+(?=.)/, "");
  return value === "0" ? "0" : sign + value;
}

function startOf(text: string): string | undefined {
  const [, sign = "", digits = ""] = START.exec(text) ?? [];
  return canonical(sign, digits);
}

function lastOf(text: string): string | undefined {
  const found = text.match(/-?[0-9][0-9,]*/g)?.at(-1);
  return found === undefined ? undefined : startOf(found);
}

/** Can sign and digits so far still become `answer` by more digits and commas? */
function reachable(sign: string, digits: string, answer: string): boolean {
  const soFar = digits.replaceAll(",", "").replace(/^0+/, "");
  const negative = answer.startsWith("-");
  const magnitude = negative ? answer.slice(1) : answer;
  if (magnitude === "0") return soFar === "";
  return magnitude.startsWith(soFar) && (sign === "-") === negative;
}

function settleStart(text: string, answer: string): Settled {
  const [, sign = "", digits = "", rest = ""] = START.exec(text) ?? [];
  if (rest !== "") return canonical(sign, digits) === answer ? "right" : "wrong";
  if (sign === "" && digits === "") return "open";
  return reachable(sign, digits, answer) ? "open" : "wrong";
}

function settleOnly(text: string, answer: string): Settled {
  const [, sign = "", digits = "", rest = ""] = START.exec(text) ?? [];
  if (rest.trim() !== "") return "wrong";
  // Once white space has followed the digits no digit may come any more.
  if (rest !== "" && canonical(sign, digits) !== answer) return "wrong";
  if (sign === "" && digits === "") return "open";
  return reachable(sign, digits, answer) ? "open" : "wrong";
}

/**
 * Reads an integer. Commas and leading zeros are allowed (`01,204` is 1204); `12.5` read at the start is 12, and `12 04`
 * is 12, as in the published grids. Digits are ASCII. No integer: undefined.
 *
 * @param place default `start`
 */
export function integerReader(place: IntegerPlace = "start"): Reader {
  switch (place) {
    case "start":
      return { name: "integer at the start", parse: startOf, settle: settleStart };
    case "last":
      return reader("last integer", lastOf);
    case "only":
      return {
        name: "integer only",
        parse: (text) => (/^\s*-?[0-9,]+\s*$/.test(text) ? startOf(text) : undefined),
        settle: settleOnly,
      };
    default:
      throw new Error(`integerReader: place "${String(place)}"; expected "start", "last" or "only"`);
  }
}
