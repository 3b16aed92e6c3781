/**
 * Generation: many sequences at once, their prompts as a forest.
 *
 * Here every request keeps a sequence id of its own from its prompt to its last token, so a group is as large as there
 * are ids and as the KV cache may be. A node of the prompts' forest belongs to the requests below it, which are
 * consecutive once the requests are in the order of their last nodes.
 */

import { type Random, random } from "../stats/random.js";
import { tensorsFor } from "./architectures.js";
import type { Context } from "./context.js";
import { type Core, decode } from "./core.js";
import { editRow } from "./edit-rows.js";
import { type Forest, growForest } from "./forest.js";
import { groupsOf } from "./generation-groups.js";
import { hookName } from "./hooks.js";
import { eventsIn, makePlan } from "./plan.js";
import type {
  Edit,
  GenerateOptions,
  Generation,
  GenerationBatch,
  GenerationRequest,
  StopReason,
} from "./request.js";
import { createRun, type Run } from "./run.js";
import { type Choice, choose } from "./sample.js";
import type { Watch } from "./tap.js";
import { type PlacedRequest, placeRequest } from "./validate.js";

interface Sequence {
  readonly index: number;
  readonly placed: PlacedRequest;
  readonly draw: Random;
  readonly tokens: number[];
  readonly margins: number[];
  /** The text before a stop string, where one was met. */
  cut?: string;
  stop?: StopReason;
  endToken?: number;
}

interface Settings {
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly stopTokens: ReadonlySet<number>;
  readonly stopStrings: readonly string[];
}

export async function generate(
  core: Core,
  requests: readonly GenerationRequest[],
  options: GenerateOptions = {},
): Promise<GenerationBatch> {
  const started = performance.now();
  const settings = checkSettings(core, options);
  const sequences: Sequence[] = requests.map(({ tokens, edits }, index) => ({
    index,
    placed: placeForGeneration(core, { tokens, edits: edits ?? [] }, index),
    draw: random(options.seed ?? 0, "generate", index),
    tokens: [],
    margins: [],
  }));
  const run = createRun(
    options,
    sequences.reduce((sum, { placed }) => sum + placed.tokens.length, 0),
    "generating",
  );
  const unshared = options.mode === "batch";
  const alone = options.mode === "alone" || !core.model.branches;
  for (const group of alone
    ? sequences.map((one) => [one])
    : groupsOf(core.info, sequences, settings.maxTokens, unshared)) {
    await generateGroup(core, group, settings, run, unshared);
  }
  return {
    generations: sequences.map((sequence) => toGeneration(core, sequence)),
    stats: {
      requests: requests.length,
      tokensAsked: sequences.reduce(
        (sum, { placed, tokens }) => sum + placed.tokens.length + tokens.length,
        0,
      ),
      tokensEvaluated: run.done,
      decodes: run.decodes,
      ms: performance.now() - started,
    },
  };
}

function checkSettings(core: Core, options: GenerateOptions): Settings {
  const { maxTokens = 256, temperature = 0, topK = 0, topP = 1, stopTokens = [], stopStrings = [] } = options;
  const refuse = (name: string, value: unknown, expected: string) => {
    throw new Error(`generate: ${name} is ${String(value)}; expected ${expected}`);
  };
  if (!Number.isInteger(maxTokens) || maxTokens < 1) refuse("maxTokens", maxTokens, "a whole number from 1");
  if (!(temperature >= 0 && temperature < 1e3)) refuse("temperature", temperature, "a number from 0");
  if (!Number.isInteger(topK) || topK < 0) refuse("topK", topK, "a whole number from 0 (all)");
  if (!(topP > 0 && topP <= 1)) refuse("topP", topP, "a number above 0 and up to 1");
  if (stopStrings.includes("")) refuse("stopStrings", "an empty string", "strings of at least one character");
  return {
    maxTokens,
    temperature,
    topK,
    topP,
    stopStrings,
    stopTokens: new Set([...core.model.endTokens, ...stopTokens]),
  };
}

function placeForGeneration(core: Core, request: GenerationRequest, index: number): PlacedRequest {
  const where = `generate, request ${index}`;
  const placed = placeRequest(core.info, { ...request, logits: { positions: [-1] } }, where);
  if (placed.needsPattern) throw new Error(`${where}: attention weights cannot be changed while generating`);
  return placed;
}

async function generateGroup(
  core: Core,
  group: Sequence[],
  settings: Settings,
  run: Run,
  unshared: boolean,
): Promise<void> {
  const forest = growForest(
    group.map(({ placed }) => placed.tokens),
    (r) => (unshared ? 0 : group[r]!.placed.privateFrom),
  );
  const room = Math.min(settings.maxTokens, core.info.context);
  const context = core.context(forest.size + group.length * room);
  // Sequence ids follow the order of the last nodes, so that the ids below any node are consecutive.
  const byEnd = group.map((_, r) => r).sort((a, b) => forest.end[a]! - forest.end[b]!);
  const idOf = new Int32Array(group.length);
  byEnd.forEach((r, id) => {
    idOf[r] = id;
  });
  await readPrompts(core, context, forest, group, idOf, settings, run);
  await readOn(core, context, group, idOf, settings, run);
}

