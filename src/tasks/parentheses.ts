/** Balanced parentheses; size is the length (first paper, example 3). */
import type { Task } from "./task.js";
import { wordReader } from "./word-reader.js";

/** True when no prefix closes more than it has opened, and all is closed at the end. */
export function isBalanced(string: string): boolean {
  let depth = 0;
  for (const symbol of string) {
    depth += symbol === "(" ? 1 : -1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** 2^n instances of size n: every string of `(` and `)` of length n, in dictionary order with `(` first. */
export function parentheses(): Task<string> {
  return {
    name: "parentheses",
    order: "dictionary order, ( before )",
    templates: [
      {
        name: "baseline",
        system: "Is the parentheses string balanced? Answer with only Yes or No.",
        user: "{string}",
      },
    ],
    *instances(size) {
      for (let value = 0; value < 2 ** size; value++) {
        yield value.toString(2).padStart(size, "0").replaceAll("0", "(").replaceAll("1", ")");
      }
    },
    fields: (string) => ({ string }),
    answer: (string) => (isBalanced(string) ? "Yes" : "No"),
    reader: wordReader(["Yes", "No"]),
  };
}
