/** The evaluation: requests to a forest, a forest to chunks, chunks through the model, rows back to the requests. */
import { patternWatches } from "./attention-rows.js";
import type { Context } from "./context.js";
import { type Core, decode } from "./core.js";
import { type Forest, growForest } from "./forest.js";
import { eventsIn, makePlan, type Plan } from "./plan.js";
import { logSumExp, topK } from "./readout.js";
import type {
  Activation,
  EvaluateOptions,
  Evaluation,
  LogitsRead,
  Mode,
  Request,
  Result,
} from "./request.js";
import { createRun, type Run } from "./run.js";
import { type Chunk, cellsNeeded, SPINE, schedule } from "./schedule.js";
import { type PlacedLogits, type PlacedRequest, placeRequests } from "./validate.js";

export async function evaluate(
  core: Core,
  requests: readonly Request[],
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const started = performance.now();
  const placed = placeRequests(core.info, requests, options.captureLimit);
  const allocate = options.allocate ?? ((length) => new Float32Array(length));
  const results = placed.map((request) => makeResult(request, core.model.vocabulary, allocate));
  const groups = groupRequests(core, placed, options.mode ?? "forest");
  // Forests first: they say how many tokens there are to evaluate, which is what progress is counted in.
  const forests = groups.map((group) =>
    growForest(
      group.indices.map((i) => placed[i]!.tokens),
      group.privateFrom,
    ),
  );
  const run = createRun(
    options,
    forests.reduce((sum, forest) => sum + forest.size, 0),
  );
  for (let g = 0; g < groups.length; g++) {
    const { indices } = groups[g]!;
    await evaluateForest(
      core,
      forests[g]!,
      indices.map((i) => placed[i]!),
      indices.map((i) => results[i]!),
      run,
    );
  }
  return {
    results,
    stats: {
      requests: requests.length,
      tokensAsked: placed.reduce((sum, request) => sum + request.tokens.length, 0),
      tokensEvaluated: run.done,
      decodes: run.decodes,
      ms: performance.now() - started,
      ...(core.model.branches
        ? {}
        : { unshared: `${core.info.architecture} keeps a recurrent state, so prefixes cannot be shared` }),
    },
  };
}

interface Group {
  readonly indices: readonly number[];
  readonly privateFrom: (request: number) => number;
}

/** Requests that go into one forest. */
function groupRequests(core: Core, placed: readonly PlacedRequest[], mode: Mode): Group[] {
  const together: number[] = [];
  const groups: Group[] = [];
  placed.forEach((request, i) => {
    if (mode === "alone" || !core.model.branches || request.needsPattern) {
      groups.push({ indices: [i], privateFrom: () => Number.POSITIVE_INFINITY });
    } else together.push(i);
  });
  if (together.length > 0) {
    const privateFrom = mode === "batch" ? () => 0 : (r: number) => placed[together[r]!]!.privateFrom;
    groups.unshift({ indices: together, privateFrom });
  }
  return groups;
}

async function evaluateForest(
  core: Core,
  forest: Forest,
  requests: readonly PlacedRequest[],
  results: readonly Result[],
  run: Run,
): Promise<void> {
  const plan = makePlan(core.info, forest, requests, (r, c) => results[r]!.captures[c]!.data);
  const limits = { tokens: core.info.settings.chunkTokens, outputs: core.maxOutputs };
  const chunks = schedule(forest, limits, (node) => plan.outputs[node] === 1);
  const context = core.context(cellsNeeded(forest, chunks), outputsNeeded(chunks, plan));
  for (const chunk of chunks) {
    fillBatch(context, forest, chunk, plan);
    const watches = plan.watches(chunk.start, chunk.end, context);
    if (requests[0]!.needsPattern) {
      watches.push(
        ...patternWatches(
          core.info,
          requests[0]!,
          chunk.start,
          chunk.end,
          (c) => results[0]!.captures[c]!.data,
        ),
      );
    }
    decode(core, context, watches);
    plan.checkSeen();
    if (context.outputs > 0) readLogits(core, context, plan, chunk, requests, results);
    for (let leaf = 0; leaf < chunk.branch.length && core.model.branches; leaf++)
      context.dropSequence(leaf, 0);
    await run.step(chunk.end - chunk.start);
  }
}

