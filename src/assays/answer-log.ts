/**
 * Answers in a run log: a cell that is run again, or a process that was killed and is started again, finds its finished trials
 * and asks only for the rest. The log is also the record of every prompt and answer.
 */
import type { PromptParts } from "../model/prompt.js";
import type { Json } from "../store/provenance.js";
import { openRunLog, type RunLog, trialKey } from "../store/run-log.js";
import { type Answer, type Answerer, type Asked, asAnswerer } from "./answerer.js";

/** Where finished trials are kept, so that an assay can be taken up again. */
export interface LogOptions {
  /** Where finished trials are found and kept: the path of a JSONL file, or an open log. Default: nothing is kept. */
  readonly log?: string | RunLog;
}

/** One answer in a log. */
export interface AnswerTrial {
  readonly model: string;
  readonly prompt: { readonly system?: string; readonly user: string; readonly assistant?: string };
  readonly answer: Answer;
}

export interface LoggedAnswerer extends Answerer {
  /** Gives the log free for other processes. It is given free when this process ends, too. */
  close(): Promise<void>;
}

/**
 * An answerer that looks up a log before it asks, and adds what it had to ask. An answer is found again only for the same model
 * (`answerer.identity` and `settings`), decoding and prompt. Where answers to one prompt differ (sampling, servers), the n-th time it is
 * asked finds the n-th answer of the log.
 *
 * What is asked in one call is one batch of the log. `tokensAsked` and `tokensEvaluated` are those of new answers. No other process can
 * use the log until it is closed.
 *
 * @param about sets the answers of one run apart from those of others. The assays that take a `log` name themselves and their seed, so
 * that what a run computes depends on nothing that another one left in the log. Default: nothing, all runs share.
 * @example
 * const subject = await withAnswerLog(model, "runs/tally-400k.jsonl");
 */
export async function withAnswerLog(
  asked: Asked,
  log: string | RunLog,
  about: Json = null,
): Promise<LoggedAnswerer> {
  const answerer = asAnswerer(asked, "withAnswerLog");
  const opened = typeof log === "string" ? await openRunLog(log) : log;
  const { identity, settings = null, decoding, repeatable } = answerer;
  const times = new Map<string, number>();
  const keyOf = (prompt: AnswerTrial["prompt"]) => {
    const content = { identity, settings, decoding, prompt, about };
    const key = trialKey(content);
    if (repeatable) return key;
    const time = times.get(key) ?? 0;
    times.set(key, time + 1);
    return trialKey({ ...content, time });
  };
  return {
    ...answerer,
    async answer(prompts, options) {
      const started = performance.now();
      const plain = prompts.map(withoutSpans);
      let cost: { tokensAsked?: number; tokensEvaluated?: number } = { tokensAsked: 0, tokensEvaluated: 0 };
      const { trials, runs } = await opened.batch<AnswerTrial & Json>({
        keys: plain.map(keyOf),
        repeatable,
        async compute(indices) {
          const { answers, tokensAsked, tokensEvaluated } = await answerer.answer(
            indices.map((i) => prompts[i]!),
            options,
          );
          cost = {
            ...(tokensAsked !== undefined && { tokensAsked }),
            ...(tokensEvaluated !== undefined && { tokensEvaluated }),
          };
          return answers.map((answer, n) => {
            const trial: AnswerTrial = { model: answerer.name, prompt: plain[indices[n]!]!, answer };
            return trial as AnswerTrial & Json;
          });
        },
      });
      return { answers: trials.map(({ answer }) => answer), ms: performance.now() - started, ...cost, runs };
    },
    close: () => (typeof log === "string" ? opened.close() : Promise.resolve()),
  };
}

/** Runs `work` with the answerer behind a log, where there is one, and gives the log free afterwards. */
export async function useLog<T>(
  asked: Asked,
  { log }: LogOptions,
  about: { readonly assay: string } & Readonly<Record<string, Json>>,
  work: (subject: Answerer) => Promise<T>,
): Promise<T> {
  const answerer = asAnswerer(asked, about.assay);
  if (log === undefined) return work(answerer);
  const subject = await withAnswerLog(answerer, log, about);
  try {
    return await work(subject);
  } finally {
    await subject.close();
  }
}

function withoutSpans({ system, user, assistant }: PromptParts): AnswerTrial["prompt"] {
  return {
    ...(system !== undefined && { system }),
    user,
    ...(assistant !== undefined && { assistant }),
  };
}
