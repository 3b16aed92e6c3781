/** `npm run ask -- --model NAME --system TEXT --user TEXT`: one prompt, greedily and alone, with the margin of every token. */
import { parseArgs } from "node:util";
import { open } from "../model/open.js";
import { type CommandOutput, runAsCommand } from "../store/command.js";

const USAGE = `usage: npm run ask -- --user TEXT [--system TEXT] [--model NAME] [--max-tokens N]
  --model       a path to a GGUF, a name from npm run models -- list, or hf:owner/repo:quant; default tally-400k
  --max-tokens  most tokens of the answer; default 64`;

/** Runs the command; the answer is the exit code: 0 done, 1 failed, 2 wrong use. */
export async function askCommand(
  args: readonly string[],
  out: CommandOutput,
  signal?: AbortSignal,
): Promise<number> {
  let values: { model?: string; system?: string; user?: string; "max-tokens"?: string; help?: boolean };
  try {
    const text = { type: "string" } as const;
    const options = {
      model: text,
      system: text,
      user: text,
      "max-tokens": text,
      help: { type: "boolean" },
    } as const;
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    out.error(`ask: ${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  const maxTokens = Number(values["max-tokens"] ?? 64);
  if (values.help === true || values.user === undefined || !Number.isInteger(maxTokens) || maxTokens < 1) {
    (values.help === true ? out.line : out.error)(USAGE);
    return values.help === true ? 0 : 2;
  }
  const run = signal === undefined ? {} : { signal };
  try {
    const model = await open(values.model, run);
    try {
      const { system, user } = values;
      const prompt = await model.prompt(system === undefined ? { user } : { system, user });
      const request = { tokens: prompt.tokens };
      const { generations } = await model.generate([request], { ...run, maxTokens, mode: "alone" });
      const { text, tokens, stop, margins, endToken } = generations[0]!;
      out.line(text);
      const pieces = await model.engine.pieces(endToken === undefined ? tokens : [...tokens, endToken]);
      const rows = pieces.map((piece, i) => `${JSON.stringify(piece)} ${margins[i]!.toFixed(3)}`);
      out.error(
        `${model.info.name}, ended by ${stop}; tokens and their margins over the runner-up (logits):`,
      );
      out.error(`  ${rows.join("  ")}`);
      return 0;
    } finally {
      await model.close();
    }
  } catch (error) {
    out.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

runAsCommand(import.meta.url, askCommand);
