/** One line of a run log: a finished trial, with a check sum over everything before it. */
import { createHash } from "node:crypto";
import type { Json } from "./provenance.js";

export interface RunLine {
  /** What was asked, by content (`trialKey`). */
  readonly key: string;
  /** What the trial was computed together with, and how many trials that were: rounding depends on it. */
  readonly batch: string;
  readonly of: number;
  /** What came of it. The same wherever and whenever it is computed with the same engine. */
  readonly trial: Json;
  /** When, and in what time: the only part that differs between two runs. */
  readonly run: { readonly date: string; readonly ms: number | null };
}

const SUM = /,"sum":"([0-9a-f]{16})"\}$/;

/** The line, its line break included. */
export function encodeLine({ key, batch, of, trial, run }: RunLine): string {
  const body = JSON.stringify({ key, batch, of, trial, run }).slice(0, -1);
  return `${body},"sum":"${sumOf(body)}"}\n`;
}

/** The line's content (without its line break), or why it cannot be trusted. */
export function decodeLine(text: string): RunLine | string {
  const sum = SUM.exec(text);
  if (sum === null) return looksLikeJson(text) ? "is no line of a run log" : "is broken";
  const body = text.slice(0, sum.index);
  if (sumOf(body) !== sum[1]) return "was changed after it was written: its sum does not fit";
  let line: RunLine;
  try {
    line = JSON.parse(`${body}}`) as RunLine;
  } catch {
    return "is broken";
  }
  // The sum says that this library wrote it; a line written by hand may still be anything.
  const { key, batch, of, trial, run } = line;
  const good =
    typeof key === "string" &&
    typeof batch === "string" &&
    Number.isInteger(of) &&
    trial !== undefined &&
    typeof run?.date === "string";
  return good ? line : "lacks one of key, batch, of, trial, run";
}

function sumOf(body: string): string {
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}

function looksLikeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
