import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { notebookFiles } from "../../kernels/notebook-file.js";
import { projectRoot } from "../../src/store/project-root.js";
import { askPython, labMissing } from "../kernels/lab-environment.js";
import { underJupyter } from "./test-size.js";

const missing = labMissing();
const notebooks = notebookFiles(join(projectRoot(), "notebooks")).filter((path) =>
  underJupyter(basename(path, ".ipynb")),
);
const script = join(projectRoot(), "test", "notebooks", "run_nbclient.py");
const longest = 25 * 60_000;

describe.skipIf(missing !== undefined)(`notebooks through nbclient${missing ? `: ${missing}` : ""}`, () => {
  it.each(notebooks.map((path) => [basename(path, ".ipynb"), path]))(
    "%s runs with the project's kernel",
    (_, path) => {
      const ran = askPython(script, { path }) as { failure: string | null; outputs: number };
      expect(ran.failure).toBeNull();
      expect(ran.outputs).toBeGreaterThan(0);
    },
    longest,
  );
});