/** Evaluates the prompts and chooses every sequence's first token. */
async function readPrompts(
  core: Core,
  context: Context,
  forest: Forest,
  group: readonly Sequence[],
  idOf: Int32Array,
  settings: Settings,
  run: Run,
): Promise<void> {
  const plan = makePlan(
    core.info,
    forest,
    group.map(({ placed }) => placed),
    () => new Float32Array(0),
  );
  const first = new Int32Array(forest.size).fill(group.length);
  const count = new Int32Array(forest.size);
  group.forEach((_, r) => {
    for (let node = forest.end[r]!; node !== -1; node = forest.parent[node]!) {
      first[node] = Math.min(first[node]!, idOf[r]!);
      count[node] = count[node]! + 1;
    }
  });
  const { vocabulary } = core.model;
  for (let start = 0; start < forest.size; ) {
    context.begin();
    let node = start;
    while (node < forest.size && context.size < core.info.settings.chunkTokens) {
      const output = plan.outputs[node] === 1;
      if (output && context.outputs >= core.maxOutputs) break;
      context.add(forest.token[node]!, forest.depth[node]!, first[node]!, count[node]!, [], output);
      node++;
    }
    decode(core, context, plan.watches(start, node, context));
    plan.checkSeen();
    const [from, to] = eventsIn(plan.logits, start, node);
    if (from < to) {
      const logits = context.logits();
      for (let e = from; e < to; e++) {
        const sequence = group[plan.logitItems[plan.logits.item[e]!]!.request]!;
        const row = context.outputRow[plan.logits.node[e]! - start]! * vocabulary;
        accept(core, sequence, logits.subarray(row, row + vocabulary), settings);
      }
    }
    await run.step(node - start);
    start = node;
  }
}

/** One token of every unfinished sequence a round, until all are finished. */
async function readOn(
  core: Core,
  context: Context,
  group: readonly Sequence[],
  idOf: Int32Array,
  settings: Settings,
  run: Run,
): Promise<void> {
  const { vocabulary } = core.model;
  const most = Math.min(core.info.settings.chunkTokens, core.maxOutputs);
  for (;;) {
    const active = group
      .map((sequence, r) => ({ sequence, id: idOf[r]! }))
      .filter(({ sequence }) => sequence.stop === undefined);
    if (active.length === 0) return;
    for (let from = 0; from < active.length; from += most) {
      const part = active.slice(from, from + most);
      context.begin();
      for (const { sequence, id } of part) {
        const position = sequence.placed.tokens.length + sequence.tokens.length - 1;
        context.add(sequence.tokens.at(-1)!, position, id, 1, [], true);
      }
      decode(
        core,
        context,
        stepWatches(
          core,
          part.map(({ sequence }) => sequence),
        ),
      );
      const logits = context.logits();
      part.forEach(({ sequence }, i) => {
        accept(core, sequence, logits.subarray(i * vocabulary, (i + 1) * vocabulary), settings);
      });
      await run.step(part.length);
    }
  }
}

/** Edits that stay on while generating: row i of every tensor is the new token of sequence i. */
function stepWatches(core: Core, part: readonly Sequence[]): Watch[] {
  const byHook = new Map<string, { edit: Edit; row: number }[]>();
  part.forEach(({ placed }, row) => {
    for (const { edit } of placed.edits) {
      if (edit.generated !== true) continue;
      const name = hookName(edit.hook);
      const list = byHook.get(name);
      if (list === undefined) byHook.set(name, [{ edit, row }]);
      else list.push({ edit, row });
    }
  });
  return [...byHook.values()].map((items) => ({
    tensors: tensorsFor(core.info.architecture, items[0]!.edit.hook, core.info.layers),
    onTensor(tensor) {
      const width = tensor.elements / part.length;
      const values = new Float32Array(width);
      for (const { edit, row } of items) {
        tensor.read(values, row * width, width);
        if (edit.op.type === "custom") {
          const { placed, tokens } = part[row]!;
          edit.op.apply(values, Int32Array.of(placed.tokens.length + tokens.length - 1));
        } else if (edit.op.type !== "knockout") editRow(edit.op, values, 0);
        tensor.write(values, row * width, width);
      }
    },
  }));
}

/** Chooses a sequence's next token and says whether it was the last. */
function accept(core: Core, sequence: Sequence, row: Float32Array, settings: Settings): void {
  const choice: Choice | undefined = choose(row, settings, () => sequence.draw.uniform());
  if (choice === undefined) {
    throw new Error(
      `generate: ${core.info.name} gave a logit that is not a number; the weights are damaged or an edit was too large`,
    );
  }
  sequence.margins.push(choice.margin);
  if (settings.stopTokens.has(choice.token)) {
    sequence.stop = core.model.endTokens.includes(choice.token) ? "end" : "stopToken";
    sequence.endToken = choice.token;
  } else sequence.tokens.push(choice.token);
  if (sequence.stop !== undefined) return;
  if (hitsStopString(core, sequence, settings.stopStrings)) sequence.stop = "stopString";
  else if (sequence.tokens.length >= settings.maxTokens) sequence.stop = "length";
  else if (sequence.placed.tokens.length + sequence.tokens.length >= core.info.context)
    sequence.stop = "context";
}

/** Looks for a stop string in the text so far; cuts the text before the first one. */
function hitsStopString(core: Core, sequence: Sequence, stopStrings: readonly string[]): boolean {
  if (stopStrings.length === 0) return false;
  const text = core.model.detokenize(Int32Array.from(sequence.tokens), false);
  const found = stopStrings.map((stop) => text.indexOf(stop)).filter((at) => at !== -1);
  if (found.length === 0) return false;
  sequence.cut = text.slice(0, Math.min(...found));
  return true;
}

function toGeneration(core: Core, sequence: Sequence): Generation {
  const tokens = Int32Array.from(sequence.tokens);
  return {
    tokens,
    text: sequence.cut ?? core.model.detokenize(tokens, false),
    stop: sequence.stop ?? "length",
    margins: Float32Array.from(sequence.margins),
    ...(sequence.endToken === undefined ? {} : { endToken: sequence.endToken }),
  };
}
