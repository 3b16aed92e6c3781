import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answerer, fromModel } from "../../src/assays/answerer.js";
import { type Capacity, countingCapacity, tierLine } from "../../src/assays/counting-capacity.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { provenance } from "../../src/store/provenance.js";
import { recordsTask } from "../../src/tasks/count-task.js";

const organism = fileURLToPath(new URL("../../data/organisms/tally-25k.gguf", import.meta.url));

describe.skipIf(!existsSync(organism))("countingCapacity on an organism", () => {
  let model: Model;
  let capacity: Capacity;
  const lines: string[] = [];
  beforeAll(async () => {
    model = await open(organism, { threads: 1, isolated: false });
    capacity = await countingCapacity(fromModel(model), { seed: 1, onTier: (line) => lines.push(line) });
  });
  afterAll(() => model.close());

  it("has a numeric capacity with its bracket and every trial behind it", () => {
    expect(capacity.end).toBe("bracketed");
    const [stable, failed] = capacity.bracket as [number, number];
    expect(capacity.label).toBe(String(stable));
    expect(failed - stable).toBeLessThanOrEqual(32);
    expect(capacity.trials).toHaveLength(16 * capacity.tiers.length);
    expect(lines).toHaveLength(capacity.tiers.length);
    expect(lines.at(-1)).toContain(`bracket [${stable}, ${failed})`);
    for (const trial of capacity.trials) {
      expect(trial.exact).toBe(trial.prediction === trial.target);
      expect(trial.inputTokens).toBeGreaterThan(2 * trial.target);
      expect(trial.outputTokens).toBeGreaterThan(0);
      expect(trial.response).toContain(String(trial.prediction ?? ""));
    }
    expect(capacity.formats.reduce((sum, { trials }) => sum + trials, 0)).toBe(capacity.trials.length);
    expect(capacity.provenance.model?.sha256).toBe(model.sha256);
  });

  it("costs far less than its prompts one by one", () => {
    const { tokensAsked, tokensEvaluated, tokensSaved, inputTokens, outputTokens } = capacity.cost;
    expect(tokensAsked).toBe(inputTokens + outputTokens);
    expect(tokensEvaluated).toBeLessThan((tokensAsked ?? 0) / 5);
    expect(tokensSaved).toBeCloseTo(1 - (tokensEvaluated ?? 0) / (tokensAsked ?? 1), 12);
  });

  it("gives the same answers when nothing is shared", async () => {
    const alone = await countingCapacity(fromModel(model), { seed: 1, mode: "alone", ceiling: 32 });
    expect(alone.trials.map(({ response }) => response)).toEqual(
      capacity.trials.slice(0, 16).map(({ response }) => response),
    );
    expect(alone.cost.tokensEvaluated).toBeGreaterThan((alone.cost.tokensAsked ?? 0) * 0.9);
  });

  it("stops at a tier beyond the context and says so", async () => {
    const short = await open(organism, { threads: 1, isolated: false, context: 160 });
    const result = await countingCapacity(fromModel(short), { seed: 1 });
    await short.close();
    expect(result.end).toBe("outOfReach");
    expect(result.reason).toMatch(
      /^tier 64: a prompt of \d+ tokens needs 16 more .*; the context of .* is 160$/,
    );
    expect(result.label).toBe(">=32");
  });

  it("runs the same ladder on nested records, from a start the organism can do", async () => {
    const result = await countingCapacity(fromModel(model), {
      task: recordsTask(),
      start: 4,
      resolution: 2,
      ceiling: 16,
    });
    expect(result.task).toBe("records");
    expect(result.tiers[0]?.length).toBe(4);
    expect(
      result.trials.every(({ target, tier }) => Math.abs(target - (tier ?? 0)) <= 0.2 * (tier ?? 0) + 0.5),
    ).toBe(true);
    expect(result.provenance.notes).toMatchObject({ task: { distractorRatio: 1 } });
  });
});

describe("countingCapacity on a server", () => {
  const server = (fail: string): Answerer => ({
    name: "served",
    identity: "http://x served",
    repeatable: false,
    decoding: "temperature 0",
    answer: async (prompts) => {
      if (prompts.some(({ user }) => user.length > 400)) throw new Error(fail);
      const answers = prompts.map(({ user }) => ({
        text: `${user.split("\n\n")[1]?.split(", ").length} items`,
        ended: true,
        inputTokens: user.length,
        outputTokens: 30,
        reasoningTokens: 28,
      }));
      return { answers, ms: 10 };
    },
    provenance: (notes) => provenance({ notes }),
  });

  it("takes a refusal for length as the end, with what was found below", async () => {
    const result = await countingCapacity(
      server(
        "endpoint: http://x: HTTP 400: maximum context length is 512 tokens; the server refuses this body",
      ),
    );
    expect(result).toMatchObject({ label: ">=64", end: "outOfReach", context: null });
    expect(result.reason).toMatch(/^tier 128: endpoint: .*HTTP 400/);
    expect(result.cost).toMatchObject({ tokensAsked: null, tokensSaved: null, reasoningTokens: 32 * 28 });
    expect(result.formats.find(({ format }) => format === "prose")?.exact).toBe(32);
  });

  it("hands on any other failure", async () => {
    await expect(countingCapacity(server("endpoint: http://x: HTTP 500"))).rejects.toThrow("HTTP 500");
  });
});

describe("tierLine", () => {
  it("shows what a tier was and the bracket so far", () => {
    const tier = { length: 64, nMAE: 0.0123, exact: 0.8125, bias: -0.003, missing: 1, stable: true };
    expect(tierLine(tier, [64, null])).toBe(
      "tier    64  nMAE 0.012  exact  81 %  bias -0.3 %  1 without an integer  stable   bracket [64, ...)",
    );
    expect(tierLine({ ...tier, nMAE: 2.7e10, bias: 2.7e10, missing: 0 }, [64, null])).toContain(
      "nMAE 2.7e+10  exact  81 %  bias +2.7e+12 %",
    );
    expect(tierLine({ ...tier, bias: Number.NaN, stable: false }, [null, 64])).toContain(
      "bias none  1 without an integer  failed   bracket [none, 64)",
    );
  });
});
