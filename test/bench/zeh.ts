/**
 * What the Zero-Error Horizon costs (first paper, Tables 7 and 8): the trie against teacher forcing in batches, against
 * plain decodes of the same shape, and against naive greedy decoding through node-llama-cpp's own API.
 *
 * `npm run bench -- zeh [--models tally-1m6,smollm2-135m-instruct] [--up-to N] [--repeats N] [--no-naive]`
 */
import { parseArgs } from "node:util";
import { VERIFICATION_MODES } from "../../src/assays/verification/modes.js";
import { createVerifier } from "../../src/assays/verification/verify.js";
import { zeroErrorHorizon } from "../../src/assays/zero-error-horizon.js";
import type { Model } from "../../src/model/model.js";
import { marginFloor } from "../../src/model/noise-floor.js";
import { open } from "../../src/model/open.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { type Item, itemsOf } from "../../src/tasks/task.js";
import type { Line } from "./line.js";
import { plainDecodes } from "./zeh-floor.js";
import { naiveDecoding } from "./zeh-naive.js";

export const name = "zeh";

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

/** Wall time, ms. */
async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const start = performance.now();
  const value = await work();
  return { ms: performance.now() - start, value };
}

export async function run(emit: (line: Line) => void, args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args,
    options: { models: text, "up-to": text, repeats: text, "no-naive": { type: "boolean" } },
  });
  const models = (values.models ?? "tally-1m6,smollm2-135m-instruct").split(",");
  const repeats = Number(values.repeats ?? 3);
  for (const spec of models) {
    const upTo = Number(values["up-to"] ?? (/smol/i.test(spec) ? 20 : 99));
    await benchModel(emit, spec, upTo, repeats, values["no-naive"] !== true);
  }
}

async function benchModel(
  emit: (line: Line) => void,
  spec: string,
  upTo: number,
  repeats: number,
  naive: boolean,
): Promise<void> {
  const model = await open(spec, { isolated: false });
  const task = multiplication();
  const items: Item[] = [];
  for (let size = 1; size <= upTo; size++) items.push(...itemsOf(task, size));
  const prompts = await model.prompts(items.map(({ prompt }) => prompt));
  const { settings, backend, llamaVersion } = model.info;
  const context = {
    model: model.info.name,
    upTo,
    instances: items.length,
    threads: settings.threads,
    backend,
    llamaVersion,
  };
  const say = (
    metric: string,
    value: number,
    unit: string,
    n = repeats,
    more: Record<string, unknown> = {},
  ) => emit({ bench: name, metric, value, unit, n, context: { ...context, ...more } });
  const noiseFloor = await marginFloor(model);
  const forced = (share: "nothing" | "everything") => {
    const steps = { ...VERIFICATION_MODES.trie, share };
    const signal = new AbortController().signal;
    return createVerifier(model, { steps, reader: task.reader, noiseFloor, maxTokens: 64, signal });
  };

  // Verification alone (Table 7): the same requests, the same batches, sharing or not.
  const ms: Record<"nothing" | "everything", number[]> = { nothing: [], everything: [] };
  const tokens = { nothing: 0, everything: 0 };
  for (let i = 0; i < repeats; i++) {
    for (const share of ["everything", "nothing"] as const) {
      const verifier = forced(share);
      await verifier.verify(items);
      ms[share].push(verifier.counts().ms);
      tokens[share] = verifier.counts().tokensEvaluated;
    }
  }
  const [tf, trie] = [median(ms.nothing), median(ms.everything)];
  const ratio = tokens.nothing / tokens.everything;
  say("tf_tokens", tokens.nothing, "tokens", 1);
  say("trie_tokens", tokens.everything, "tokens", 1);
  say("token_ratio", ratio, "ratio", 1);
  say("tf_ms", tf, "ms", repeats, { runs: ms.nothing });
  say("trie_ms", trie, "ms", repeats, { runs: ms.everything });
  say("tf_over_trie", tf / trie, "ratio", repeats, { target: 0.9 * ratio });

  const floor = await plainDecodes(
    model,
    prompts,
    await model.answerTokens(items.map(({ answer }) => answer)),
    repeats,
  );
  say("floor_ms", floor.ms, "ms", repeats, {
    runs: floor.runs,
    decodes: floor.decodes,
    tokens: floor.tokens,
  });
  say("floor_ratio", trie / floor.ms, "ratio", repeats, { target: 1.25 });

  // The whole grid, end to end: prompts, tokens, verification, fallbacks, the limiters' full answers.
  const ends: number[] = [];
  let wrong = new Set<string>();
  for (let i = 0; i < repeats; i++) {
    const { ms: end, value } = await timed(() =>
      zeroErrorHorizon(model, task, { upTo, wholeGrid: true, texts: "limiters", noiseFloor }),
    );
    ends.push(end);
    wrong = new Set(value.errors.map(({ key }) => key));
    if (i === 0) say("horizon", value.horizon, "size", 1, { accuracy: value.accuracy, counts: value.counts });
  }
  say("end_to_end_ms", median(ends), "ms", repeats, { runs: ends });
  if (naive)
    await compareNaive(
      say,
      model,
      items,
      prompts.map(({ text }) => text),
      median(ends),
      wrong,
    );
  await model.close();
}

async function compareNaive(
  say: (metric: string, value: number, unit: string, n?: number, more?: Record<string, unknown>) => void,
  model: Model,
  items: readonly Item[],
  prompts: readonly string[],
  fast: number,
  wrong: ReadonlySet<string>,
): Promise<void> {
  const { path, settings } = model.info;
  const { reader } = multiplication();
  const naive = await naiveDecoding(
    path,
    settings.threads,
    prompts,
    items.map(({ answer }) => answer),
    reader,
  );
  const differ = items.filter(({ key }, i) => naive.cleared.right[i] === wrong.has(key)).length;
  // node-llama-cpp keeps its KV cache in F16, so a close verdict may differ; how many did is part of the answer.
  say("naive_ms", naive.cleared.ms, "ms", 1, { verdictsThatDiffer: differ });
  say("naive_over_trie", naive.cleared.ms / fast, "ratio", 1, {
    target: model.info.parameters < 20e6 ? 6 : 4,
  });
  say("naive_prefix_reuse_ms", naive.reusing.ms, "ms", 1);
  say("naive_prefix_reuse_over_trie", naive.reusing.ms / fast, "ratio", 1);
}
