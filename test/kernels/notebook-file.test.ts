import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  findNotebook,
  injectParameters,
  notebookText,
  parameterNames,
  parseNotebook,
  readNotebook,
  strippedNotebook,
} from "../../kernels/notebook-file.js";
import { mutate, mutateJson, seededInts } from "../store/mutations.js";
import { notebookOf, writeNotebook } from "./made-notebook.js";

const parametersCell = {
  source: 'let model = "a";\nlet sizes = [1, 2];\nconst fixed = 1;',
  tags: ["parameters"],
};
const parsed = () => parseNotebook(notebookOf([parametersCell, "model"]), "made.ipynb");

describe("readNotebook", () => {
  it("reads what notebookText wrote", () => {
    const path = writeNotebook([parametersCell, { source: "# Title\n\ntext", type: "markdown" }, "1 + 1\n"]);
    const notebook = readNotebook(path);
    expect(notebook.cells.map((cell) => cell.source)).toEqual([
      parametersCell.source,
      "# Title\n\ntext",
      "1 + 1\n",
    ]);
    writeFileSync(path, notebookText(notebook));
    expect(readNotebook(path)).toEqual(notebook);
  });

  const folder = mkdtempSync(join(tmpdir(), "countlens-notebook-"));
  const cell = { cell_type: "code", id: "a", metadata: {}, source: "", outputs: [], execution_count: null };
  const book = (change: object) => ({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [cell],
    ...change,
  });
  it.each([
    ["no-object", [1], "not a JSON object"],
    ["version", book({ nbformat: 3 }), "nbformat 3; expected 4"],
    ["minor", book({ nbformat_minor: "5" }), "nbformat_minor is missing"],
    ["cells", book({ cells: {} }), "cells is missing; expected an array"],
    ["null", book({ cells: [null] }), "cell 1 is not an object"],
    ["type", book({ cells: [{ ...cell, cell_type: "heading" }] }), 'cell 1: cell_type "heading"'],
    ["id", book({ cells: [{ ...cell, id: undefined }] }), "cell 1: id undefined"],
    ["twice", book({ cells: [cell, cell] }), "cell 2: id a stands twice"],
    ["source", book({ cells: [{ ...cell, source: [1] }] }), "cell 1: source must be"],
    ["tags", book({ cells: [{ ...cell, metadata: { tags: "x" } }] }), "cell 1: metadata.tags"],
    ["outputs", book({ cells: [{ ...cell, outputs: 3 }] }), "cell 1: outputs must be an array"],
    ["count", book({ cells: [{ ...cell, execution_count: -1 }] }), "cell 1: execution_count"],
  ])("says what is wrong: %s", (name, content, message) => {
    const path = join(folder, `${name}.ipynb`);
    writeFileSync(path, JSON.stringify(content));
    expect(() => readNotebook(path)).toThrow(`notebook: ${name}.ipynb: ${message}`);
  });

  it("names a file that is missing, and one that is not JSON", () => {
    expect(() => readNotebook(join(folder, "none.ipynb"))).toThrow(/none\.ipynb does not exist/);
    writeFileSync(join(folder, "cut.ipynb"), '{"cells": [');
    expect(() => readNotebook(join(folder, "cut.ipynb"))).toThrow(/cut\.ipynb is not JSON/);
  });

  it("gives cells of an older minor version the ids they lack", () => {
    const old = { nbformat: 4, nbformat_minor: 4, metadata: {}, cells: [{ ...cell, id: undefined }] };
    expect(parseNotebook(old, "old.ipynb").cells[0]?.id).toBe("cell-1");
  });
});

