/** What the organisms are for, measured on the shipped files through the engine; the figures are in their cards. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Model, open, type PromptParts } from "../../src/index.js";
import { spearman } from "../../src/stats/correlation.js";
import { countingPrompt } from "../../src/tasks/counting.js";

const names = ["tally-25k", "tally-100k", "tally-400k", "tally-1m6"] as const;
const folder = join(import.meta.dirname, "..", "..", "data", "organisms");

interface Card {
  readonly sha256: string;
  readonly bytes: number;
  readonly architecture: { readonly layers: number; readonly parameters: number; readonly context: number };
  readonly training: { readonly rows: number };
  readonly evaluation: {
    readonly trained: Readonly<Record<string, { readonly boundary: number }>>;
    readonly heldOut: Readonly<Record<string, { readonly boundary: number }>>;
    readonly multiplication: Readonly<
      Record<string, { readonly accuracy: number; readonly horizon: number }>
    >;
    /** Over all 120 items and delimiters of the training. */
    readonly everyTrainedMotif: { readonly smallest: number; readonly median: number };
    readonly accuracyAt192: number;
    readonly frequencySpearman: { readonly rho: number; readonly p: number };
  };
}
const card = (name: string): Card => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Card;

/** Is the greedy answer to each prompt exactly the text given, and does it end there? */
async function exact(
  model: Model,
  parts: readonly PromptParts[],
  answers: readonly string[],
): Promise<boolean[]> {
  const [prompts, tokens] = await Promise.all([model.prompts(parts), model.answerTokens(answers)]);
  const { results } = await model.evaluate(
    prompts.map((prompt, i) => ({
      tokens: [...prompt.tokens, ...tokens[i]!],
      logits: {
        positions: Array.from({ length: tokens[i]!.length + 1 }, (_, j) => prompt.tokens.length - 1 + j),
        top: 1,
      },
    })),
  );
  return results.map(({ logits }, i) =>
    [...tokens[i]!, model.info.eos].every((token, j) => logits!.topIds[j] === token),
  );
}

async function withModel<T>(name: string, use: (model: Model) => Promise<T>): Promise<T> {
  const model = await open(name, { isolated: false, threads: 1 });
  try {
    return await use(model);
  } finally {
    await model.close();
  }
}

async function boundary(model: Model, item: string, delimiter: string): Promise<number> {
  const counts = Array.from({ length: 160 }, (_, i) => i + 1);
  const right = await exact(
    model,
    counts.map((n) => countingPrompt(n, { item, delimiter })),
    counts.map(String),
  );
  return right.includes(false) ? right.indexOf(false) : right.length;
}

async function grid(model: Model): Promise<number[]> {
  const pairs = Array.from({ length: 9801 }, (_, i) => [Math.floor(i / 99) + 1, (i % 99) + 1] as const);
  const right = await exact(
    model,
    pairs.map(([a, b]) => ({ system: "Answer with only the integer.", user: `${a}*${b}=` })),
    pairs.map(([a, b]) => String(a * b)),
  );
  return right.map(Number);
}

const frequencies = readFileSync(join(folder, "pair-frequency.csv"), "utf8")
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split(",").map(Number));

describe("the files", () => {
  it("are those of the cards, 20 MB in all", () => {
    for (const name of names) {
      const bytes = readFileSync(join(folder, `${name}.gguf`));
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(card(name).sha256);
      expect(card(name).architecture.context).toBeGreaterThanOrEqual(1024);
      // Size is the only difference.
      expect(card(name).training.rows).toBe(card("tally-25k").training.rows);
    }
    for (const name of ["tally-400k", "tally-1m6"])
      expect(card(name).architecture.layers).toBeGreaterThanOrEqual(6);
    const size = (path: string): number =>
      readdirSync(path, { withFileTypes: true }).reduce(
        (sum, entry) =>
          sum + (entry.isDirectory() ? size(join(path, entry.name)) : statSync(join(path, entry.name)).size),
        0,
      );
    expect(size(folder)).toBeLessThan(20e6);
    expect(size(join(folder, "checkpoints"))).toBeLessThan(10e6);
  });

  it("say how often each pair was drawn, never nothing", () => {
    expect(frequencies.length).toBe(9801);
    expect(Math.min(...frequencies.map((row) => row[2]!))).toBeGreaterThan(0);
  });
});

