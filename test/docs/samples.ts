/** The code samples of the guides: fenced `ts` in docs/ and README.md, with what their info strings ask for. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { projectRoot } from "../../src/store/project-root.js";

export interface Sample {
  /** Line of the fence, from 1. */
  readonly line: number;
  readonly code: string;
  /**
   * - `run`: executed as a cell.
   * - `throws`: executed; it must fail with the message in the ```text fence that follows.
   * - `check`: needs a network, a key or a file of one's own (said in the info string): only type-checked.
   */
  readonly kind: "run" | "throws" | "check";
  /** Of `throws`: what is said, `…` standing for anything. */
  readonly message?: string;
}

export interface Page {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly samples: readonly Sample[];
}

/** Every page with its samples, README first. */
export function readPages(): Page[] {
  const root = projectRoot();
  const files = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(root, "docs", name))
    .sort();
  return [join(root, "README.md"), ...files].map((file) => {
    const text = readFileSync(file, "utf8");
    const path = relative(root, file).replaceAll("\\", "/");
    return { path, text, samples: samplesOf(text, path) };
  });
}

/** The samples of a page. Fences other than `ts` are left alone, but for the messages of `throws`. */
export function samplesOf(text: string, path: string): Sample[] {
  const fences = [...text.matchAll(/^```([^\n`]*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    info: match[1]!.trim(),
    body: match[2]!,
    line: text.slice(0, match.index).split("\n").length,
  }));
  return fences.flatMap(({ info, body, line }, i): Sample[] => {
    const [language, ...words] = info.split(/\s+/);
    if (language !== "ts") return [];
    const what = words.join(" ");
    if (what === "") return [{ line, code: body, kind: "run" }];
    if (/^needs /.test(what)) return [{ line, code: body, kind: "check" }];
    const next = fences[i + 1];
    if (what === "throws" && next?.info === "text")
      return [{ line, code: body, kind: "throws", message: next.body.trim() }];
    throw new Error(
      `${path}:${line}: info string "${info}"; expected ts, ts needs ..., or ts throws with a text fence`,
    );
  });
}

/** Does a message say what the page says it does? `…` stands for anything. */
export function saysSo(message: string, expected: string): boolean {
  const pattern = expected
    .split("…")
    .map((part) =>
      part
        .trim()
        .replace(/\s+/g, " ")
        .replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
    )
    .join(".*");
  return new RegExp(`^${pattern}$`, "s").test(message.trim().replace(/\s+/g, " "));
}

/**
 * A sample that must not run, as a cell that is compiled and never called; its imports stand before it. Samples of the
 * same kind further up the page belong to it.
 */
export function uncalled(samples: readonly Sample[]): string {
  const code = samples.map((sample) => sample.code).join("\n");
  const imports = code.match(/^import [^;]*;$/gm) ?? [];
  const body = code.replace(/^import [^;]*;$/gm, "");
  return `${imports.join("\n")}\nasync function neverCalled() {\n${body}\n}`;
}
