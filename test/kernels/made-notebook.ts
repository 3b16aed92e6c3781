/** Notebooks written for one test. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface MadeCell {
  readonly source: string;
  readonly tags?: readonly string[];
  readonly type?: "code" | "markdown";
}

/** A valid notebook of these cells; plain strings are code. */
export function notebookOf(cells: readonly (string | MadeCell)[]): Record<string, unknown> {
  return {
    cells: cells.map((given, index) => {
      const cell: MadeCell = typeof given === "string" ? { source: given } : given;
      const common = {
        id: `made-${index}`,
        metadata: cell.tags ? { tags: cell.tags } : {},
        source: cell.source.split(/(?<=\n)/),
      };
      if (cell.type === "markdown") return { cell_type: "markdown", ...common };
      return { cell_type: "code", ...common, outputs: [], execution_count: null };
    }),
    metadata: {
      kernelspec: { name: "countlens", display_name: "countlens (TypeScript)", language: "typescript" },
      language_info: { name: "typescript" },
    },
    nbformat: 4,
    nbformat_minor: 5,
  };
}

/** Writes it into a folder of its own; returns the path. */
export function writeNotebook(cells: readonly (string | MadeCell)[], name = "made"): string {
  const path = join(mkdtempSync(join(tmpdir(), "countlens-notebook-")), `${name}.ipynb`);
  writeFileSync(path, JSON.stringify(notebookOf(cells), null, 1));
  return path;
}
