import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CodeCell, readNotebook, strippedNotebook } from "../../kernels/notebook-file.js";
import { projectRoot } from "../../src/store/project-root.js";

/** Every notebook in git; outside a checkout (a packed release) every notebook of the folder. */
function committedNotebooks(): string[] {
  try {
    const listed = execFileSync("git", ["-C", projectRoot(), "ls-files", "-z", "--", "*.ipynb"], {
      encoding: "utf8",
    });
    return listed.split("\0").filter((path) => path !== "" && existsSync(join(projectRoot(), path)));
  } catch {
    return [];
  }
}

const notebooks = committedNotebooks();

describe("notebooks in git", () => {
  it("are there", () => {
    expect(notebooks).toContain("notebooks/00-quickstart.ipynb");
  });

  it.each(notebooks.map((path) => [path]))("%s is clean", (path) => {
    const file = join(projectRoot(), path);
    const notebook = readNotebook(file);
    expect(notebook.nbformat_minor).toBe(5);
    // No outputs, no counts, no injected parameters.
    expect(notebook).toEqual(strippedNotebook(notebook));
    expect(readFileSync(file, "utf8")).not.toMatch(/\/(home|root|Users|work)\//);
    expect(notebook.metadata.kernelspec).toMatchObject({ name: "countlens", language: "typescript" });
    const first = notebook.cells.find((cell): cell is CodeCell => cell.cell_type === "code");
    expect(first?.metadata.tags).toEqual(["parameters"]);
    expect(first?.source).not.toMatch(/^const /m);
    expect(notebook.cells[0]).toMatchObject({ cell_type: "markdown" });
    expect(notebook.cells[0]?.source).toMatch(/^# \S/);
  });
});