/** Most outputs in one of the chunks. */
function outputsNeeded(chunks: readonly Chunk[], { outputs }: Plan): number {
  const of = ({ start, end }: Chunk) => outputs.subarray(start, end).reduce((sum, one) => sum + one, 0);
  return chunks.reduce((most, chunk) => Math.max(most, of(chunk)), 0);
}

function fillBatch(context: Context, forest: Forest, chunk: Chunk, plan: Plan): void {
  const { start, end, branch, firstLeaf, leaves, keep, onSpine } = chunk;
  // A model that cannot branch has one sequence, alone in the cache: nothing to copy, nothing to drop.
  const spine = context.sequences > 1 ? SPINE : [];
  if (spine.length > 0) {
    for (let leaf = 0; leaf < branch.length; leaf++) {
      if (branch[leaf]! > 0) context.copySequence(SPINE[0], leaf, branch[leaf]!);
    }
    for (const id of spine) context.dropSequence(id, keep);
  }
  context.begin();
  for (let i = 0; i < end - start; i++) {
    const node = start + i;
    context.add(
      forest.token[node]!,
      forest.depth[node]!,
      firstLeaf[i]!,
      leaves[i]!,
      onSpine[i] === 1 ? spine : [],
      plan.outputs[node] === 1,
    );
  }
}

function readLogits(
  core: Core,
  context: Context,
  plan: Plan,
  chunk: Chunk,
  requests: readonly PlacedRequest[],
  results: readonly Result[],
): void {
  const [from, to] = eventsIn(plan.logits, chunk.start, chunk.end);
  if (from === to) return;
  const logits = context.logits();
  const { vocabulary } = core.model;
  for (let e = from; e < to; e++) {
    const { request, index } = plan.logitItems[plan.logits.item[e]!]!;
    const at = context.outputRow[plan.logits.node[e]! - chunk.start]! * vocabulary;
    readRow(
      logits.subarray(at, at + vocabulary),
      requests[request]!.logits!,
      results[request]!.logits!,
      index,
      core.info.name,
    );
  }
}

function readRow(
  row: Float32Array,
  wanted: PlacedLogits,
  read: LogitsRead,
  index: number,
  name: string,
): void {
  if (!topK(row, read.k, read.topIds, read.topLogits, index * read.k)) {
    throw new Error(
      `evaluate: ${name} gave a logit that is not a number; the weights are damaged or an edit was too large`,
    );
  }
  const tokens = wanted.tokens[index]!;
  for (let t = 0; t < tokens.length; t++) read.tokenLogits![index * tokens.length + t] = row[tokens[t]!]!;
  if (wanted.logSumExp) read.logSumExp![index] = logSumExp(row);
  if (wanted.full) read.full!.set(row, index * row.length);
}

/** Where the answers go. */
function makeResult(
  request: PlacedRequest,
  vocabulary: number,
  allocate: (length: number) => Float32Array,
): Result {
  const captures: Activation[] = request.captures.map(({ hook, positions, width }) => ({
    hook,
    positions,
    width,
    data: allocate(positions.length * width),
  }));
  const { logits } = request;
  if (logits === undefined) return { captures };
  const rows = logits.positions.length;
  const tokens = logits.tokens[0]?.length ?? 0;
  return {
    captures,
    logits: {
      positions: logits.positions,
      k: logits.top,
      topIds: new Int32Array(rows * logits.top),
      topLogits: new Float32Array(rows * logits.top),
      ...(tokens > 0 ? { tokenLogits: new Float32Array(rows * tokens) } : {}),
      ...(logits.logSumExp ? { logSumExp: new Float32Array(rows) } : {}),
      ...(logits.full ? { full: allocate(rows * vocabulary) } : {}),
    },
  };
}
