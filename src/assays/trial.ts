/** One question and its answer: the row that every assay of counting logs. */
import type { CountTask } from "../tasks/count-task.js";
import { type FormatClass, formatClass } from "../tasks/format-class.js";
import { parseCount } from "../tasks/parse-count.js";
import type { Answer } from "./answerer.js";

/** One counting answer: target, text, what was read, format, tokens, time. */
export interface CountTrial {
  readonly model: string;
  readonly task: string;
  /** Length of the ladder's tier and index within it; null outside a ladder. */
  readonly tier: number | null;
  readonly k: number | null;
  readonly target: number;
  /** The answer as it came. Text that a model wrote: escape it before it becomes HTML. */
  readonly response: string;
  /** Last valid integer; null where there is none. */
  readonly prediction: number | null;
  readonly format: FormatClass;
  readonly exact: boolean;
  /** prediction - target; null without a prediction. */
  readonly error: number | null;
  /** Did the answer end by itself? */
  readonly ended: boolean;
  readonly inputTokens: number | null;
  /** Visible and hidden output together, and the hidden part of it. */
  readonly outputTokens: number | null;
  readonly reasoningTokens: number | null;
  /** An equal share of the time its batch took: trials run together. */
  readonly ms: number | null;
  readonly decoding: string;
  /** ISO 8601, UTC. */
  readonly date: string;
}

/** Reads an answer: score from the last integer, format class apart from it. */
export function readTrial(
  asked: {
    readonly model: string;
    readonly task: CountTask;
    readonly prompt: string;
    readonly target: number;
    readonly tier?: number;
    readonly k?: number;
    readonly ms?: number;
    readonly decoding: string;
    readonly date: string;
  },
  answer: Answer,
): CountTrial {
  const { value } = parseCount(answer.text);
  const { task, target } = asked;
  return {
    model: asked.model,
    task: task.name,
    tier: asked.tier ?? null,
    k: asked.k ?? null,
    target,
    response: answer.text,
    prediction: value,
    format: formatClass(answer.text, { ...task.echo, prompt: asked.prompt }),
    exact: value === target,
    error: value === null ? null : value - target,
    ended: answer.ended,
    inputTokens: answer.inputTokens,
    outputTokens: answer.outputTokens,
    reasoningTokens: answer.reasoningTokens,
    ms: asked.ms ?? null,
    decoding: asked.decoding,
    date: asked.date,
  };
}
