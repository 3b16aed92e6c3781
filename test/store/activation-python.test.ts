import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import { captureActivations } from "../../src/model/capture-activations.js";
import { open } from "../../src/model/open.js";
import { projectRoot } from "../../src/store/project-root.js";

const store = mkdtempSync(join(tmpdir(), "countlens-python-"));
afterAll(() => rmSync(store, { recursive: true }));

const python = process.env.COUNTLENS_PYTHON ?? "python3";
const has = (modules: string) => {
  try {
    execFileSync(python, ["-c", `import ${modules}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/** The programs of the guide, as they stand there. */
const guide = readFileSync(join(projectRoot(), "docs", "guides", "activations.md"), "utf8");
const programs = [...guide.matchAll(/```python\n([\s\S]*?)```/g)].map((match) => match[1]!);

describe("stored activations in Python, by the guide's own programs", () => {
  it.each([
    ["with safetensors", "numpy, safetensors.numpy", 0],
    ["with numpy alone", "numpy", 1],
  ] as const)("%s", async (_name, modules, program) => {
    if (!has(modules)) {
      console.log(`skipped: ${python} has no ${modules}; name one that has in COUNTLENS_PYTHON`);
      return;
    }
    const model = await open("tally-25k", { isolated: false, threads: 1 });
    const prompts = await model.prompts(["1*2=", "17*3=", "a, a, a"].map((user) => ({ user })));
    const set = await captureActivations(model, prompts, {
      hooks: [residPost(0), residPost(1)],
      store,
      shardBytes: 4_000,
    });
    await model.close();
    const said = JSON.parse(
      execFileSync(python, ["-c", programs[program]!, set.folder], { encoding: "utf8" }),
    );
    const { data, width } = await set.read("residPost(0)");
    expect(set.index.shards.length).toBeGreaterThan(1);
    expect(said).toMatchObject({ name: "residPost(0)", shape: [set.rows, width] });
    expect(said.sum).toBeCloseTo(
      data.reduce((sum, value) => sum + value, 0),
      6,
    );
    if (program === 0) expect(said.prompts).toBe(3);
  });
});
