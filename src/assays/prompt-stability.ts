/** How much a horizon depends on the prompt, and whether limiters fail under other prompts (first paper, Table 1, 2.2.3). */
import type { Endpoint } from "../endpoints/endpoint.js";
import type { Model } from "../model/model.js";
import { itemsOf, type Task, templateOf } from "../tasks/task.js";
import type { Template } from "../tasks/template.js";
import type { HorizonResult } from "./horizon-result.js";
import type { Checker } from "./horizon-search.js";
import type { Check } from "./verification/check.js";
import { createChecker, type HorizonOptions, zeroErrorHorizon } from "./zero-error-horizon.js";

/** The horizon under one template. */
export interface StabilityRow {
  readonly template: string;
  readonly horizon: number;
  /** False: a lower bound. */
  readonly reached: boolean;
  /** Keys of the limiters. */
  readonly limiters: readonly string[];
}

/** Horizons over templates (first paper, Table 1). */
export interface Stability {
  readonly rows: readonly StabilityRow[];
  readonly mean: number;
  /** Sample standard deviation (n - 1), as the paper's; NaN for one template. */
  readonly sd: number;
  /** The smallest horizon: what a careful user would trust. */
  readonly minimum: number;
  readonly results: readonly HorizonResult[];
}

/** Mean, sample standard deviation and minimum of horizons. */
export function summariseHorizons(horizons: readonly number[]): {
  mean: number;
  sd: number;
  minimum: number;
} {
  if (horizons.length === 0) throw new Error("summariseHorizons: no horizons; expected at least one");
  const mean = horizons.reduce((sum, h) => sum + h, 0) / horizons.length;
  const squares = horizons.reduce((sum, h) => sum + (h - mean) ** 2, 0);
  const sd = horizons.length === 1 ? Number.NaN : Math.sqrt(squares / (horizons.length - 1));
  return { mean, sd, minimum: Math.min(...horizons) };
}

/**
 * The horizon under each template.
 *
 * @param options.templates default: all of the task's (for multiplication the paper's five)
 */
export async function promptStability<I>(
  subject: Model | Endpoint,
  task: Task<I>,
  options: Omit<HorizonOptions, "template"> & { readonly templates?: readonly (string | Template)[] } = {},
): Promise<Stability> {
  const { templates = task.templates, ...rest } = options;
  if (templates.length === 0)
    throw new Error(`promptStability: no templates; ${task.name} needs at least one`);
  const results: HorizonResult[] = [];
  for (const template of templates)
    results.push(await zeroErrorHorizon(subject, task, { ...rest, template }));
  return {
    rows: results.map(({ template, horizon, reached, limiters }) => ({
      template: template.name,
      horizon,
      reached,
      limiters: limiters.map(({ key }) => key),
    })),
    ...summariseHorizons(results.map(({ horizon }) => horizon)),
    results,
  };
}

/** A limiter of one template, asked under another. */
export interface TransferRow {
  /** The limiter, and the template it was found under. */
  readonly key: string;
  readonly from: string;
  /** The template it was asked under. */
  readonly under: string;
  readonly right: boolean;
  /** What the model wrote, where it was wrong. Untrusted text. */
  readonly text?: string;
}

/**
 * Asks every limiter of every result under all the other templates: a limiter that fails everywhere is a weakness of the
 * model, one that fails under a single template is an accident of the prompt.
 *
 * @param results of one task, for example `Stability.results`
 */
export async function limiterTransfer<I>(
  subject: Model | Endpoint,
  task: Task<I>,
  results: readonly Pick<HorizonResult, "template" | "limiters">[],
  options: Omit<HorizonOptions, "template" | "log" | "shard"> = {},
): Promise<TransferRow[]> {
  const { checker } = await createChecker(subject, task, options);
  const rows: TransferRow[] = [];
  for (const { template: under } of results) {
    for (const { template: from, limiters } of results) {
      if (from.name === under.name || limiters.length === 0) continue;
      const keys = new Set(limiters.map(({ key }) => key));
      const items = itemsOf(task, limiters[0]!.size, templateOf(task, under)).filter(({ key }) =>
        keys.has(key),
      );
      const checks = await withAnswers(checker, items);
      items.forEach(({ key }, i) => {
        const { verdict, text } = checks[i]!;
        const right = verdict === "right";
        rows.push({
          key,
          from: from.name,
          under: under.name,
          right,
          ...(right || text === undefined ? {} : { text }),
        });
      });
    }
  }
  return rows;
}

async function withAnswers(checker: Checker, items: Parameters<Checker["check"]>[0]): Promise<Check[]> {
  const checks = (await checker.check(items)) as Check[]; // no shard: all of them
  const wrong = items.filter((_, i) => checks[i]!.verdict === "wrong");
  if (wrong.length === 0) return checks;
  const texts = await checker.complete(
    wrong,
    checks.filter(({ verdict }) => verdict === "wrong"),
  );
  return checks.map((check) => (check.verdict === "wrong" ? texts.shift()! : check));
}
