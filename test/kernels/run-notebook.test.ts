import { describe, expect, it } from "vitest";
import type { CodeCell } from "../../kernels/notebook-file.js";
import {
  failureLine,
  type NotebookRun,
  type RunNotebookOptions,
  runNotebook,
} from "../../kernels/run-notebook.js";
import { type MadeCell, writeNotebook } from "./made-notebook.js";

const run = (cells: readonly (string | MadeCell)[], options: RunNotebookOptions = {}): Promise<NotebookRun> =>
  runNotebook(writeNotebook(cells), options);
const outputs = (ran: NotebookRun) =>
  ran.notebook.cells
    .filter((cell): cell is CodeCell => cell.cell_type === "code")
    .map((cell) => cell.outputs);
const parameters = { source: 'let model = "a";\nlet sizes = [1];', tags: ["parameters"] };

describe("runNotebook", { timeout: 300_000 }, () => {
  it("runs cells in order on the given parameters and keeps their outputs, within bounds", async () => {
    const ran = await run(
      [
        parameters,
        { source: "prose", type: "markdown" },
        "model + sizes.length",
        'import * as tslab from "tslab";\nconst display = tslab.newDisplay();\ndisplay.text("before");',
        'display.text("after");',
        'for (let i = 0; i < 30; i++) console.log("x".repeat(100_000));',
      ],
      { parameters: { model: "b", sizes: [1, 2, 3] } },
    );
    expect(ran.failure).toBeUndefined();
    const [, , sum, shown, updating, flood] = outputs(ran);
    expect(sum).toMatchObject([
      { output_type: "execute_result", data: { "text/plain": "b3" }, execution_count: 3 },
    ]);
    expect(shown).toMatchObject([{ output_type: "display_data", data: { "text/plain": "after" } }]);
    expect(updating).toEqual([]);
    const [text] = flood as unknown as [{ text: string }];
    expect(text.text.length).toBeLessThan(2_100_000);
    expect(text.text).toMatch(/cut\]$/);
  });

  it("refuses parameters that the notebook does not have, and lets the compiler check their types", async () => {
    await expect(run([parameters], { parameters: { unknown: 1 } })).rejects.toThrow("no parameter unknown");
    const wrong = await run([parameters, "1"], { parameters: { sizes: "many" } });
    expect(wrong.failure?.error.ename).toBe("TypeScriptError");
    expect(wrong.failure?.error.evalue).toContain("'string' is not assignable to type 'number[]'");
  });

  it("stops at the first cell that fails and says where", async () => {
    const ran = await run([
      "const n = 3;",
      { source: "prose", type: "markdown" },
      'const half = n / 2;\n\nif (half % 1) throw new RangeError("odd");',
      'console.log("never")',
    ]);
    expect(ran.failure).toMatchObject({ cell: 2, position: 3, line: 3 });
    expect(failureLine(ran.failure!)).toBe(
      "made, code cell 2 (cell 3 of the notebook), line 3: RangeError: odd",
    );
    expect(outputs(ran).map((cell) => cell.length)).toEqual([0, 1, 0]);
    expect(outputs(ran)[1]).toMatchObject([{ output_type: "error", ename: "RangeError", evalue: "odd" }]);
    expect(ran.notebook.cells.map((cell) => cell.cell_type === "code" && cell.execution_count)).toEqual([
      1,
      false,
      2,
      null,
    ]);
  });

  it("fails a cell for what it leaves unhandled", async () => {
    const lost = await run(['const a = 1;\nPromise.reject(new TypeError("lost"));\na']);
    expect(lost.failure).toMatchObject({ line: 2, error: { ename: "TypeError", evalue: "lost" } });
    const late = await run([
      'setTimeout(() => {\n  throw new Error("late");\n}, 1);\nawait new Promise((r) => setTimeout(r, 100_000));',
    ]);
    expect(late.failure).toMatchObject({ line: 2, error: { ename: "Error", evalue: "late" } });
  });

  it("ends a cell that takes too long, also one that never lets go", async () => {
    const ran = await run(["1", "for (;;) {}"], { cellTimeout: 30 });
    expect(ran.failure).toMatchObject({ cell: 2, error: { ename: "Timeout" } });
  });

  it("reports a process that dies, with what it had said", async () => {
    const ran = await run([
      'console.log("so far");\nawait new Promise((r) => setTimeout(r, 50));\nprocess.abort();',
    ]);
    expect(ran.failure).toMatchObject({ cell: 1, error: { ename: "ProcessDied" } });
    expect(ran.failure?.error.evalue).toContain("SIGABRT");
    expect(outputs(ran)[0]?.[0]).toMatchObject({ text: "so far\n" });
  });

  it("stops when it is told to", async () => {
    const stop = new AbortController();
    const ran = await run(["1", "await new Promise((r) => setTimeout(r, 100_000));"], {
      signal: stop.signal,
      onCell: ({ cell, state }) => {
        if (cell === 2 && state === "started") stop.abort();
      },
    });
    expect(ran.failure).toMatchObject({ cell: 2, error: { ename: "Interrupted" } });
  });
});
