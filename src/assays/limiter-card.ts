/** From a horizon to its limiter card: the evidence anyone can check, as one page. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Endpoint } from "../endpoints/endpoint.js";
import { type LimiterCard, type LimiterVerdict, limiterCard } from "../figures/limiter-card.js";
import type { Model } from "../model/model.js";
import { itemsOf, type Task } from "../tasks/task.js";
import { fillTemplate } from "../tasks/template.js";
import type { HorizonResult, WrongAnswer } from "./horizon-result.js";
import type { TransferRow } from "./prompt-stability.js";
import { createChecker, type HorizonOptions } from "./zero-error-horizon.js";

/** What a card says beyond its horizon. */
export interface LimiterCardOptions {
  /** Which limiter, by its key: `28,43`. Default: the first. */
  readonly key?: string;
  /** The model that was asked: its chat template gives the prompt as the model got it. Without it the prompt's parts. */
  readonly model?: Model;
  /** The limiter under other templates: rows of `limiterTransfer`. Rows of other limiters are left out. */
  readonly transfer?: readonly TransferRow[];
  /** The limiter in other quantisations: what `limiterUnder` gives for each of them. */
  readonly quantisations?: readonly LimiterVerdict[];
}

/**
 * The card of one limiter of a horizon (first paper, Figure 1): prompt, answer, margin, commands, verdicts elsewhere.
 *
 * @throws when the result has no limiter (nothing was wrong), or none with that key
 * @example await saveLimiterCard("limiter.html", await zeroErrorHorizon(model, multiplication()), { model });
 */
export async function limiterCardOf(
  result: HorizonResult,
  options: LimiterCardOptions = {},
): Promise<LimiterCard> {
  const limiter = limiterOf(result, options.key, "limiterCardOf");
  const { template, provenance } = result;
  const parts = fillTemplate(template, limiter.fields);
  const prompt =
    options.model === undefined
      ? [...(parts.system === undefined ? [] : [`system: ${parts.system}`]), `user: ${parts.user}`].join("\n")
      : (await options.model.prompt(parts)).text;
  const own = verdictOf(template.name, limiter);
  const elsewhere = (options.transfer ?? [])
    .filter(({ key, from }) => key === limiter.key && from === template.name)
    .map(({ under, right, text }) => ({
      name: under,
      right,
      answer: right ? limiter.expected : (text ?? ""),
    }));
  const quantisation = provenance.model?.quantisation ?? "as measured";
  const { quantisations = [] } = options;
  return {
    model: provenance.model?.name ?? String(provenance.notes.model ?? "the model"),
    task: result.task,
    horizon: result.horizon,
    instance: parts.user.length <= 60 ? parts.user : limiter.key,
    expected: limiter.expected,
    answer: limiter.text ?? "(not decoded)",
    prompt,
    ...marginOf(limiter.margin),
    commands: namedCommands(limiter.commands ?? {}),
    ...(elsewhere.length === 0 ? {} : { templates: [own, ...elsewhere] }),
    ...(quantisations.length === 0
      ? {}
      : { quantisations: [{ ...own, name: quantisation }, ...quantisations] }),
    provenance,
  };
}

/**
 * Writes the card of a limiter as a page of HTML that loads nothing, and returns what it says. Folders are made where
 * they are missing; the same result gives the same bytes.
 */
export async function saveLimiterCard(
  path: string,
  result: HorizonResult,
  options: LimiterCardOptions = {},
): Promise<LimiterCard> {
  const card = await limiterCardOf(result, options);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, limiterCard(card));
  return card;
}

/**
 * Asks another subject (a quantisation of the same model, another model, a server) the limiter of a result, under the
 * same template.
 *
 * @param name how the card calls it, `Q4_K_M`
 */
export async function limiterUnder<I>(
  name: string,
  subject: Model | Endpoint,
  task: Task<I>,
  result: HorizonResult,
  options: Omit<HorizonOptions, "template"> & { readonly key?: string } = {},
): Promise<LimiterVerdict> {
  const { key, size } = limiterOf(result, options.key, "limiterUnder");
  const item = itemsOf(task, size, result.template).find((one) => one.key === key);
  if (item === undefined)
    throw new Error(`limiterUnder: ${task.name} has no instance ${key}; the result is of ${result.task}`);
  const { checker } = await createChecker(subject, task, options);
  const [forced] = await checker.check([item]);
  const [check] = await checker.complete([item], [forced!]);
  const { verdict, text = "", margin } = check!;
  const right = verdict === "right";
  return { name, right, answer: right && text === "" ? item.answer : text, ...marginOf(margin) };
}

function limiterOf(result: HorizonResult, key: string | undefined, where: string): WrongAnswer {
  const { limiters, task, horizon } = result;
  const limiter = key === undefined ? limiters[0] : limiters.find((one) => one.key === key);
  if (limiter !== undefined) return limiter;
  const has = limiters.slice(0, 6).map((one) => one.key);
  throw new Error(
    has.length === 0
      ? `${where}: nothing was wrong in ${task} up to ${horizon}; expected a horizon that was reached; allow a larger upTo`
      : `${where}: no limiter ${key}; there are ${has.join("  ")}`,
  );
}

function verdictOf(name: string, { text = "", margin }: WrongAnswer): LimiterVerdict {
  return { name, right: false, answer: text, ...marginOf(margin) };
}

const marginOf = (margin: number): { margin?: number } => (Number.isFinite(margin) ? { margin } : {});

const COMMAND_NAMES: Readonly<Record<string, string>> = {
  ask: "this project",
  llamaCli: "llama-cli",
  llamaServer: "llama-server, for curl",
};

function namedCommands(commands: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(commands).map(([name, command]) => [COMMAND_NAMES[name] ?? name, command]),
  );
}
