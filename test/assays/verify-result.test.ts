import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromModel } from "../../src/assays/answerer.js";
import { type Capacity, countingCapacity } from "../../src/assays/counting-capacity.js";
import { denseSweep } from "../../src/assays/dense-sweep.js";
import type { HorizonResult } from "../../src/assays/horizon-result.js";
import { verify } from "../../src/assays/verify-result.js";
import { zeroErrorHorizon } from "../../src/assays/zero-error-horizon.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { recordsTask } from "../../src/tasks/count-task.js";
import { multiplication } from "../../src/tasks/multiplication.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-verify-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** As it comes back from a file. */
const stored = <T>(result: T): T => JSON.parse(JSON.stringify(result)) as T;

let model: Model;
beforeAll(async () => {
  model = await open("tally-25k", { isolated: false, threads: 1 });
});
afterAll(async () => model?.close());

describe("verify", () => {
  let horizon: HorizonResult;
  const log = join(folder, "run.jsonl");
  beforeAll(async () => {
    horizon = stored(await zeroErrorHorizon(model, multiplication(), { upTo: 14, wholeGrid: true, log }));
  });

  it("a horizon holds, limiters first, whatever the mode that found it", async () => {
    const verification = await verify(horizon, { model, sample: 20 });
    expect(verification).toMatchObject({ holds: true, sampled: 20, of: 196, differing: [], changed: [] });
    expect(verification.trials.slice(0, horizon.limiters.length).map(({ trial }) => trial)).toEqual(
      horizon.limiters.map(({ key }) => key),
    );
    expect(verification.text).toMatch(/^holds: 20 of 196 trials computed again, none differs$/);
  });

  it("a result that was changed does not, and the trial is named", async () => {
    const { key } = horizon.instances[0]!;
    const instances = horizon.instances.map((one) => ({
      ...one,
      right: one.key === key ? !one.right : one.right,
    }));
    const verification = await verify({ ...horizon, instances }, { model, sample: 196 });
    expect(verification.holds).toBe(false);
    expect(verification.differing.map(({ trial }) => trial)).toEqual([key]);
    expect(verification.text).toMatch(
      new RegExp(`^does not hold: 196 of 196 .* 1 differ, the first ${key}$`),
    );
  });

  it("another model's weights and settings are named", async () => {
    const other = await open("tally-100k", { isolated: false, threads: 1, kvType: "f16" });
    const verification = await verify(horizon, { model: other, sample: 3 });
    await other.close();
    expect(verification.holds).toBe(false);
    expect(verification.changed).toEqual(
      expect.arrayContaining(["weights (another sha256)", "kvType f32 to f16"]),
    );
  });

  it("ladders and sweeps hold, of drawn prompts too, and a wrong count is found", async () => {
    const answerer = fromModel(model, { maxTokens: 16 });
    const ladder = stored(await countingCapacity(answerer, { seed: 5, ceiling: 32 }));
    expect(await verify(ladder, { model })).toMatchObject({ holds: true, changed: [] });
    const task = recordsTask({ distractorRatio: 0.5 });
    const records = stored(
      await countingCapacity(answerer, { seed: 2, start: 4, resolution: 1, ceiling: 4, task }),
    );
    expect(await verify(records, { model })).toMatchObject({ holds: true });
    const sweep = stored(await denseSweep(answerer, { to: 12, task }));
    expect(await verify(sweep, { model })).toMatchObject({ holds: true, sampled: 12 });
    const wrong: Capacity = {
      ...ladder,
      trials: ladder.trials.map((trial, i) =>
        i === 3 ? { ...trial, response: "999", prediction: 999 } : trial,
      ),
    };
    const found = await verify(wrong, { model, sample: 100 });
    expect(found.differing).toMatchObject([{ trial: "tier 32, trial 3", stored: "999", outcome: "differs" }]);
  });

  it("a run log holds by itself", async () => {
    expect(await verify(log, { model, sample: 15 })).toMatchObject({ holds: true, sampled: 15 });
    const answers = join(folder, "answers.jsonl");
    await countingCapacity(fromModel(model, { maxTokens: 16 }), { seed: 5, ceiling: 32, log: answers });
    expect(await verify(answers, { model, sample: 10 })).toMatchObject({ holds: true, sampled: 10 });
    await expect(verify(log)).rejects.toThrow(/a log does not say where its model is; give it as model/);
  });

  it("opens the model of the result by its file's name", async () => {
    const verification = await verify(horizon, { sample: 2 });
    expect(verification).toMatchObject({ holds: true, sampled: 2 });
    const { provenance } = horizon;
    const strange = {
      ...horizon,
      provenance: { ...provenance, model: { ...provenance.model!, file: "nobody-has-it.gguf" } },
    };
    await expect(verify(strange)).rejects.toThrow(
      /nobody-has-it.gguf, is not known by its name; open it and give it as model/,
    );
    await expect(verify(horizon, { model, sample: 0 })).rejects.toThrow(
      /sample 0; expected a whole number from 1/,
    );
    const { model: _model, ...nowhere } = provenance;
    await expect(verify({ ...horizon, provenance: nowhere })).rejects.toThrow(/is a server's/);
  });
});
