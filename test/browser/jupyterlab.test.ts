import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { notebookFiles } from "../../kernels/notebook-file.js";
import { findBrowser, NO_BROWSER } from "../../src/figures/browser.js";
import { projectRoot } from "../../src/store/project-root.js";
import { labMissing } from "../kernels/lab-environment.js";
import { notebookOf } from "../kernels/made-notebook.js";
import { underJupyter } from "../notebooks/test-size.js";
import { type Lab, patience, type ShownCell, startLab } from "./jupyterlab.js";

const missing = findBrowser() === undefined ? NO_BROWSER : labMissing();
const notebooks = notebookFiles(join(projectRoot(), "notebooks")).filter((path) =>
  underJupyter(basename(path, ".ipynb")),
);
/** Longest time of one notebook. */
const longest = 20 * 60_000;

const errorsOf = (cells: readonly ShownCell[]) =>
  cells.flatMap((cell) => cell.outputs.filter((output) => output.output_type === "error"));
const plotted = (cell: ShownCell): number =>
  cell.outputs.filter(
    (output) => "application/vnd.plotly.v1+json" in ((output.data as object | undefined) ?? {}),
  ).length;

describe.skipIf(missing !== undefined)(`JupyterLab in Chromium${missing ? `: ${missing}` : ""}`, () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  }, 2 * patience);
  afterAll(() => lab?.close(), patience);
  afterEach(async (test) => {
    if (test.task.result?.state === "fail") {
      const name = `failed-${test.task.name.replace(/[^A-Za-z0-9]+/g, "-")}`;
      await lab.picture(name).catch(() => undefined);
    }
    await lab.closeNotebook().catch(() => undefined);
  }, patience);

  const openMade = async (name: string, sources: readonly string[]): Promise<void> => {
    writeFileSync(join(lab.folder, name), JSON.stringify(notebookOf(sources)));
    await lab.openNotebook(name);
  };

  it(
    "shows a failing cell's error at its line, runs nothing behind it, and goes on afterwards",
    async () => {
      await openMade("failing.ipynb", [
        "const first = 1;",
        "const second = 2;\n\nif (first < second) {\n  throw new RangeError('out of range: ' + second);\n}",
        'console.log("never printed");',
      ]);
      await lab.command("notebook:run-all-cells");
      await lab.idle(patience);
      const [, failing, behind] = await lab.cells();
      expect(errorsOf([failing!])).toMatchObject([{ ename: "RangeError", evalue: "out of range: 2" }]);
      expect(failing!.text).toContain("RangeError: out of range: 2");
      expect(failing!.text).toContain("cell [2], line 4");
      expect(behind!.outputs).toEqual([]);
      // The last cell is the active one after "run all".
      await lab.command("notebook:run-cell");
      await lab.idle(patience);
      expect((await lab.cells())[2]!.text).toContain("never printed");
    },
    4 * patience,
  );

  it(
    "interrupts a long cell, and nothing that it started goes on",
    async () => {
      await openMade("long.ipynb", [
        'const g = globalThis as any;\ng.turns = 0;\nconsole.log("running");\nfor (;;) {\n  await new Promise((next) => setImmediate(next));\n  g.turns++;\n}',
        "const then = (globalThis as any).turns as number;\nawait new Promise((next) => setTimeout(next, 1500));\nString([then > 0, (globalThis as any).turns === then])",
      ]);
      await lab.command("notebook:run-all-cells");
      // The output, not the word in the source: an interrupt that comes before the cell has begun stops nothing.
      await lab.page.locator(".jp-OutputArea-output").getByText("running").waitFor();
      await lab.command("notebook:interrupt-kernel");
      await lab.idle(patience);
      const [long] = await lab.cells();
      expect(errorsOf([long!])).toMatchObject([{ ename: "Interrupted" }]);
      await lab.command("notebook:run-cell");
      await lab.idle(patience);
      expect((await lab.cells())[1]!.text).toContain("true,true");
    },
    4 * patience,
  );

  it(
    "offers the library's members on Tab",
    async () => {
      await openMade("complete.ipynb", ['import * as countlens from "countlens";', "countlens.resid"]);
      await lab.command("notebook:run-all-cells");
      await lab.idle(patience);
      await lab.page.locator(".jp-CodeCell .cm-content").nth(1).click();
      await lab.page.keyboard.press("End");
      await lab.page.keyboard.press("Tab");
      const offered = lab.page.locator(".jp-Completer");
      await offered.getByText("residPost").first().waitFor();
      expect(await offered.textContent()).toMatch(/residPre/);
      await lab.page.keyboard.press("Escape");
    },
    4 * patience,
  );

  it.each(notebooks.map((path) => [basename(path, ".ipynb")]))(
    "runs %s, plots drawn",
    async (name) => {
      await lab.openNotebook(`${name}.ipynb`);
      await lab.command("notebook:run-all-cells");
      await lab.idle(longest);
      await lab.wakePlots();
      const cells = await lab.cells();
      expect(errorsOf(cells)).toEqual([]);
      for (const cell of cells) {
        expect(cell.plots, cell.source).toHaveLength(plotted(cell));
        for (const marks of cell.plots) expect(marks, cell.source).toBeGreaterThan(5);
      }
      await lab.picture(name);
    },
    longest + 2 * patience,
  );
});
