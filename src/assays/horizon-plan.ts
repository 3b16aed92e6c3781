/** What a run would ask, before it asks anything. */
import { costOf, type Prices } from "../endpoints/usage.js";
import { checkSize, itemsOf, type Task, templateOf } from "../tasks/task.js";
import type { Template } from "../tasks/template.js";

/** Template, repeats and prices of a plan. */
export interface PlanOptions {
  readonly template?: string | Template;
  /** Default 1. */
  readonly repeats?: number;
  /** Prices of the endpoint, for an estimate of the cost. */
  readonly prices?: Prices;
  /** Tokens awaited for an answer, reasoning included. Default 8. */
  readonly answerTokens?: number;
}

/** What a horizon would ask of a server, by the size at which it is found. */
export interface HorizonPlan {
  /** Cumulated: what a horizon found at this size will have asked. */
  readonly sizes: readonly {
    readonly size: number;
    readonly instances: number;
    readonly requests: number;
    readonly cost?: number;
  }[];
  /** If no size up to the last has an error. */
  readonly requests: number;
  /** Estimates: four characters a token, and 12 tokens a prompt for the chat format. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In the currency of the prices. */
  readonly cost?: number;
}

/**
 * A dry run: how many requests a server will get for sizes 1 to `upTo`. A run asks all instances of a size before it
 * decides, so it ends after the requests of its failing size; retries come on top.
 */
export function planHorizon<I>(task: Task<I>, upTo: number, options: PlanOptions = {}): HorizonPlan {
  checkSize("planHorizon: upTo", upTo);
  const { repeats = 1, answerTokens = 8, prices } = options;
  const template = templateOf(task, options.template);
  let requests = 0;
  let inputTokens = 0;
  const sizes = [];
  for (let size = 1; size <= upTo; size++) {
    const items = itemsOf(task, size, template);
    requests += items.length * repeats;
    for (const { prompt } of items) {
      inputTokens += repeats * (12 + Math.ceil(((prompt.system ?? "").length + prompt.user.length) / 4));
    }
    const cost = prices === undefined ? {} : { cost: costOf(inputTokens, requests * answerTokens, prices) };
    sizes.push({ size, instances: items.length, requests, ...cost });
  }
  const outputTokens = requests * answerTokens;
  return {
    sizes,
    requests,
    inputTokens,
    outputTokens,
    ...(prices === undefined ? {} : { cost: costOf(inputTokens, outputTokens, prices) }),
  };
}
