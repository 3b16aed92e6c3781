/** Zero-Error Horizon: the largest size up to which a model makes no mistake at all (first paper, section 2). */
import { isEndpoint } from "../endpoints/endpoint.js";
import { defaultSignal } from "../model/interrupt.js";
import { marginFloor } from "../model/noise-floor.js";
import { provenance } from "../store/provenance.js";
import { openRunLog } from "../store/run-log.js";
import { checkShard, type Shard, shardNote } from "../store/shard.js";
import { checkSize, type Item, type Task, templateOf } from "../tasks/task.js";
import type { Template } from "../tasks/template.js";
import { askCommands } from "./ask-commands.js";
import type { HorizonOptions, Subject } from "./horizon-options.js";
import type { HorizonResult, InstanceRow, SizeRow, WrongAnswer } from "./horizon-result.js";
import {
  type Checked,
  type Checker,
  type Found,
  type SearchOptions,
  searchHorizon,
} from "./horizon-search.js";
import { horizonContent, loggedChecker } from "./logged-checker.js";
import { NO_COUNTS } from "./verification/check.js";
import { createEndpointChecker } from "./verification/endpoint-checker.js";
import { modeSteps } from "./verification/modes.js";
import { createVerifier, type Verifier } from "./verification/verify.js";

export type { HorizonOptions, Subject } from "./horizon-options.js";
export { type HorizonPlan, type PlanOptions, planHorizon } from "./horizon-plan.js";
export { VERIFICATION_MODES, type VerificationMode } from "./verification/modes.js";

/**
 * The horizon of a model or a server for a task, with every limiter.
 *
 * Sizes 1, 2, ... are verified exhaustively, greedily and in the task's order, until one has an error. What a right answer is
 * decides the task's reader; teacher forcing and the trie only decide how fast it is found. Where a margin is below the
 * noise floor, the canonical evaluation (alone, greedy) has the last word. An aborted run throws and gives no number.
 *
 * With a `log`, finished instances are found again, and instances are verified in blocks of 128 (of a server: 16), each by
 * itself: about 6 % more tokens, for margins that do not depend on what was found. `counts` are those of new instances.
 *
 * @example const result = await zeroErrorHorizon(model, multiplication(), { upTo: 99, wholeGrid: true });
 */
export async function zeroErrorHorizon<I>(
  subject: Subject,
  task: Task<I>,
  options: HorizonOptions = {},
): Promise<HorizonResult> {
  const { upTo = 99, wholeGrid = false, mostInstances = 100_000 } = options;
  checkSize("zeroErrorHorizon: upTo", upTo);
  if (!(mostInstances >= 1))
    throw new Error(`zeroErrorHorizon: mostInstances ${mostInstances}; expected 1 or more`);
  checkShard("zeroErrorHorizon", options.shard, options.log);
  const template = templateOf(task, options.template);
  const signal = options.signal ?? defaultSignal();
  const search: SearchOptions = {
    template,
    upTo,
    wholeGrid,
    texts: options.texts ?? (wholeGrid ? "errors" : "limiters"),
    mostInstances,
    signal,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  };
  const { checker, finish } = await createChecker(subject, task, options);
  const found = await searchWithLog(subject, task, checker, search, options);
  const how = finish(template, found.checked.length);
  return { ...summarise({ task, template }, found, how.commands, options.shard), ...how.report };
}

async function searchWithLog<I>(
  subject: Subject,
  task: Task<I>,
  checker: Checker,
  search: SearchOptions,
  options: HorizonOptions,
): Promise<Found> {
  const { log: where, shard } = options;
  if (where === undefined) return searchHorizon(task, checker, search);
  const log = typeof where === "string" ? await openRunLog(where) : where;
  try {
    const content = horizonContent(subject, task, search.template, options);
    const about = { log, content, server: isEndpoint(subject), ...(shard === undefined ? {} : { shard }) };
    return await searchHorizon(task, loggedChecker(checker, about, task.name), search);
  } finally {
    if (typeof where === "string") await log.close();
  }
}

/** What says right or wrong for one subject, and reports on itself at the end. */
export interface OpenChecker {
  readonly checker: Checker;
  /** What the result says about how it was found. */
  finish(
    template: Template,
    instances: number,
  ): {
    /** Command lines that ask an instance again. */
    readonly commands: (item: Item) => Readonly<Record<string, string>>;
    readonly report: Pick<
      HorizonResult,
      "mode" | "counts" | "unshared" | "noiseFloor" | "endpoint" | "provenance"
    >;
  };
}

