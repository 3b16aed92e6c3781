/**
 * Does a stored result still hold here? A sample of it is computed again, each trial alone and greedily, and compared.
 */
import type { Model } from "../model/model.js";
import { open } from "../model/open.js";
import { random } from "../stats/random.js";
import type { Provenance } from "../store/provenance.js";
import { readRunLog } from "../store/run-log-file.js";
import { countingTask, recordsTask } from "../tasks/count-task.js";
import { taskNamed } from "../tasks/known-tasks.js";
import { parseCount } from "../tasks/parse-count.js";
import { itemsOf, type Task } from "../tasks/task.js";
import type { AnswerTrial } from "./answer-log.js";
import { fromModel } from "./answerer.js";
import type { Capacity } from "./counting-capacity.js";
import type { Sweep } from "./dense-sweep.js";
import type { HorizonResult } from "./horizon-result.js";
import type { HorizonTrial } from "./logged-checker.js";
import type { CountTrial } from "./trial.js";
import { createChecker } from "./zero-error-horizon.js";

/** How much of a stored result is computed again, and with what. */
export interface VerifyResultOptions {
  /** The model; default: the one of the result's provenance, by its file's name, if its sha256 is the same. */
  readonly model?: Model;
  /** The task of a horizon, or of its log; needed for one's own. */
  readonly task?: Task<never>;
  /** Trials computed again. Default 32; a horizon's limiters come first. */
  readonly sample?: number;
  /** Seed of the sample. Default 1. */
  readonly seed?: number;
  readonly signal?: AbortSignal;
}

/** One trial as it is stored, and as it came out now. */
export interface Recomputed {
  /** What was asked, in short: `28,43`, `tier 64, trial 3`. */
  readonly trial: string;
  readonly stored: string;
  /** Untrusted text, as `stored` may be. */
  readonly now: string;
  /** `same`; `words`: another text with the same verdict or count; `differs`. */
  readonly outcome: "same" | "words" | "differs";
}

/** Whether a stored result still holds, on a sample of its trials. */
export interface Verification {
  /** No trial of the sample differs in what is counted, and the weights are the same. */
  readonly holds: boolean;
  /** Trials computed again, and how many the result has. */
  readonly sampled: number;
  readonly of: number;
  readonly differing: readonly Recomputed[];
  readonly trials: readonly Recomputed[];
  /** What is not as it was: weights, library, backend, settings, in words. A change of machine alone need change nothing. */
  readonly changed: readonly string[];
  /** In a line. */
  readonly text: string;
}

/** A result that was stored, or read back from JSON. */
export type Verifiable = HorizonResult | Capacity | Sweep;

type Outcome = Omit<Recomputed, "trial">;

interface Question {
  readonly trial: string;
  readonly again: (model: Model) => Promise<Outcome>;
}

/**
 * Computes a sample of a stored result again and says whether it still holds on this machine: a horizon, a ladder, a sweep, or
 * the path of a run log, which holds the prompts themselves and so verifies any assay, tasks of one's own included.
 *
 * Compared are verdicts and counts, not margins, whose last digits differ from machine to machine. Weakness: a sample that holds
 * does not say that every trial would; with n trials sampled and none different, up to about 3/n may be (95 %).
 *
 * @throws where the result has no model of this library, or the model is not here: one line that says what to give
 * @example (await verify(result)).text // "holds: 32 of 9,801 trials computed again, none differs"
 */
