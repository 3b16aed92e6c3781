import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeReport, type SummaryRow } from "../../kernels/report.js";
import { writeNotebook } from "./made-notebook.js";

const table = (value: number): string =>
  `await show([{ value: ${value} }], { name: "made", caption: "made", headline: "is ${value}", value: ${value} });`;

it("runs notebooks at the same time; a failure is told and spares the others; the summary keeps their order", async () => {
  const first = writeNotebook(
    [
      "await new Promise((done) => setTimeout(done, 1500));",
      `import { show } from "countlens";\n${table(1)}`,
    ],
    "01-slow",
  );
  const second = writeNotebook(
    [`import { show } from "countlens";\n${table(2)}`, "throw new RangeError('<b>broken</b>');"],
    "02-fails",
  );
  const third = writeNotebook([`import { show } from "countlens";\n${table(3)}`], "03-fine");
  const folder = mkdtempSync(join(tmpdir(), "countlens-report-"));
  const lines: string[] = [];
  const failures = await makeReport({
    notebooks: [first, second, third],
    folder,
    timeout: 120,
    jobs: 2,
    log: (line) => lines.push(line),
  });
  expect(failures).toHaveLength(1);
  expect(failures[0]).toContain("RangeError: <b>broken</b>");
  const rows = JSON.parse(readFileSync(join(folder, "summary.json"), "utf8")) as SummaryRow[];
  expect(rows.map(({ notebook, headline, value }) => [notebook, headline, value])).toEqual([
    ["01-slow", "is 1", 1],
    ["02-fails", "is 2", 2],
    ["03-fine", "is 3", 3],
  ]);
  const page = readFileSync(join(folder, "index.html"), "utf8");
  expect(page.indexOf("01-slow")).toBeLessThan(page.indexOf("03-fine"));
  expect(page).toContain("&lt;b&gt;broken");
  expect(page).not.toContain("<b>broken");
  expect(lines.filter((line) => line.includes("started"))).toHaveLength(3);
}, 300_000);
