/**
 * Remembers answers on disk: a notebook that is run again finds its finished trials and asks only for new ones.
 *
 * One JSON object a line, written as soon as a batch is answered, so that an interrupted run keeps what it had; the file is also the log
 * of every prompt and answer.
 */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { contentKey } from "../store/content-key.js";
import type { Answer, Answerer } from "./answerer.js";

interface Line {
  readonly key: string;
  /** 0, or how often this prompt had been asked before in the same run, where answers to one prompt differ. */
  readonly time: number;
  readonly model: string;
  readonly date: string;
  readonly prompt: { readonly system?: string; readonly user: string; readonly assistant?: string };
  readonly answer: Answer;
}

/**
 * An answerer that looks up `path` before it asks, and adds what it had to ask. An answer is found again only for the same model
 * (`answerer.identity`), decoding and prompt. Where answers to one prompt differ (sampling, servers), the n-th time it is asked in a run
 * finds the n-th answer of the log.
 *
 * `ms`, and the tokens asked and evaluated, are those of the new answers. A broken last line, as an interrupted write leaves it, is
 * skipped; any other broken line is an error. Two processes must not write one file.
 *
 * @example
 * const subject = await withAnswerLog(fromModel(model), "runs/tally-400k.jsonl");
 */
export async function withAnswerLog(answerer: Answerer, path: string): Promise<Answerer> {
  const known = new Map<string, Answer>();
  for (const { key, time, answer } of await readLog(path)) known.set(`${key}/${time}`, answer);
  const times = new Map<string, number>();
  await mkdir(dirname(path), { recursive: true });
  return {
    ...answerer,
    async answer(prompts, options) {
      const asked = prompts.map(({ system, user, assistant }) => {
        const prompt = {
          ...(system !== undefined && { system }),
          user,
          ...(assistant !== undefined && { assistant }),
        };
        const key = contentKey({ identity: answerer.identity, decoding: answerer.decoding, prompt });
        const time = answerer.repeatable ? 0 : (times.get(key) ?? 0);
        times.set(key, time + 1);
        return { key, time, at: `${key}/${time}`, prompt };
      });
      const fresh = [...new Map(asked.map((one, i) => [one.at, { ...one, i }])).values()].filter(
        ({ at }) => !known.has(at),
      );
      const batch =
        fresh.length === 0
          ? { answers: [], ms: 0, tokensAsked: 0, tokensEvaluated: 0 }
          : await answerer.answer(
              fresh.map(({ i }) => prompts[i] as (typeof prompts)[number]),
              options,
            );
      const date = new Date().toISOString();
      const lines = fresh.map(({ key, time, at, prompt }, n): Line => {
        const answer = batch.answers[n] as Answer;
        known.set(at, answer);
        return { key, time, model: answerer.name, date, prompt, answer };
      });
      if (lines.length > 0) await appendFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      return { ...batch, answers: asked.map(({ at }) => known.get(at) as Answer) };
    },
  };
}

async function readLog(path: string): Promise<Line[]> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const lines = text.split("\n");
  return lines.flatMap((line, i) => {
    if (line === "") return [];
    try {
      return [JSON.parse(line) as Line];
    } catch {
      if (i === lines.length - 1) return [];
      throw new Error(`withAnswerLog: line ${i + 1} of ${path} is broken; remove it, or give another file`);
    }
  });
}