export async function verify(
  result: Verifiable | string,
  options: VerifyResultOptions = {},
): Promise<Verification> {
  const { sample = 32, seed = 1 } = options;
  if (!Number.isInteger(sample) || sample < 1)
    throw new Error(`verify: sample ${sample}; expected a whole number from 1`);
  const draw = random(seed, "verify");
  const pick = <T>(from: readonly T[], first: readonly T[] = []): T[] => {
    const rest = from.filter((one) => !first.includes(one));
    return [...first, ...draw.shuffle([...rest])].slice(0, sample);
  };
  const stored: Provenance | undefined = typeof result === "string" ? undefined : result.provenance;
  if (stored !== undefined && stored.model === undefined)
    throw new Error(
      "verify: the result is a server's, which nobody can compute again; expected one of a GGUF model",
    );
  const { questions, of } =
    typeof result === "string"
      ? await fromLog(result, options, pick)
      : "assay" in result
        ? fromHorizon(result, options, pick)
        : fromTrials(result, pick);
  if (questions.length === 0) throw new Error("verify: the result has no trials");
  const model = options.model ?? (await modelOf(stored, options.signal));
  try {
    const changed = stored === undefined ? [] : changes(stored, model);
    const trials: Recomputed[] = [];
    for (const { trial, again } of questions) {
      options.signal?.throwIfAborted();
      trials.push({ trial, ...(await again(model)) });
    }
    const differing = trials.filter(({ outcome }) => outcome === "differs");
    const holds = differing.length === 0 && !changed.some((what) => what.startsWith("weights"));
    return {
      holds,
      sampled: trials.length,
      of,
      differing,
      trials,
      changed,
      text: textOf(holds, trials, of, changed),
    };
  } finally {
    if (options.model === undefined) await model.close();
  }
}

function textOf(
  holds: boolean,
  trials: readonly Recomputed[],
  of: number,
  changed: readonly string[],
): string {
  const differing = trials.filter(({ outcome }) => outcome === "differs");
  const words = trials.filter(({ outcome }) => outcome === "words").length;
  const found =
    differing.length === 0 ? "none differs" : `${differing.length} differ, the first ${differing[0]!.trial}`;
  const more = words === 0 ? "" : ` (${words} in other words)`;
  const since = changed.length === 0 ? "" : `; since then changed: ${changed.join(", ")}`;
  const many = `${trials.length} of ${of.toLocaleString("en")} trials computed again`;
  return `${holds ? "holds" : "does not hold"}: ${many}, ${found}${more}${since}`;
}

async function modelOf(stored: Provenance | undefined, signal?: AbortSignal): Promise<Model> {
  const file = stored?.model?.file;
  if (file === undefined) throw new Error("verify: a log does not say where its model is; give it as model");
  const name = file.replace(/\.gguf$/i, "");
  const model = await open(name, signal ? { signal } : {}).catch((error: Error) => {
    throw new Error(
      `verify: the result's model, ${file}, is not known by its name; open it and give it as model (${error.message})`,
    );
  });
  return model;
}

/** What may move a number, then and now. */
function changes(stored: Provenance, model: Model): string[] {
  const { info, sha256 } = model;
  const now: Record<string, unknown> = {
    ...info.settings,
    llamaVersion: info.llamaVersion,
    backend: info.backend,
  };
  const then: Record<string, unknown> = { ...stored.engine };
  const changed = Object.keys(now)
    .filter((name) => then[name] !== now[name])
    .map((name) => `${name} ${String(then[name])} to ${String(now[name])}`);
  return stored.model?.sha256 === sha256 ? changed : ["weights (another sha256)", ...changed];
}

type Draw = <T>(from: readonly T[], first?: readonly T[]) => T[];
type Questions = { readonly questions: Question[]; readonly of: number };

function fromHorizon(result: HorizonResult, options: VerifyResultOptions, pick: Draw): Questions {
  const { template, instances, errors, limiters } = result;
  const task = options.task ?? taskNamed(result.task, result.reader);
  const textOfKey = new Map(errors.map(({ key, text }) => [key, text]));
  const limiting = new Set(limiters.map(({ key }) => key));
  const first = instances.filter(({ key }) => limiting.has(key));
  const maxTokens = Number(result.provenance.notes.maxTokens ?? 64);
  const items = new Map<number, ReturnType<typeof itemsOf>>();
  const itemOf = (size: number, key: string) => {
    if (!items.has(size)) items.set(size, itemsOf(task, size, template));
    const item = items.get(size)!.find((one) => one.key === key);
    if (item === undefined)
      throw new Error(`verify: ${task.name} has no instance ${key} of size ${size}; give the right task`);
    return item;
  };
  const questions = pick(instances, first).map(({ key, size, right }): Question => {
    const item = itemOf(size, key);
    return {
      trial: key,
      async again(model) {
        const signal = options.signal;
        // The canonical evaluation: alone and greedy.
        const { checker } = await createChecker(model, task, {
          mode: "naive",
          maxTokens,
          noiseFloor: 0,
          ...(signal && { signal }),
        });
        const [check] = await checker.check([item]);
        const text = check!.text ?? "";
        const then = textOfKey.get(key);
        const same = (check!.verdict === "right") === right;
        return {
          stored: then ?? (right ? item.answer : "wrong"),
          now: text,
          outcome: !same ? "differs" : then === undefined || then === text ? "same" : "words",
        };
      },
    };
  });
  return { questions, of: instances.length };
}

