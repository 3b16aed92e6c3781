/** Multiplication a x b; size is the larger operand (first paper, example 1). */
import type { IntegerPlace } from "./integer-reader.js";
import { integerReader } from "./integer-reader.js";
import type { Task } from "./task.js";
import type { Template } from "./template.js";

/** The five templates of the paper's Table 1, in its order. */
export const MULTIPLICATION_TEMPLATES: readonly Template[] = [
  { name: "baseline", system: "Answer with only the integer.", user: "{a}*{b}=" },
  { name: "compute", system: "You are a calculator. Output only the result.", user: "Compute {a} × {b}" },
  { name: "product", system: "Give only the numerical answer.", user: "What is the product of {a} and {b}?" },
  { name: "eval", system: "Evaluate and respond with just the number.", user: "Evaluate: {a} * {b}" },
  { name: "answer", system: "Provide only the numerical answer.", user: "{a} × {b} = ?" },
];

/** The two factors of an instance. */
export type Operands = readonly [a: number, b: number];

/**
 * 2n - 1 instances of size n: all (a, b) with max(a, b) = n, by a and then by b, both orders of the operands.
 *
 * @param options.reader where the integer stands in an answer; default `start`, as the authors read it
 */
export function multiplication(options: { readonly reader?: IntegerPlace } = {}): Task<Operands> {
  return {
    name: "multiplication",
    order: "a ascending, then b",
    templates: MULTIPLICATION_TEMPLATES,
    *instances(size) {
      for (let a = 1; a < size; a++) yield [a, size];
      for (let b = 1; b <= size; b++) yield [size, b];
    },
    fields: ([a, b]) => ({ a: String(a), b: String(b) }),
    answer: ([a, b]) => String(a * b),
    reader: integerReader(options.reader),
  };
}