describe("injectParameters", () => {
  it("puts assignments after the parameters cell, as JSON", () => {
    const { cells } = injectParameters(parsed(), { model: 'b"\n', sizes: [3] }, "made.ipynb");
    expect(cells.map((cell) => cell.metadata.tags)).toEqual([
      ["parameters"],
      ["injected-parameters"],
      undefined,
    ]);
    expect(cells[1]?.source).toBe('// Parameters\nmodel = "b\\"\\n";\nsizes = [3];');
  });

  it("replaces what an earlier run injected, and leaves nothing where there are no values", () => {
    const once = injectParameters(parsed(), { model: "b" }, "made.ipynb");
    const twice = injectParameters(once, { model: "c" }, "made.ipynb");
    expect(twice.cells).toHaveLength(3);
    expect(twice.cells[1]?.source).toContain('"c"');
    expect(injectParameters(twice, {}, "made.ipynb").cells).toHaveLength(2);
  });

  it("refuses unknown names, constants, and notebooks without a parameters cell", () => {
    expect(() => injectParameters(parsed(), { modle: 1 }, "m.ipynb")).toThrow(
      "notebook: m.ipynb: no parameter modle; its parameters are model, sizes",
    );
    expect(() => injectParameters(parsed(), { fixed: 2 }, "m.ipynb")).toThrow(/fixed is a const/);
    const bare = parseNotebook(notebookOf(["1"]), "bare.ipynb");
    expect(() => injectParameters(bare, { model: 1 }, "bare.ipynb")).toThrow(
      /no code cell tagged parameters/,
    );
    expect(() => injectParameters(parsed(), { model: undefined }, "m.ipynb")).toThrow(/model is not JSON/);
  });

  it("knows the names", () => {
    expect(parameterNames(parsed())).toEqual({ let: ["model", "sizes"], const: ["fixed"] });
  });
});

describe("strippedNotebook", () => {
  it("takes away outputs, counts and the injected cell", () => {
    const injected = injectParameters(parsed(), { model: "b" }, "made.ipynb");
    const ran = injected.cells.map((cell) =>
      cell.cell_type === "code"
        ? {
            ...cell,
            execution_count: 3,
            outputs: [{ output_type: "stream" as const, name: "stdout" as const, text: "x" }],
          }
        : cell,
    );
    expect(strippedNotebook({ ...injected, cells: ran })).toEqual(parsed());
  });
});

describe("findNotebook", () => {
  const folder = mkdtempSync(join(tmpdir(), "countlens-notebook-"));
  for (const name of ["00-start", "07-patching", "08-a", "08-b"]) {
    writeFileSync(join(folder, `${name}.ipynb`), JSON.stringify(notebookOf(["1"])));
  }
  it("finds by number, by beginning and by path", () => {
    const path = join(folder, "07-patching.ipynb");
    for (const name of ["07", "07-pat", "07-patching.ipynb", path])
      expect(findNotebook(name, folder)).toBe(path);
  });
  it("says which there are", () => {
    expect(() => findNotebook("09", folder)).toThrow(
      /"09"; no such notebook.*00-start, 07-patching, 08-a, 08-b/,
    );
    expect(() => findNotebook("08", folder)).toThrow(/several notebooks begin so.*08-a, 08-b$/);
  });
});

describe("1,000 damaged notebooks", () => {
  it("a notebook that can be written again, or one line", () => {
    const shipped = readFileSync(join(import.meta.dirname, "..", "..", "notebooks", "00-quickstart.ipynb"));
    const withOutputs = JSON.parse(shipped.toString("utf8")) as { cells: Record<string, unknown>[] };
    for (const cell of withOutputs.cells)
      if (cell.cell_type === "code")
        cell.outputs = [
          { output_type: "stream", name: "stdout", text: ["a\n"] },
          { output_type: "display_data", data: {}, metadata: {} },
        ];
    const draw = seededInts(17);
    const path = join(mkdtempSync(join(tmpdir(), "notebook-")), "mutant.ipynb");
    let read = 0;
    for (let k = 0; k < 1000; k++) {
      writeFileSync(
        path,
        k % 2 === 0 ? mutate(shipped, draw, shipped.length) : JSON.stringify(mutateJson(withOutputs, draw)),
      );
      try {
        const notebook = readNotebook(path);
        read++;
        expect(
          parseNotebook(JSON.parse(notebookText(strippedNotebook(notebook))), "again").cells.length,
        ).toBe(strippedNotebook(notebook).cells.length);
        parameterNames(notebook);
      } catch (error) {
        expect((error as Error).message).toMatch(/^notebook: [^\n]*$/);
      }
    }
    expect(read).toBeGreaterThan(50);
    expect(read).toBeLessThan(950);
  });
});
