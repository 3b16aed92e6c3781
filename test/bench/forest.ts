/**
 * What sharing is worth: 81 multiplication prompts with their answers, as a forest against each alone, and against plain
 * decodes with the same numbers of new tokens, output rows and occupied cells (the floor), in turn.
 *
 * `npm run bench -- forest [--model NAME] [--repeats N]`
 */
import { parseArgs } from "node:util";
import type { Request } from "../../src/engine/request.js";
import { open } from "../../src/model/open.js";
import { multiplication } from "../../src/tasks/multiplication.js";
import { type Item, itemsOf } from "../../src/tasks/task.js";
import { type Emit, median } from "./line.js";
import { plainDecodes } from "./zeh-floor.js";

export const name = "forest";

const UP_TO = 9;

export async function run(emit: Emit, args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args, options: { model: text, repeats: text } });
  const repeats = Number(values.repeats ?? 5);
  const model = await open(values.model ?? "smollm2-135m-instruct", { isolated: false });
  const items: Item[] = [];
  for (let size = 1; size <= UP_TO; size++) items.push(...itemsOf(multiplication(), size));
  const prompts = await model.prompts(items.map(({ prompt }) => prompt));
  const answers = await model.answerTokens(items.map(({ answer }) => answer));
  const requests: Request[] = prompts.map(({ tokens }, i) => ({
    tokens: Int32Array.of(...tokens, ...answers[i]!),
    logits: { positions: Array.from({ length: answers[i]!.length + 1 }, (_, k) => tokens.length - 1 + k) },
  }));
  const prepared = prompts.map(({ tokens }, i) => ({ item: items[i]!, prompt: tokens, answer: answers[i]! }));
  const ms = { forest: [] as number[], alone: [] as number[], floor: [] as number[] };
  let tokens = { asked: 0, evaluated: 0, decodes: 0 };
  for (let round = -1; round < repeats; round++) {
    const floor = await plainDecodes(model, prepared, 1);
    const { stats } = await model.evaluate(requests);
    const alone = round % 2 === 0 ? (await model.evaluate(requests, { mode: "alone" })).stats.ms : undefined;
    tokens = { asked: stats.tokensAsked, evaluated: stats.tokensEvaluated, decodes: stats.decodes };
    if (round < 0) continue;
    ms.forest.push(stats.ms);
    ms.floor.push(floor.runs[0]!.ms);
    if (alone !== undefined) ms.alone.push(alone / stats.ms);
  }
  const context = {
    model: model.info.name,
    prompts: requests.length,
    threads: model.info.settings.threads,
    ...tokens,
  };
  const line = { bench: name, n: repeats, context };
  emit({ ...line, metric: "forest_ms", value: median(ms.forest), unit: "ms" });
  emit({ ...line, metric: "token_ratio", value: tokens.asked / tokens.evaluated, unit: "ratio", n: 1 });
  emit({ ...line, metric: "alone_over_forest", value: median(ms.alone), unit: "ratio", n: ms.alone.length });
  const ratios = ms.forest.map((value, i) => value / ms.floor[i]!);
  emit({
    ...line,
    metric: "floor_ratio",
    value: median(ratios),
    unit: "ratio",
    context: { ...context, target: 1.25 },
  });
  await model.close();
}
