/**
 * What the Zero-Error Horizon costs (first paper, Tables 7 and 8): the trie against teacher forcing in batches, against
 * plain decodes of the same shape, and against naive greedy decoding through node-llama-cpp's own API.
 *
 * `npm run bench -- zeh [--models tally-1m6,smollm2-135m-instruct] [--up-to N] [--repeats N] [--no-naive]`
 */
import { parseArgs } from "node:util";
import { prepare } from "../../src/assays/verification/prepare.js";
import { forcedRequest } from "../../src/assays/verification/verify.js";
import { zeroErrorHorizon } from "../../src/assays/zero-error-horizon.js";
import type { Model } from "../../src/model/model.js";
import { marginFloor } from "../../src/model/noise-floor.js";
import { open } from "../../src/model/open.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { type Item, itemsOf } from "../../src/tasks/task.js";
import type { Line } from "./line.js";
import { middle, type Taken, take } from "./taken.js";
import { plainDecodes } from "./zeh-floor.js";
import { naiveDecoding } from "./zeh-naive.js";

export const name = "zeh";

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
  const prepared = await prepare(model, items, new AbortController().signal);
  const requests = prepared.map((one) => forcedRequest(one, Math.max(0, model.info.eot)));

  // Verification alone (Table 7): the same requests in the same batches, with and without sharing.
  const batch: Taken[] = [];
  const forest: Taken[] = [];
  const tokens = { batch: 0, forest: 0 };
  for (let i = 0; i < repeats; i++) {
    for (const [mode, taken] of [
      ["forest", forest],
      ["batch", batch],
    ] as const) {
      const { value, ...time } = await take(() => model.evaluate(requests, { mode }));
      taken.push(time);
      tokens[mode] = value.stats.tokensEvaluated;
    }
  }
  const [tf, trie] = [middle(batch), middle(forest)];
  const ratio = tokens.batch / tokens.forest;
  say("tf_tokens", tokens.batch, "tokens", 1);
  say("trie_tokens", tokens.forest, "tokens", 1);
  say("token_ratio", ratio, "ratio", 1);
  say("tf_ms", tf.ms, "ms", repeats, { cpuMs: tf.cpuMs });
  say("trie_ms", trie.ms, "ms", repeats, { cpuMs: trie.cpuMs });
  say("tf_over_trie", tf.ms / trie.ms, "ratio", repeats, { cpu: tf.cpuMs / trie.cpuMs, target: 0.9 * ratio });

  const plain = await plainDecodes(model, prepared, repeats);
  const floor = middle(plain.runs);
  say("floor_ms", floor.ms, "ms", repeats, {
    cpuMs: floor.cpuMs,
    decodes: plain.decodes,
    tokens: plain.tokens,
  });
  say("floor_ratio", trie.ms / floor.ms, "ratio", repeats, { cpu: trie.cpuMs / floor.cpuMs, target: 1.25 });

  // The whole grid, end to end: prompts, tokens, verification, fallbacks, the limiters' full answers.
  const ends: Taken[] = [];
  let wrong = new Set<string>();
  for (let i = 0; i < repeats; i++) {
    const { value, ...time } = await take(() =>
      zeroErrorHorizon(model, task, { upTo, wholeGrid: true, texts: "limiters", noiseFloor }),
    );
    ends.push(time);
    wrong = new Set(value.errors.map(({ key }) => key));
    if (i === 0) say("horizon", value.horizon, "size", 1, { accuracy: value.accuracy, counts: value.counts });
  }
  const end = middle(ends);
  say("end_to_end_ms", end.ms, "ms", repeats, { cpuMs: end.cpuMs });
  if (naive)
    await compareNaive(
      say,
      model,
      items,
      prompts.map(({ text }) => text),
      end,
      wrong,
    );
  await model.close();
}

async function compareNaive(
  say: (metric: string, value: number, unit: string, n?: number, more?: Record<string, unknown>) => void,
  model: Model,
  items: readonly Item[],
  prompts: readonly string[],
  fast: Taken,
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
  const { cleared, reusing, whole } = naive;
  // node-llama-cpp keeps its KV cache in F16, so a close verdict may differ; how many did is part of the answer.
  say("naive_ms", whole.ms, "ms", 1, { cpuMs: whole.cpuMs });
  const target = model.info.parameters < 20e6 ? 6 : 4;
  say("naive_over_trie", whole.ms / fast.ms, "ratio", 1, { cpu: whole.cpuMs / fast.cpuMs, target });
  say("naive_settled_ms", cleared.ms, "ms", 1, { cpuMs: cleared.cpuMs, verdictsThatDiffer: differ });
  say("naive_settled_over_trie", cleared.ms / fast.ms, "ratio", 1, { cpu: cleared.cpuMs / fast.cpuMs });
  say("naive_prefix_reuse_ms", reusing.ms, "ms", 1, { cpuMs: reusing.cpuMs });
  say("naive_prefix_reuse_over_trie", reusing.ms / fast.ms, "ratio", 1, { cpu: reusing.cpuMs / fast.cpuMs });
}
