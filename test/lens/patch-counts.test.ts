import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attnOut, heads, mlpOut, residPost, residPre } from "../../src/engine/hooks.js";
import { attentionKnockout, knockoutEffects } from "../../src/lens/attention-knockout.js";
import { depthClaim, patchVerdict } from "../../src/lens/patch-claim.js";
import { type PatchCounts, patchCounts } from "../../src/lens/patch-counts.js";
import { patchEffects } from "../../src/lens/patch-effects.js";
import { POSITION_SETS } from "../../src/lens/position-sets.js";
import type { Model } from "../../src/model/model.js";
import { open } from "../../src/model/open.js";
import { projectRoot } from "../../src/store/project-root.js";
import { countingPrompt } from "../../src/tasks/counting.js";
import { fixturePath } from "../engine/models.js";

const of = (sweep: PatchCounts, condition = "patch") =>
  sweep.cells.filter((cell) => cell.condition === condition);

describe("patchCounts", () => {
  let model: Model;
  const quick = { base: 5, donors: [2, 3, 5, 8], layers: [0, 1], onProgress: () => {} };
  beforeAll(async () => {
    model = await open("tally-25k", { isolated: false, threads: 1 });
  });
  afterAll(() => model.close());

  it.each(POSITION_SETS.map((set) => [set]))(
    "is the identity with the recipient's own rows: %s",
    async (positions) => {
      const { identity, base } = await patchCounts(model, { ...quick, positions, controls: ["self"] });
      expect(identity).toMatchObject({ cells: 2, changed: 0 });
      expect(identity.largest).toBeLessThan(1e-3);
      expect(base.decoded).toBe(5);
    },
  );

  it("has layers x donors cells a condition, answers that belong to them, and the same ones alone", async () => {
    const shared = await patchCounts(model, { ...quick, positions: "final token" });
    const alone = await patchCounts(model, { ...quick, positions: "final token", mode: "alone" });
    expect(of(shared).map(({ layer, donor }) => [layer, donor])).toEqual(
      [0, 1].flatMap((layer) => [2, 3, 5, 8].map((donor) => [layer, donor])),
    );
    expect(shared.cells.length).toBe(3 * 8 + 2);
    expect(alone.cells.map(({ decoded }) => decoded)).toEqual(shared.cells.map(({ decoded }) => decoded));
    shared.cells.forEach((cell, i) => {
      expect(Math.abs(cell.gap - alone.cells[i]!.gap)).toBeLessThan(1e-3);
      // A positive gap is the donor's count, decoded.
      if (cell.gap > 0) expect(cell.decoded).toBe(cell.donor);
      else expect(cell.text).not.toBe(String(cell.donor));
      expect(cell.shift).toBe(cell.decoded === null ? null : cell.decoded - 5);
    });
    expect(shared.stats.tokensEvaluated).toBeLessThan(alone.stats.tokensEvaluated / 4);
  });

  it("patched in the last layer's final token answers with the donor's first token", async () => {
    const last = model.info.layers - 1;
    const sweep = await patchCounts(model, {
      ...quick,
      layers: [last],
      positions: "final token",
      controls: [],
    });
    for (const { donor, text } of sweep.cells) expect(text[0]).toBe(String(donor)[0]);
  });

  it("patched everywhere before the first block with a donor as long is the donor itself", async () => {
    const options = { layers: [0], hook: residPre, controls: [] as const, onlySuccessful: false };
    const other = { ...options, base: 4, donors: [4], prompt: (count: number) => countingPrompt(count) };
    const whole = [...(await model.prompt(countingPrompt(4))).tokens.keys()];
    const [cell] = (await patchCounts(model, { ...other, positions: whole })).cells;
    expect(cell).toMatchObject({ decoded: 4, shift: 0 });
  });

  it("gives shuffled donors another's rows under their own name, and random ones none", async () => {
    const sweep = await patchCounts(model, { ...quick, positions: "final token", seed: 3 });
    const patch = of(sweep);
    const same = of(sweep, "shuffled donor").filter(({ layer, donor, text, gap }) =>
      patch.some((one) => one.layer === layer && one.donor === donor && one.text === text && one.gap === gap),
    );
    expect(same.length).toBeLessThan(patch.length);
    const base = of(sweep, "random, equal norm").filter(({ donor }) => donor === 5);
    // As far as the recipient is from itself: nowhere.
    for (const { decoded, gapChange } of base) {
      expect(decoded).toBe(5);
      expect(Math.abs(gapChange)).toBeLessThan(1e-3);
    }
    const again = await patchCounts(model, { ...quick, positions: "final token", seed: 3 });
    expect(again.cells).toEqual(sweep.cells);
  });

  it("patches one position or one head at a time; all heads and the branches are hook points like any other", async () => {
    const each = await patchCounts(model, {
      ...{ ...quick, donors: [3], controls: [], each: "position" as const, positions: "assistant turn" },
    });
    const turn = (await model.prompt(countingPrompt(5))).spans.assistant!;
    expect(each.cells.map(({ position }) => position)).toEqual([...turn, ...turn]);
    const one = await patchCounts(model, { ...quick, donors: [3], controls: [], positions: [-1] });
    expect(each.cells.filter(({ position }) => position === turn.at(-1)).map(({ text }) => text)).toEqual(
      one.cells.map(({ text }) => text),
    );
    const byHead = await patchCounts(model, {
      ...{ ...quick, donors: [3], hook: heads, each: "head" as const, positions: "final token" },
      controls: ["self"],
    });
    expect(of(byHead).length).toBe(2 * model.info.heads);
    expect(byHead.identity.changed).toBe(0);
    for (const hook of [attnOut, mlpOut, heads]) {
      const { identity } = await patchCounts(model, { ...quick, hook, positions: "final token" });
      expect(identity.changed).toBe(0);
      expect(identity.largest).toBeLessThan(1e-3);
    }
  });

  it("refuses bad input before any work", async () => {
    const evaluate = model.evaluate;
    let evaluated = 0;
    const counting = {
      ...model,
      evaluate: (...args: Parameters<typeof evaluate>) => {
        evaluated++;
        return evaluate(...args);
      },
    };
    const refused = (options: Parameters<typeof patchCounts>[1]) =>
      expect(patchCounts(counting as Model, { onProgress: () => {}, ...options })).rejects;
    await refused({ donors: [3, 0] }).toThrow(
      /^patchCounts: donor of 0 items; expected a whole number from 1/,
    );
    await refused({ donors: [] }).toThrow(/no donors/);
    await refused({ base: 2.5 }).toThrow(/base of 2.5 items/);
    await refused({ layers: [99] }).toThrow(/has no residPost\(99\); it has .*residPost \(layers 0\.\./);
    await refused({ layers: [] }).toThrow(/no layers/);
    await refused({ each: "head" }).toThrow(/each head of residPost\(0\); expected hook: heads/);
    await refused({ positions: "itmes" }).toThrow(/the prompt of 10 has no span itmes/);
    await refused({ positions: "delimiters", donors: [1, 2] }).toThrow(
      /the prompt of 1 has no tokens between/,
    );
    expect(evaluated).toBe(0);
  });

  it("refuses when no donor succeeds, or the recipient fails, and takes them when told to", async () => {
    const wrong = { onProgress: () => {}, layers: [1], prompt: (count: number) => countingPrompt(count + 1) };
    await expect(patchCounts(model, { ...wrong, base: 4, donors: [2, 3] })).rejects.toThrow(
      /^patchCounts: no donor succeeds \(2: "3", 3: "4"\); choose counts .* onlySuccessful: false/,
    );
    const some = { ...wrong, prompt: (count: number) => countingPrompt(count === 4 ? 6 : count) };
    await expect(patchCounts(model, { ...some, base: 4, donors: [2, 4] })).rejects.toThrow(
      /the recipient of 4 items answers "6"/,
    );
    const { donors, failed } = await patchCounts(model, { ...some, base: 3, donors: [2, 4, 5] });
    expect([donors.map(({ count }) => count), failed.map(({ count }) => count)]).toEqual([[2, 5], [4]]);
    const all = await patchCounts(model, { ...some, base: 3, donors: [2, 4, 5], onlySuccessful: false });
    expect(all.donors.length).toBe(3);
  });

  it("stops when it is told to", async () => {
    const stop = AbortSignal.abort(new Error("enough"));
    await expect(patchCounts(model, { ...quick, signal: stop })).rejects.toThrow();
  });
});

describe("attentionKnockout", () => {
  let model: Model;
  beforeAll(async () => {
    model = await open("tally-25k", { isolated: false, threads: 1 });
  });
  afterAll(() => model.close());
  const quiet = { onProgress: () => {} };

  it("has layers x counts cells and controls, and tells what is lost", async () => {
    const { cells, counts } = await attentionKnockout(model, {
      ...{
        ...quiet,
        counts: [3, 6, 9],
        layers: [0, 1],
        from: "items and delimiters",
        window: model.info.layers,
      },
    });
    expect(cells.length).toBe(2 * 2 * counts.length);
    for (const { right, gap } of cells) expect(right).toBe(gap > 0);
    const [first] = knockoutEffects(cells);
    const lost = cells.filter(
      ({ layer, condition, right }) => layer === 0 && condition === "knockout" && !right,
    );
    expect(first).toMatchObject({
      layer: 0,
      n: counts.length,
      control: false,
      effect: lost.length / counts.length,
    });
  });

  it("of nothing but what is not attended to changes nothing: a window past the end is cut", async () => {
    const last = model.info.layers - 1;
    const one = await attentionKnockout(model, { ...quiet, counts: [4, 5], layers: [last], window: 1 });
    const more = await attentionKnockout(model, { ...quiet, counts: [4, 5], layers: [last], window: 9 });
    expect(more).toEqual(one);
  });

  it("refuses bad input and counts that all fail", async () => {
    await expect(attentionKnockout(model, { ...quiet, counts: [0] })).rejects.toThrow(/count 0/);
    await expect(attentionKnockout(model, { ...quiet, layers: [77] })).rejects.toThrow(
      /has no attnPattern\(77\)/,
    );
    await expect(attentionKnockout(model, { ...quiet, window: 0 })).rejects.toThrow(/window of 0 layers/);
    const wrong = (count: number) => countingPrompt(count + 1);
    await expect(attentionKnockout(model, { ...quiet, counts: [2, 3], prompt: wrong })).rejects.toThrow(
      /answers none of 2 counts rightly/,
    );
  });
});

/** The paper's claim in full, with its controls: the items of these were trained to carry the count after the middle block. */
describe.each(["tally-400k", "tally-1m6"])("patching on %s", (name) => {
  it("works in the sequence first and for most donors, then at the final token", async () => {
    const model = await open(name, { isolated: false, threads: 1 });
    try {
      const sequence = await patchCounts(model, { positions: "items", onProgress: () => {} });
      const final = await patchCounts(model, { positions: "final token", onProgress: () => {} });
      for (const { identity } of [final, sequence]) expect(identity.changed).toBe(0);
      expect(sequence.base.count).toBe(10);
      expect(sequence.donors.length).toBeGreaterThan(20);
      const claim = depthClaim(patchEffects(sequence), patchEffects(final));
      expect(claim.said).toMatch(/^sequence patching works earlier in depth/);
      expect(claim).toMatchObject({ earlier: true, most: true, holds: true });
      expect(claim.sequence.best).toMatchObject({ layer: 2 });
      expect(claim.sequence.best!.low).toBeGreaterThan(0.5);
      expect(claim.sequence.control!.high).toBeLessThan(0.5);
      // The final token decides the answer's first token alone, and late.
      const verdict = patchVerdict("final token", patchEffects(final, { measure: "first digit" }));
      expect(verdict.from).toBeGreaterThan(2);
      // Behind the block that reads the items nothing is left to move.
      const late = patchEffects(sequence).find(({ control, layer }) => !control && layer === 5)!;
      expect(late.effect).toBe(0);
    } finally {
      await model.close();
    }
  }, 300_000);
});

/** The control: an organism before that training. It counts as well, but not by what its items hold, and the claim has to say so. */
it("patching a checkpoint whose items were not trained to carry the count moves nothing", async () => {
  const path = join(projectRoot(), "data", "organisms", "checkpoints", "tally-100k-step05500.gguf");
  const model = await open(path, { isolated: false, threads: 1 });
  try {
    const sequence = await patchCounts(model, { positions: "items", onProgress: () => {} });
    const final = await patchCounts(model, { positions: "final token", onProgress: () => {} });
    expect(sequence.donors.length).toBeGreaterThan(20);
    const claim = depthClaim(patchEffects(sequence), patchEffects(final));
    expect(claim.sequence.from).toBeNull();
    expect(claim.said).toMatch(/^NOT shown: .*patching the sequence moves no answers beyond its controls/);
  } finally {
    await model.close();
  }
}, 300_000);

it("patches a model of another architecture", async () => {
  const model = await open(fixturePath("gemma3"), { gpu: false, threads: 1, isolated: false });
  try {
    const sweep = await patchCounts(model, {
      ...{
        base: 3,
        donors: [2, 3, 4],
        onlySuccessful: false,
        maxTokens: 2,
        hook: residPost,
        onProgress: () => {},
      },
    });
    expect(sweep.identity).toMatchObject({ cells: model.info.layers, changed: 0 });
  } finally {
    await model.close();
  }
});
