/**
 * A task: all instances of a size, the fields of a prompt, the right answer, and how a model's answer is read.
 */
import type { PromptParts } from "../model/prompt.js";
import type { Reader } from "./reader.js";
import type { Template } from "./template.js";
import { checkTemplate, fillTemplate } from "./template.js";

/**
 * What a horizon is measured on: instances by size, the prompt they fill, the right answer, and how answers are read.
 *
 * @example
 * const addition: Task<[number, number]> = {
 *   name: "addition",
 *   order: "a, then b",
 *   templates: [{ name: "plain", system: "Answer with only the integer.", user: "{a}+{b}=" }],
 *   *instances(n) { for (let a = 1; a <= n; a++) for (let b = 1; b <= n; b++) if (Math.max(a, b) === n) yield [a, b]; },
 *   fields: ([a, b]) => ({ a: `${a}`, b: `${b}` }),
 *   answer: ([a, b]) => `${a + b}`,
 *   reader: integerReader(),
 * };
 */
export interface Task<I = unknown> {
  readonly name: string;
  /** The order of the instances of a size, in words. */
  readonly order: string;
  /** The first is the default. */
  readonly templates: readonly Template[];
  /** All instances of a size (1, 2, ...), always in the same order. */
  instances(size: number): Iterable<I>;
  /** What fills the template's placeholders. Together they name the instance. */
  fields(instance: I): Readonly<Record<string, string>>;
  /** The right answer, as the reader writes it and as a model is expected to write it. */
  answer(instance: I): string;
  readonly reader: Reader;
}

/** An instance ready to be asked. */
export interface Item<I = unknown> {
  readonly instance: I;
  readonly size: number;
  /** The fields in order, joined by a comma: `28,43`. */
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly prompt: PromptParts;
  readonly answer: string;
}

/** The template of that name, the template given, or the task's first. */
export function templateOf<I>(task: Task<I>, template?: string | Template): Template {
  if (typeof template === "object") return template;
  const found = template === undefined ? task.templates[0] : task.templates.find((t) => t.name === template);
  if (found === undefined) {
    const names = task.templates.map((t) => t.name).join(", ");
    throw new Error(
      `template: ${task.name} has no template "${template ?? ""}"; it has ${names || "none: give one"}`,
    );
  }
  return found;
}

/** Size 0, negative or broken sizes are refused. */
export function checkSize(what: string, size: number): void {
  if (!Number.isInteger(size) || size < 1)
    throw new Error(`${what}: size ${size}; expected a whole number from 1`);
}

/**
 * All items of a size, in the task's order. Fails for a size below 1, a template that lacks a field, a size without
 * instances, and an answer that the task's own reader does not read back.
 */
export function itemsOf<I>(task: Task<I>, size: number, template?: string | Template): Item<I>[] {
  checkSize(task.name, size);
  const chosen = templateOf(task, template);
  const items: Item<I>[] = [];
  for (const instance of task.instances(size)) {
    const fields = task.fields(instance);
    if (items.length === 0) checkTemplate(task.name, chosen, Object.keys(fields));
    const answer = task.answer(instance);
    if (task.reader.parse(answer) !== answer) {
      throw new Error(
        `${task.name}: the reader (${task.reader.name}) reads the right answer "${answer}" as ` +
          `"${task.reader.parse(answer) ?? "nothing"}"; write answers in the reader's form`,
      );
    }
    const key = Object.values(fields).join(",");
    items.push({ instance, size, key, fields, prompt: fillTemplate(chosen, fields), answer });
  }
  if (items.length === 0) {
    throw new Error(
      `${task.name}: no instances of size ${size}; expected at least one for every size from 1`,
    );
  }
  return items;
}
