/** Questions for the dual task: from any JSONL, or the sets that ship in `data/benchmarks`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../store/project-root.js";

/** A question with its right answer. */
export interface Question {
  readonly id: string;
  /** As the file says; the sets that ship have `reasoning`, `coding`, `math` and `knowledge`, the paper's four kinds. */
  readonly kind: string;
  readonly question: string;
  readonly answer: string;
}

/** Which keys of a file hold what. */
export interface QuestionColumns {
  readonly question?: string;
  readonly answer?: string;
  /** A key of the file, or the one kind of all its questions as `{ always: "math" }`. */
  readonly kind?: string | { readonly always: string };
  readonly id?: string;
  /** A key with a list of options; they are written below the question as `A. ...`, one a line. */
  readonly options?: string;
}

/** The sets that ship, written for this project: short questions that the organisms know, and longer ones for larger models. */
export const questionSets = { short: "dual-task-short.jsonl", full: "dual-task.jsonl" } as const;

/** One of the sets that ship. */
export function shippedQuestions(name: keyof typeof questionSets): Question[] {
  const path = join(projectRoot(), "data", "benchmarks", questionSets[name]);
  return readQuestions(readFileSync(path, "utf8"));
}

/**
 * Questions from the text of a JSONL file, one object a line; blank lines are skipped. `columns` names the keys of your file;
 * default `question`, `answer`, `kind`, `id`. Answers that are numbers are taken as their digits.
 *
 * A line that is no object, or has no question or no answer, is refused with its number.
 *
 * @example
 * readQuestions(text, { question: "problem", kind: { always: "math" } }) // MATH-500
 */
export function readQuestions(text: string, columns: QuestionColumns = {}): Question[] {
  const { question = "question", answer = "answer", kind = "kind", id = "id", options } = columns;
  return text.split(/\r?\n/).flatMap((line, i) => {
    if (line.trim() === "") return [];
    const row = objectOf(line, i + 1);
    const field = (key: string): string | undefined => {
      const value = row[key];
      return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? String(value)
        : undefined;
    };
    const asked = field(question)?.trim();
    const right = field(answer)?.trim();
    if (!asked || !right)
      throw new Error(
        `readQuestions: line ${i + 1} has no text at ${!asked ? question : answer}; it has the keys ${Object.keys(row).join(", ")}`,
      );
    const listed = options === undefined ? [] : row[options];
    const choices = Array.isArray(listed)
      ? listed.map((choice, c) => `${String.fromCharCode(65 + c)}. ${String(choice)}`)
      : [];
    return [
      {
        id: field(id) ?? String(i + 1),
        kind: typeof kind === "string" ? (field(kind) ?? "question") : kind.always,
        question: [asked, ...choices].join("\n"),
        answer: right,
      },
    ];
  });
}

function objectOf(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Said below, in the same way as for a line of another form.
  }
  throw new Error(`readQuestions: line ${number} is not a JSON object; expected one object a line (JSONL)`);
}
