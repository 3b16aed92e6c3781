import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { plainTraceback } from "../../kernels/cell-error.js";
import { collector } from "../../kernels/outputs.js";
import { createSession } from "../../kernels/session.js";
import { projectRoot } from "../../src/store/project-root.js";
import { hasBrowser } from "../figures/browser-here.js";
import { type Page, readPages, type Sample, samplesOf, saysSo, uncalled } from "./samples.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-samples-"));
for (const name of ["out", "runs"]) mkdirSync(join(folder, name));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true }));

/** What the guides write goes to a folder of the test. */
const elsewhere = (code: string): string =>
  code.replaceAll(/"(out|runs)\//g, `"${folder}/$1/`).replaceAll('"out"', `"${folder}/out"`);

/** Samples whose pictures need a browser are compiled only where there is none. */
const drawn = (code: string): boolean => /exportFigure\(/.test(code) && !hasBrowser;

/** The models a page opens, to be closed at its end. */
const opened = (page: Page): string[] =>
  page.samples
    .filter(({ kind }) => kind === "run")
    .flatMap(({ code }) => [...code.matchAll(/^const (\w+) = await open\(/gm)].map((match) => match[1]!));

// One session, forgotten between pages: no page lives on what another declared.
const session = createSession({ root: projectRoot() });
afterAll(() => session.close());

async function runPage(page: Page): Promise<string[]> {
  const failures: string[] = [];
  const cell = async (code: string) =>
    session.execute(elsewhere(code), collector(session.executions + 1, new Map()));
  try {
    const checked: Sample[] = [];
    for (const sample of page.samples) {
      const where = `${page.path}:${sample.line}`;
      if (sample.kind === "check") checked.push(sample);
      const only = sample.kind === "check" ? checked : drawn(sample.code) ? [sample] : undefined;
      const error = await cell(only === undefined ? sample.code : uncalled(only));
      if (sample.kind !== "throws") {
        if (error) failures.push(`${where}\n${plainTraceback(error)}`);
      } else if (!error || !saysSo(error.evalue, sample.message!)) {
        failures.push(`${where} says: ${error?.evalue ?? "nothing"}\nthe page: ${sample.message}`);
      }
    }
    for (const name of opened(page)) await cell(`await ${name}.close();`);
  } finally {
    session.reset();
  }
  return failures;
}

describe("code samples run as they stand", { timeout: 300_000 }, () => {
  const pages = readPages().filter(({ samples }) => samples.length > 0);
  it.each(pages.map((page) => [page.path, page] as const))("%s", async (_, page) => {
    vi.stubEnv("COUNTLENS_THREADS", "1");
    expect(await runPage(page)).toEqual([]);
  });
});

describe("samplesOf", () => {
  it("reads what a fence asks for", () => {
    const text =
      "```ts\na;\n```\n```sh\nx\n```\n```ts needs a key\nb;\n```\n```ts throws\nc;\n```\n\n```text\nno … here\n```\n";
    expect(samplesOf(text, "page.md")).toEqual([
      { line: 1, code: "a;\n", kind: "run" },
      { line: 7, code: "b;\n", kind: "check" },
      { line: 10, code: "c;\n", kind: "throws", message: "no … here" },
    ]);
    expect(() => samplesOf("```ts run\na;\n```\n", "page.md")).toThrow('page.md:1: info string "ts run"');
    expect(() => samplesOf("```ts throws\na;\n```\n", "page.md")).toThrow("with a text fence");
  });

  it("compares messages with gaps, and holds every other word", () => {
    expect(saysSo("patch: layer 9 of 4", "patch: layer … of 4")).toBe(true);
    expect(saysSo("patch: layer 9 of 5", "patch: layer … of 4")).toBe(false);
    expect(saysSo("a (b) c", "a (b)\n c")).toBe(true);
    expect(saysSo("something else", "…other")).toBe(false);
  });
});
