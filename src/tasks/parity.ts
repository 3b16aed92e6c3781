/** Parity of binary strings; size is the length (first paper, example 2). */
import { integerReader } from "./integer-reader.js";
import type { Task } from "./task.js";

/** 2^n instances of size n: every binary string of length n, as binary numbers ascending. */
export function parity(): Task<string> {
  return {
    name: "parity",
    order: "as binary numbers, ascending",
    templates: [
      {
        name: "baseline",
        system: "Compute the parity (XOR) of the binary string. Answer with only 0 or 1.",
        user: "{string}",
      },
    ],
    *instances(size) {
      for (let value = 0; value < 2 ** size; value++) yield value.toString(2).padStart(size, "0");
    },
    fields: (string) => ({ string }),
    answer: (string) => String(string.replaceAll("0", "").length % 2),
    reader: integerReader(),
  };
}