function fromTrials(result: Capacity | Sweep, pick: Draw): Questions {
  const { notes } = result.provenance;
  const task = countTaskOf(result.task, notes.task);
  const decoding = String(notes.decoding ?? "");
  const maxTokens = Number(/at most (\d+) tokens/.exec(decoding)?.[1] ?? 256);
  if (!decoding.startsWith("greedy"))
    throw new Error(`verify: decoding was "${decoding}"; only greedy answers can be compared`);
  const questions = pick(result.trials).map((trial): Question => {
    const prompt = task.prompt(trial.target, keyOfTrial(trial, notes.seed));
    const trialName = trial.tier === null ? `count ${trial.target}` : `tier ${trial.tier}, trial ${trial.k}`;
    return {
      trial: trialName,
      again: (model) => askAgain(model, prompt, maxTokens, trial.response, trial.prediction),
    };
  });
  return { questions, of: result.trials.length };
}

/** The keys under which ladder and sweep draw their prompts. */
function keyOfTrial({ tier, k, target }: CountTrial, seed: unknown): string {
  return tier === null ? `sweep/${target}/${k}` : `${String(seed ?? 1)}/${tier}/${k}`;
}

function countTaskOf(name: string, settings: unknown): ReturnType<typeof countingTask> {
  const given = (settings ?? {}) as object;
  if (name === "counting") return countingTask(given);
  if (name === "records") return recordsTask(given);
  throw new Error(`verify: the task ${name} is not one of this library; verify its run log instead`);
}

async function askAgain(
  model: Model,
  prompt: Parameters<Model["prompt"]>[0] & object,
  maxTokens: number,
  stored: string,
  prediction: number | null,
): Promise<Outcome> {
  const { answers } = await fromModel(model, { maxTokens }).answer([prompt], { mode: "alone" });
  const now = answers[0]!.text;
  const same = parseCount(now).value === prediction;
  return { stored, now, outcome: now === stored ? "same" : same ? "words" : "differs" };
}

async function fromLog(path: string, options: VerifyResultOptions, pick: Draw): Promise<Questions> {
  const lines = await readRunLog(path);
  const known = lines.map(({ trial }) => trial as unknown as AnswerTrial | HorizonTrial);
  const asked = known.filter((trial) => typeof (trial as Partial<AnswerTrial>)?.prompt?.user === "string");
  if (asked.length < known.length)
    throw new Error(`verify: ${path} has trials without a prompt; expected the log of an assay`);
  const questions = pick(asked).map((trial): Question => {
    const { system, user } = trial.prompt;
    const prompt = { user, ...(typeof system === "string" && { system }) };
    if ("answer" in trial) {
      const begun =
        trial.prompt.assistant === undefined ? prompt : { ...prompt, assistant: trial.prompt.assistant };
      const { text, outputTokens, ended } = trial.answer;
      // One token more than the answer had tells whether it would go on.
      return {
        trial: `${user.slice(0, 40)}`,
        again: (model) =>
          askAgain(model, begun, outputTokens + (ended ? 1 : 0), text, parseCount(text).value),
      };
    }
    return {
      trial: `${trial.task} ${trial.instance}`,
      async again(model) {
        const { answers } = await fromModel(model, { maxTokens: 64 }).answer([prompt], { mode: "alone" });
        const now = answers[0]!.text;
        const { reader } = options.task ?? taskNamed(trial.task);
        const right = reader.parse(now) === trial.expected;
        const same = right === (trial.verdict === "right");
        return {
          stored: trial.text ?? (trial.verdict === "right" ? trial.expected : "wrong"),
          now,
          outcome: !same ? "differs" : trial.text === undefined || trial.text === now ? "same" : "words",
        };
      },
    };
  });
  return { questions, of: known.length };
}
