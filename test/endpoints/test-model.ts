/** The model that servers and assays are tested with: the smallest organism, or `COUNTLENS_TEST_MODEL`. */
import { join } from "node:path";
import { projectRoot } from "../../src/store/project-root.js";

export const testModel =
  process.env.COUNTLENS_TEST_MODEL ?? join(projectRoot(), "data", "organisms", "tally-25k.gguf");
