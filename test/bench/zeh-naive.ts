/** Naive greedy decoding, an instance at a time, through node-llama-cpp's own API: what the assay is measured against. */
import type { Reader } from "../../src/tasks/reader.js";
import { type Taken, take } from "./taken.js";

export interface NaiveRun extends Taken {
  /** `[instance]` */
  readonly right: readonly boolean[];
}

/** Longest answer, as in the assay. */
const MOST_TOKENS = 64;

/**
 * Three ways of using it: the context cleared before each instance, and its own prefix reuse, both with an answer ended as
 * soon as the reader needs no more of it (the fastest that naive decoding can be); and cleared, each answer decoded to its
 * end, as the paper's naive verification does.
 *
 * @param prompts rendered chat prompts; rendering is not part of the time
 */
export async function naiveDecoding(
  path: string,
  threads: number,
  prompts: readonly string[],
  answers: readonly string[],
  reader: Reader,
): Promise<{ cleared: NaiveRun; reusing: NaiveRun; whole: NaiveRun }> {
  const { getLlama, LlamaLogLevel } = await import("node-llama-cpp");
  const llama = await getLlama({ gpu: "auto", build: "never", logLevel: LlamaLogLevel.error });
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createContext({ contextSize: 512, threads, sequences: 1 });
  const sequence = context.getSequence();

  const one = async (prompt: string, answer: string, reuse: boolean, whole = false): Promise<boolean> => {
    let tokens = model.tokenize(prompt, true);
    if (reuse) {
      await sequence.adaptStateToTokens(tokens, false);
      // At least one token has to be evaluated for there to be a next one.
      if (sequence.nextTokenIndex === tokens.length) {
        await sequence.eraseContextTokenRanges([{ start: tokens.length - 1, end: tokens.length }]);
      }
      tokens = tokens.slice(sequence.nextTokenIndex);
    } else await sequence.clearHistory();
    const written: typeof tokens = [];
    for await (const token of sequence.evaluate(tokens, { temperature: 0, yieldEogToken: true })) {
      if (model.isEogToken(token)) return reader.parse(model.detokenize(written)) === answer;
      written.push(token);
      const settled = whole ? "open" : reader.settle(model.detokenize(written), answer);
      if (settled !== "open") return settled === "right";
      if (written.length >= MOST_TOKENS) break;
    }
    return whole && reader.settle(model.detokenize(written), answer) === "right";
  };

  const all = async (reuse: boolean, whole = false): Promise<NaiveRun> => {
    const { value: right, ...time } = await take(async () => {
      const verdicts: boolean[] = [];
      for (let i = 0; i < prompts.length; i++)
        verdicts.push(await one(prompts[i]!, answers[i]!, reuse, whole));
      return verdicts;
    });
    return { ...time, right };
  };
  for (let i = 0; i < Math.min(20, prompts.length); i++) await one(prompts[i]!, answers[i]!, false); // warming up
  const cleared = await all(false);
  await sequence.clearHistory();
  const reusing = await all(true);
  const whole = await all(false, true);
  await model.dispose();
  await llama.dispose();
  return { cleared, reusing, whole };
}
