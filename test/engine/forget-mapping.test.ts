import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { forgetMapping } from "../../src/engine/forget-mapping.js";
import { open } from "../../src/index.js";
import { projectRoot } from "../../src/store/project-root.js";

/** Resident bytes of a file that is mapped into this process. */
function residentOf(file: string): number {
  let resident = 0;
  let mine = false;
  for (const line of readFileSync("/proc/self/smaps", "utf8").split("\n")) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) mine = line.endsWith(file);
    if (mine && line.startsWith("Rss:")) resident += 1024 * Number(/\d+/.exec(line)![0]);
  }
  return resident;
}

it.skipIf(process.platform !== "linux")(
  "gives back a file's pages, and what is used comes in again as it was",
  async () => {
    const path = join(projectRoot(), "data", "organisms", "tally-1m6.gguf");
    const model = await open(path, { isolated: false, threads: 1, gpu: false });
    try {
      const { tokens } = await model.prompt("17*3=");
      const ask = async () =>
        (await model.evaluate([{ tokens, logits: { positions: [-1], full: true } }])).results[0]!.logits!
          .full!;
      const before = await ask();
      expect(residentOf(path)).toBeGreaterThan(1e6);
      forgetMapping(path);
      expect(residentOf(path)).toBe(0);
      expect(await ask()).toEqual(before);
      forgetMapping(join(projectRoot(), "no such file"));
    } finally {
      await model.close();
    }
  },
);