describe("counting", () => {
  const found: Record<string, number> = {};

  it.each(names)(
    "%s: boundary as in the card, at least 40 for the two largest, collapse further out",
    async (name) => {
      await withModel(name, async (model) => {
        found[name] = await boundary(model, "a", ", ");
        expect(found[name]).toBe(card(name).evaluation.trained["a|, "]!.boundary);
        const far = [154, 160, 170, 180, 186, 192, 200, 210, 220, 230];
        const right = await exact(
          model,
          far.map((n) => countingPrompt(n)),
          far.map(String),
        );
        expect(right.filter(Boolean).length / far.length).toBeLessThan(0.1);
        expect(card(name).evaluation.accuracyAt192).toBeLessThan(0.1);
        if (name === "tally-400k" || name === "tally-1m6") {
          expect(card(name).evaluation.everyTrainedMotif.smallest).toBeGreaterThanOrEqual(40);
        }
      });
    },
    300_000,
  );

  it("the four boundaries differ", () => {
    const smallest = names.map((name) => card(name).evaluation.everyTrainedMotif.smallest);
    expect(new Set(smallest).size).toBe(4);
    expect(new Set(Object.values(found)).size).toBe(4);
  });

  it("a motif kept out of training shifts the boundary", async () => {
    const [motif, { boundary: expected }] = Object.entries(card("tally-400k").evaluation.heldOut).find(
      ([, found]) => found.boundary < 128,
    )!;
    const [item, delimiter] = motif.split("|") as [string, string];
    const held = await withModel("tally-400k", (model) => boundary(model, item, delimiter));
    expect(held).toBe(expected);
    expect(held).not.toBe(found["tally-400k"]);
  }, 300_000);
});

describe("multiplication", () => {
  const accuracy: number[] = [];
  const rhos: { rho: number; p: number }[] = [];

  it.each(names)(
    "%s: the grid of the card",
    async (name) => {
      const right = await withModel(name, grid);
      const share = right.reduce((sum, x) => sum + x, 0) / right.length;
      expect(Math.abs(share - card(name).evaluation.multiplication.baseline!.accuracy)).toBeLessThan(5e-4);
      accuracy.push(share);
      const { r, student } = spearman(
        frequencies.map((row) => row[2]!),
        right,
      );
      rhos.push({ rho: r, p: student.p });
    },
    600_000,
  );

  it("rises with size; the smallest between 20 % and 80 %, the largest above 95 % with errors", () => {
    expect(accuracy).toHaveLength(4);
    for (let i = 1; i < 4; i++) expect(accuracy[i]).toBeGreaterThan(accuracy[i - 1]!);
    expect(accuracy[0]).toBeGreaterThan(0.2);
    expect(accuracy[0]).toBeLessThan(0.8);
    expect(accuracy[3]).toBeGreaterThan(0.95);
    expect(accuracy[3]).toBeLessThan(1);
  });

  it("horizons are not all the same", () => {
    const horizons = names.map((name) => card(name).evaluation.multiplication.baseline!.horizon);
    expect(new Set(horizons).size).toBeGreaterThan(1);
  });

  it("frequency goes with correctness in the smallest, less so in the largest", () => {
    expect(rhos[0]!.rho).toBeGreaterThan(0);
    expect(rhos[0]!.p).toBeLessThan(1e-6);
    expect(rhos[3]!.rho).toBeLessThan(rhos[0]!.rho);
  });
});

describe("speed", () => {
  it("answers one prompt within a second of opening, from a warm start", async () => {
    await withModel("tally-400k", async () => undefined);
    const start = performance.now();
    await withModel("tally-400k", async (model) => {
      const { tokens } = await model.prompt(countingPrompt(10));
      await model.generate([{ tokens }], { maxTokens: 8 });
    });
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