/** What says right or wrong for a subject. Measures the noise floor of a model where none is given. */
export async function createChecker<I>(
  subject: Subject,
  task: Task<I>,
  options: HorizonOptions,
): Promise<OpenChecker> {
  const { mode = "trie", maxTokens = 64, repeats = 1 } = options;
  const signal = options.signal ?? defaultSignal();
  const { reader } = task;
  const notes = { assay: "zero-error-horizon", task: task.name, reader: reader.name };
  if (isEndpoint(subject)) {
    const checker = createEndpointChecker(subject, reader, { repeats, signal });
    const { url, model, api, settings } = subject;
    return {
      checker,
      finish: (template, instances) => ({
        commands: ({ prompt }) => ({ curl: subject.curl(prompt) }),
        report: {
          mode: "endpoint",
          counts: { ...NO_COUNTS, instances },
          noiseFloor: 0,
          endpoint: checker.report(),
          provenance: provenance({
            promptTemplate: JSON.stringify(template),
            notes: { ...notes, url, model, api, settings: JSON.stringify(settings), repeats },
          }),
        },
      }),
    };
  }
  const steps = modeSteps(mode);
  const noiseFloor = options.noiseFloor ?? (await marginFloor(subject, { signal }));
  const { onProgress } = options;
  const verifier = createVerifier(subject, {
    steps,
    reader,
    noiseFloor,
    maxTokens,
    signal,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  const { path } = subject.info;
  return {
    checker: { lookAhead: steps.lookAhead, check: verifier.verify, complete: verifier.complete },
    finish: (template) => ({
      commands: ({ prompt }) => ({ ...askCommands(path, path, prompt, maxTokens) }),
      report: {
        mode,
        counts: verifier.counts(),
        ...unsharedOf(verifier),
        noiseFloor,
        provenance: provenance({
          model: subject,
          promptTemplate: JSON.stringify(template),
          notes: { ...notes, mode, noiseFloor, maxTokens },
        }),
      },
    }),
  };
}

function unsharedOf(verifier: Verifier): { unshared?: string } {
  const unshared = verifier.unshared();
  return unshared === undefined ? {} : { unshared };
}

interface About<I> {
  readonly task: Task<I>;
  readonly template: Template;
}

type Summary = Omit<HorizonResult, "mode" | "counts" | "unshared" | "noiseFloor" | "provenance" | "endpoint">;

function summarise<I>(
  { task, template }: About<I>,
  found: Found,
  commands: (item: Item) => Readonly<Record<string, string>>,
  shard: Shard | undefined,
): Summary {
  const { checked, failing, last } = found;
  const stopped = shard === undefined ? found.stopped : shardNote(shard);
  if (checked.length === 0 && shard === undefined)
    throw new Error(`zeroErrorHorizon: nothing was verified: ${stopped ?? "no sizes"}`);
  const wrong = checked.filter(({ check }) => check.verdict === "wrong");
  const errors = wrong.map((one): WrongAnswer => {
    const error = wrongAnswer(task, one);
    return one.item.size === failing ? { ...error, commands: commands(one.item) } : error;
  });
  return {
    assay: "zero-error-horizon",
    task: task.name,
    order: task.order,
    template,
    reader: task.reader.name,
    horizon: shard !== undefined ? Number.NaN : failing === undefined ? last : failing - 1,
    reached: failing !== undefined && shard === undefined,
    ...(stopped === undefined ? {} : { stopped }),
    limiters: errors.filter(({ size }) => size === failing),
    errors,
    sizes: sizeRows(checked),
    instances: checked.map(
      ({ item, check }): InstanceRow => ({
        key: item.key,
        size: item.size,
        right: check.verdict === "right",
        margin: check.margin,
        by: check.by,
      }),
    ),
    accuracy: 1 - wrong.length / checked.length,
  };
}

function wrongAnswer<I>(task: Task<I>, { item, check }: Checked): WrongAnswer {
  const { text, unfinished, margin, by, rightOf } = check;
  return {
    key: item.key,
    fields: item.fields,
    size: item.size,
    expected: item.answer,
    ...(text === undefined ? {} : { text, read: task.reader.parse(text) ?? null }),
    ...(unfinished === undefined ? {} : { unfinished }),
    margin,
    by,
    ...(rightOf === undefined ? {} : { rightOf }),
  };
}

function sizeRows(checked: readonly Checked[]): SizeRow[] {
  const rows = new Map<number, { size: number; instances: number; wrong: number; margin: number }>();
  for (const { item, check } of checked) {
    const row = rows.get(item.size) ?? { size: item.size, instances: 0, wrong: 0, margin: Number.NaN };
    rows.set(item.size, row);
    row.instances++;
    if (check.verdict === "wrong") row.wrong++;
    else if (!(check.margin >= row.margin)) row.margin = check.margin;
  }
  return [...rows.values()];
}
