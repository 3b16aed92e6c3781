import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { notebookFiles } from "../../kernels/notebook-file.js";
import { failureLine, runNotebook } from "../../kernels/run-notebook.js";
import { projectRoot } from "../../src/store/project-root.js";
import { testParameters } from "./test-size.js";

const notebooks = notebookFiles(join(projectRoot(), "notebooks"));
const longest = 20 * 60_000;

describe("notebooks in process", () => {
  it.each(notebooks.map((path) => [basename(path, ".ipynb"), path]))(
    "%s runs",
    async (name, path) => {
      const run = await runNotebook(path, { parameters: testParameters(name) });
      expect(run.failure && failureLine(run.failure)).toBeUndefined();
    },
    longest,
  );
});
