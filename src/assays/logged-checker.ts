/**
 * Verification behind a run log, in fixed blocks.
 *
 * The instances of a task have an order; each block of it is verified by itself. A block has the same shape in every run, so its
 * margins are the same to the last digit whatever was found in a log before and whichever machine of a cluster computes it.
 */
import { isEndpoint } from "../endpoints/endpoint.js";
import { modelIdentity } from "../model/identity.js";
import { contentKey } from "../store/content-key.js";
import type { Json } from "../store/provenance.js";
import { type RunLog, trialKey } from "../store/run-log.js";
import { ownsUnit, type Shard } from "../store/shard.js";
import type { Item, Task } from "../tasks/task.js";
import type { Template } from "../tasks/template.js";
import type { HorizonOptions, Subject } from "./horizon-options.js";
import type { Checker } from "./horizon-search.js";
import type { Check } from "./verification/check.js";

/** Instances a block, of a model: sharing prefixes within blocks only costs about 6 % more tokens. */
const MODEL_BLOCK = 128;
/** Of a server: what a failure at the wrong moment costs. */
const SERVER_BLOCK = 16;

export interface CheckerLog {
  readonly log: RunLog;
  readonly shard?: Shard;
  /** What was asked of whom, apart from the instance: see `horizonContent`. */
  readonly content: Json;
  readonly server: boolean;
}

/** Everything that decides the verdict on an instance, but the instance. */
export function horizonContent<I>(
  subject: Subject,
  task: Task<I>,
  template: Template,
  options: HorizonOptions,
): Json {
  const { mode = "trie", maxTokens = 64, noiseFloor = null, repeats = 1 } = options;
  const asked = {
    assay: "zero-error-horizon",
    task: task.name,
    reader: task.reader.name,
    template: { system: template.system ?? null, user: template.user },
  };
  if (!isEndpoint(subject)) return { ...asked, model: modelIdentity(subject), mode, maxTokens, noiseFloor };
  const { url, model, api, settings } = subject;
  return { ...asked, server: { url, model, api, settings: JSON.parse(JSON.stringify(settings)) }, repeats };
}

/** A verdict as it stands in a log, with what it is about. */
export interface HorizonTrial {
  /** `verdict`, or `answer`: the same with what the model wrote, decoded once the verdict was known to matter. */
  readonly stage: "verdict" | "answer";
  readonly task: string;
  readonly instance: string;
  readonly size: number;
  readonly prompt: { readonly system: string | null; readonly user: string };
  readonly expected: string;
  readonly verdict: Check["verdict"];
  /** A number, or "NaN" and the like, which JSON has no numbers for. */
  readonly margin: number | string;
  readonly by: Check["by"];
  readonly text?: string;
  readonly unfinished?: boolean;
  readonly rightOf?: readonly [number, number];
}

/** The same checker, asking only for what the log does not have, and only for the shard's own blocks. */
export function loggedChecker(
  checker: Checker,
  { log, shard, content, server }: CheckerLog,
  task: string,
): Checker {
  const size = server ? SERVER_BLOCK : MODEL_BLOCK;
  const asked = contentKey(content);
  const keyOf = ({ fields, answer }: Item, stage: HorizonTrial["stage"]) =>
    trialKey({ asked, fields, answer, stage });

  /** Runs `compute` on the items of each block that is one's own; the others stay undefined. */
  const inBlocks = async (
    items: readonly Item[],
    ordinals: readonly number[] = items.map((_, i) => i),
    stage: HorizonTrial["stage"],
    compute: (indices: readonly number[]) => Promise<readonly (Check | undefined)[]>,
  ): Promise<(Check | undefined)[]> => {
    const checks = new Array<Check | undefined>(items.length).fill(undefined);
    for (const [unit, indices] of blocksOf(ordinals, size)) {
      if (!ownsUnit(shard, unit)) continue;
      const { trials } = await log.batch<HorizonTrial & Json>({
        keys: indices.map((i) => keyOf(items[i]!, stage)),
        repeatable: !server,
        async compute(wanted) {
          const found = await compute(wanted.map((n) => indices[n]!));
          return wanted.map((n, k) => trialOf(items[indices[n]!]!, found[k]!, stage, task) as never);
        },
      });
      indices.forEach((i, n) => {
        checks[i] = checkOf(trials[n]!);
      });
    }
    return checks;
  };

  return {
    lookAhead: checker.lookAhead,
    check: (items, ordinals) =>
      inBlocks(items, ordinals, "verdict", (indices) => checker.check(indices.map((i) => items[i]!))),
    async complete(items, checks, ordinals) {
      if (server) return [...checks]; // it wrote all there is
      const full = await inBlocks(items, ordinals, "answer", (indices) =>
        checker.complete(
          indices.map((i) => items[i]!),
          indices.map((i) => checks[i]!),
        ),
      );
      return full.map((check, i) => check ?? checks[i]!);
    },
  };
}

function blocksOf(ordinals: readonly number[], size: number): Map<number, number[]> {
  const blocks = new Map<number, number[]>();
  ordinals.forEach((ordinal, i) => {
    const unit = Math.floor(ordinal / size);
    const block = blocks.get(unit);
    if (block === undefined) blocks.set(unit, [i]);
    else block.push(i);
  });
  return blocks;
}

function trialOf(item: Item, check: Check, stage: HorizonTrial["stage"], task: string): HorizonTrial {
  const { verdict, margin, by, text, unfinished, rightOf } = check;
  return {
    stage,
    task,
    instance: item.key,
    size: item.size,
    prompt: { system: item.prompt.system ?? null, user: item.prompt.user },
    expected: item.answer,
    verdict,
    margin: Number.isFinite(margin) ? margin : String(margin),
    by,
    ...(text === undefined ? {} : { text }),
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(rightOf === undefined ? {} : { rightOf }),
  };
}

function checkOf({ verdict, margin, by, text, unfinished, rightOf }: HorizonTrial): Check {
  return {
    verdict,
    margin: Number(margin),
    by,
    ...(text === undefined ? {} : { text }),
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(rightOf === undefined ? {} : { rightOf }),
  };
}
