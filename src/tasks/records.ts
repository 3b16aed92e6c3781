/**
 * Nested-depth records: count those whose KEY is the deepest token of PATH, ignoring SIDE.
 *
 * Paper: section 2 and Methods, "Hierarchical rule tracking assay". The wording and the vocabulary are the organisms'
 * (`data/organisms/prompts.json`).
 */
import type { PromptParts } from "../model/prompt.js";
import { type Random, type RandomKey, random } from "../stats/random.js";

/** The instruction above a list of nested records. */
export const recordsInstruction =
  "Count the records whose KEY equals the deepest token of PATH. Ignore SIDE. Return only the exact total as one integer.";

/** Letters of which keys and paths are made. */
export const recordTokens: readonly string[] = Array.from("abcdhkmnpstxy");
/** Bracket pairs, from the outermost in, beginning again after the last. */
export const recordBrackets: readonly string[] = ["()", "[]", "{}"];

/** Distractors and depth of nested records. */
export interface RecordsOptions {
  /** Distractors for each match: `round(ratio x target)` of them, so that the number of records grows with the target and is
   * no stand-in for it. Default 1. */
  readonly distractorRatio?: number;
  /** Share of the distractors that hide the key on the path above its end, or in SIDE (half each where the path has a place
   * above its end). Default 0.6. */
  readonly nearMiss?: number;
  /** Shortest and deepest path, in tokens, both included. Default `[1, 3]`. */
  readonly depth?: readonly [number, number];
  /** Tokens of the records, at least the deepest path + 2 of them. Default `recordTokens`. */
  readonly tokens?: readonly string[];
  /** Default `recordsInstruction`. */
  readonly instruction?: string;
  /** Draws the records; the same seed and target give the same prompt. Default 1. */
  readonly seed?: RandomKey;
}

/** One line of a list of nested records. */
export interface NestedRecord {
  readonly key: string;
  /** From the outermost token to the deepest. */
  readonly path: readonly string[];
  readonly side: string;
  readonly match: boolean;
  /** How a distractor is like a match: the key higher on its path, the key in SIDE, or not at all. */
  readonly likeness: "match" | "path" | "side" | "none";
  /** `KEY a PATH k(m[a]) SIDE t` */
  readonly text: string;
}

/**
 * `target` matching records and their distractors, shuffled. Refuses a target below 0, a ratio or share out of range and a
 * vocabulary that is too small.
 */
export function nestedRecords(target: number, options: RecordsOptions = {}): NestedRecord[] {
  const { distractorRatio = 1, nearMiss = 0.6, depth = [1, 3], tokens = recordTokens, seed = 1 } = options;
  if (!Number.isSafeInteger(target) || target < 0)
    throw new Error(`nestedRecords: target ${target}; expected a whole number from 0`);
  if (!(distractorRatio >= 0 && nearMiss >= 0 && nearMiss <= 1))
    throw new Error(
      `nestedRecords: distractorRatio ${distractorRatio}, nearMiss ${nearMiss}; expected from 0, and 0 to 1`,
    );
  const [shallow, deep] = depth;
  if (!(shallow >= 1 && deep >= shallow && new Set(tokens).size >= deep + 2))
    throw new Error(
      `nestedRecords: depth ${depth} with ${new Set(tokens).size} tokens; expected 1 <= first <= last and ${deep + 2} tokens`,
    );
  const draw = random(seed, "records", target);
  const distractors = Math.round(distractorRatio * target);
  const records = Array.from({ length: target + distractors }, (_, i) => {
    const likeness = i < target ? "match" : draw.uniform() < nearMiss ? "near" : "none";
    return oneRecord(draw, likeness, draw.integer(shallow, deep), tokens);
  });
  return draw.shuffle(records);
}

function oneRecord(
  draw: Random,
  kind: "match" | "near" | "none",
  depth: number,
  tokens: readonly string[],
): NestedRecord {
  const names = draw.sample(tokens, depth + 2);
  const path = names.slice(0, depth);
  let key = names[depth] as string;
  let side = names[depth + 1] as string;
  let likeness: NestedRecord["likeness"] = "none";
  if (kind === "match") {
    key = path.at(-1) as string;
    likeness = "match";
  } else if (kind === "near" && depth > 1 && draw.uniform() < 0.5) {
    path[draw.integer(0, depth - 2)] = key;
    likeness = "path";
  } else if (kind === "near") {
    side = key;
    likeness = "side";
  }
  const text = `KEY ${key} PATH ${nest(path)} SIDE ${side}`;
  return { key, path, side, match: key === path.at(-1), likeness, text };
}

/** `["k", "m", "a"]` -> `k(m[a])` */
function nest(path: readonly string[]): string {
  let open = "";
  let close = "";
  for (const [i, token] of path.entries()) {
    const pair = i === 0 ? "" : (recordBrackets[(i - 1) % recordBrackets.length] ?? "");
    open += pair.charAt(0) + token;
    close = pair.charAt(1) + close;
  }
  return open + close;
}

/**
 * The prompt that asks for the number of matching records; `spans.matches` and `spans.distractors` are the records' ranges,
 * `spans.items` all of them.
 *
 * @example
 * recordsPrompt(2, { seed: 7 }).user // "Count the records whose KEY ...\n\nKEY a PATH k(m[a]) SIDE t\nKEY ..."
 */
export function recordsPrompt(target: number, options: RecordsOptions = {}): PromptParts {
  const instruction = options.instruction ?? recordsInstruction;
  const spans: Record<"items" | "matches" | "distractors", (readonly [number, number])[]> = {
    items: [],
    matches: [],
    distractors: [],
  };
  const records = nestedRecords(target, options);
  let at = instruction.length + 2;
  for (const { text, match } of records) {
    const range = [at, at + text.length] as const;
    spans.items.push(range);
    spans[match ? "matches" : "distractors"].push(range);
    at += text.length + 1;
  }
  return { user: `${instruction}\n\n${records.map(({ text }) => text).join("\n")}`, spans };
}
