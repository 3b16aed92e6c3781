import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { notebookCommand, readOrder } from "../../kernels/notebook.js";
import { writeNotebook } from "./made-notebook.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-notebook-"));
afterAll(() => rmSync(folder, { recursive: true }));

const said: string[] = [];
const out = { line: (text: string) => said.push(text), error: (text: string) => said.push(`! ${text}`) };

describe("npm run notebook", () => {
  it("reads parameters, and its own options beside them", () => {
    const order = readOrder([
      "07",
      "--model",
      "tally-25k",
      "--seed",
      "3",
      "--set",
      "layers=[1,2]",
      "--figures",
      "out",
    ]);
    expect(order).toMatchObject({ name: "07", figures: "out", save: undefined, list: false });
    expect(order.parameters).toEqual({ model: "tally-25k", seed: 3, layers: [1, 2] });
    expect(() => readOrder([])).toThrow(/npm run notebook -- NAME/);
    expect(() => readOrder(["07", "--figures"])).toThrow("notebook: --figures has no value; give it one");
    expect(() => readOrder(["07", "--timeout", "soon"])).toThrow(/expected seconds, 0 or more/);
  });

  it("writes the executed notebook, and every figure and table that was shown", async () => {
    const path = writeNotebook([
      { source: "let top = 2;", tags: ["parameters"] },
      `import { figures, show } from "countlens";
       await show([{ top }], { name: "numbers" });
       await show(figures.countingCurve([1, 2, top].map((count) => ({ count, predicted: count })), { name: "curve" }), { headline: "exact" });`,
    ]);
    const [figuresFolder, saved] = [join(folder, "report"), join(folder, "executed.ipynb")];
    expect(
      await notebookCommand(
        [path, "--top", "7", "--figures", figuresFolder, "--save", saved, "--quiet"],
        out,
      ),
    ).toBe(0);
    expect(readFileSync(saved, "utf8")).toContain("exact");
    expect(readFileSync(join(figuresFolder, "figures", "made-numbers.csv"), "utf8")).toMatch(/7/);
    expect(existsSync(join(figuresFolder, "figures", "made-curve.csv"))).toBe(true);
    const lines = readFileSync(join(figuresFolder, "figures.jsonl"), "utf8").trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { figure: string }).figure)).toEqual([
      "numbers",
      "curve",
    ]);
  }, 120_000);

  it("ends with 1 where a cell fails", async () => {
    expect(await notebookCommand([writeNotebook(['throw new Error("no");']), "--quiet"], out)).toBe(1);
    expect(said.join("\n")).toMatch(/^! made, code cell 1 .*: Error: no/);
    expect(await notebookCommand(["--help"], out)).toBe(0);
    expect(said.at(-1)).toMatch(/^npm run notebook/);
  }, 60_000);
});
