import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { logitGap } from "../../src/lens/logit-gap.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";

describe("logitGap on tally-25k", () => {
  let model: Model;
  beforeAll(async () => {
    model = await open("tally-25k", { gpu: false, threads: 1, isolated: false });
  });
  afterAll(() => model.close());

  it("is the smallest margin, with the end and without, and names what competes there", async () => {
    const { gaps, stats, firstNegative, to, firstError } = await logitGap(model, {
      counts: [40, 3, 4, 12, 150],
    });
    expect(gaps.map(({ count }) => count)).toEqual([3, 4, 12, 40, 150]);
    for (const { margins, withEnd, withoutEnd, competitors, tokens, correct } of gaps) {
      expect(margins.length).toBe(tokens.length + 1);
      expect(withEnd.gap).toBe(Math.min(...margins));
      expect(withoutEnd.gap).toBe(Math.min(...margins.slice(0, -1)));
      expect(withEnd.competitor).toBe(competitors[withEnd.at]);
      // This organism answers in digits alone, so that the sign is the verdict.
      expect(withEnd.gap > 0).toBe(correct);
    }
    expect(firstNegative).toBe(gaps.find(({ withEnd }) => withEnd.gap < 0)?.count ?? null);
    expect(firstError).toBe(gaps.find(({ correct }) => !correct)?.count ?? null);
    if (to !== null && firstError !== null) expect(to).toBeLessThan(firstError);
    // One forest: five lists of up to 150 items cost little more than the longest.
    expect(stats.tokensEvaluated).toBeLessThan(0.85 * stats.tokensAsked);
  });

  it("asks other motifs, and refuses a list of zero items", async () => {
    const { gaps } = await logitGap(model, { counts: [2], prompt: { item: "b", delimiter: " " } });
    const { gaps: others } = await logitGap(model, { counts: [2] });
    expect(gaps[0]!.withEnd.gap).not.toBe(others[0]!.withEnd.gap);
    await expect(logitGap(model, { counts: [0, 1] })).rejects.toThrow(
      "logitGap: count 0; expected whole numbers from 1, each once",
    );
    await expect(logitGap(model, { counts: [5], signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });
});
