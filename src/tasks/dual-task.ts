/**
 * Dual task: count a list and answer a question in one answer, beside controls of the same length.
 *
 * Paper: section 2 and Methods, "Matched dual task counting controls". The wording is the organisms' (`data/organisms/prompts.json`).
 */
import type { PromptParts } from "../model/prompt.js";
import { type Random, type RandomKey, random } from "../stats/random.js";
import { countingInstruction, itemList } from "./counting.js";
import { parseCount } from "./parse-count.js";
import type { Question } from "./question-set.js";

/** The instruction of a dual-task prompt: JSON with the count and the second answer. */
export const dualInstruction =
  "Answer the question and count the items. Return only JSON with the keys answer and count.";
/** The question of the second-count control; its answer is the length of the first list. */
export const secondCountQuestion = "Count the items of both lists.";

/**
 * - `plain`: the list alone, an integer is asked for;
 * - `code`: the list after irrelevant code as long as a question, an integer is asked for;
 * - `second`: a second list of another marker in the question's place, JSON is asked for;
 * - `question`: a question, JSON is asked for.
 */
export type DualCondition = "plain" | "code" | "second" | "question";

/** A prompt with a list and, in most conditions, a second task. */
export interface DualPrompt {
  readonly parts: PromptParts;
  readonly condition: DualCondition;
  /** The right second answer; undefined for `plain` and `code`. */
  readonly answer?: string;
}

const named = (user: string, from: number): NonNullable<PromptParts["spans"]> => ({
  list: [[from, user.length]],
});

function withList(before: string, count: number, system?: string): PromptParts {
  const user = before + itemList(count);
  return { ...(system === undefined ? {} : { system }), user, spans: named(user, before.length) };
}

/** The list alone. */
export const plainPrompt = (count: number): DualPrompt => ({
  condition: "plain",
  parts: withList(`${countingInstruction}\n\n`, count),
});

/** A question and the list; both are answered in one JSON object. */
export const questionPrompt = (count: number, question: Question): DualPrompt => ({
  condition: "question",
  parts: withList(`${question.question}\n\n`, count, dualInstruction),
  answer: question.answer,
});

/** A list of `other` markers (`b`) before the list of `a`; both numbers are asked for. */
export const secondCountPrompt = (count: number, other: number): DualPrompt => ({
  condition: "second",
  parts: withList(`${secondCountQuestion}\n\n${itemList(other, { item: "b" })}\n\n`, count, dualInstruction),
  answer: String(other),
});

/** Irrelevant code before the instruction and the list. */
export const codePrompt = (count: number, code: string): DualPrompt => ({
  condition: "code",
  parts: withList(`${code}\n\n${countingInstruction}\n\n`, count),
});

/** How many `b` a second list needs to be about as long as `tokens`: the paper's length-matched secondary count. At least 1. */
export const secondCountFor = (tokens: number, tokensPerItem: number): number =>
  Math.max(1, Math.round(tokens / tokensPerItem));

const NAMES = ["total", "value", "index", "state", "width", "level", "score", "limit", "shift", "ratio"];

function codeLine(draw: Random): string {
  const [a, b] = draw.sample(NAMES, 2);
  const n = draw.integer(2, 97);
  return draw.choice([
    `${a} = ${b} + ${n}`,
    `${a} = ${b} * ${n}`,
    `if ${a} > ${n}: ${b} = ${a}`,
    `while ${a} < ${n}: ${a} += ${b}`,
    `${a} = max(${b}, ${n})`,
    `def f${n}(${a}): return ${a} - ${n}`,
    `${a} = [${b}] * ${n}`,
  ]);
}

/**
 * Lines of harmless, meaningless code of about `tokens` tokens: lines are added while the text stays closest to the target. `measure`
 * gives the tokens of each text; without a tokenizer (a server) give `(texts) => texts.map((text) => text.length / 4)`.
 */
export async function irrelevantCode(
  tokens: number,
  seed: RandomKey,
  measure: (texts: readonly string[]) => Promise<readonly number[]> | readonly number[],
): Promise<string> {
  if (!(tokens > 0 && tokens < 1e6)) throw new Error(`irrelevantCode: ${tokens} tokens; expected above 0`);
  const draw = random(seed, "code");
  const lines = Array.from({ length: Math.ceil(tokens / 4) + 1 }, () => codeLine(draw));
  const texts = lines.map((_, i) => lines.slice(0, i + 1).join("\n"));
  const lengths = await measure(texts);
  let best = 0;
  for (const [i, length] of lengths.entries())
    if (Math.abs(length - tokens) < Math.abs((lengths[best] ?? 0) - tokens)) best = i;
  return texts[best] ?? "";
}

/** What was read of an answer with two parts. */
export interface DualReading {
  readonly count: number | null;
  /** The second answer as the model wrote it; null without one. */
  readonly answer: string | null;
  /** Was there a JSON object with the key `count`? If not, the count is the last integer, as for plain counting. */
  readonly json: boolean;
}

/**
 * Reads the answer to a dual task: the last JSON object of the text that has `count`; else a `"count": 12` that stands in broken
 * JSON; else the last integer. A count that is a string of digits is taken, anything else in its place is not.
 */
export function readDual(text: string): DualReading {
  for (const candidate of (text.match(/\{[^{}]*\}/g) ?? []).reverse()) {
    const value = parsed(candidate);
    if (value === undefined || !("count" in value)) continue;
    const count = typeof value.count === "number" && Number.isSafeInteger(value.count) ? value.count : null;
    return { count: count ?? parseWhole(value.count), answer: answerText(value.answer), json: true };
  }
  const broken = /["']?count["']?\s*[:=]\s*["']?(-?\p{Nd}[\p{Nd},]*)/iu.exec(text)?.[1];
  const answer = /["']answer["']\s*:\s*["']([^"']*)["']/i.exec(text)?.[1] ?? null;
  return { count: parseCount(broken ?? text).value, answer, json: false };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

const parseWhole = (value: unknown): number | null =>
  typeof value === "string" && /^\s*\p{Nd}[\p{Nd},]*\s*$/u.test(value) ? parseCount(value).value : null;

const answerText = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === "string" ? value : JSON.stringify(value);

/** Is the second answer right? Case, outer quotes, white space and a final full stop do not matter. */
export function isSecondRight(said: string | null, right: string): boolean {
  const plain = (text: string) =>
    text
      .trim()
      .replace(/^["'`(]+|["'`).]+$/g, "")
      .replace(/\s+/g, " ")
      .toLowerCase();
  return said !== null && plain(said) === plain(right);
}
