/**
 * What capturing costs: every layer at every position of a 256-token prompt, against a plain decode of the same tokens
 * with the same output rows, in turn.
 *
 * `npm run bench -- capture [--model NAME] [--repeats N]`
 */
import { parseArgs } from "node:util";
import { chooseBackend } from "../../src/engine/backend.js";
import { createContext } from "../../src/engine/context.js";
import { residPost } from "../../src/engine/hooks.js";
import { openLibrary } from "../../src/engine/library.js";
import { loadModel } from "../../src/engine/native-model.js";
import { open } from "../../src/model/open.js";
import { type Emit, median } from "./line.js";

export const name = "capture";

const LENGTH = 256;

export async function run(emit: Emit, args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args, options: { model: text, repeats: text } });
  const repeats = Number(values.repeats ?? 7);
  const model = await open(values.model ?? "smollm2-135m-instruct", { isolated: false, chunkTokens: LENGTH });
  const { info, engine } = model;
  const tokens = await promptOf(LENGTH, (words) => engine.tokenize([words], false));
  const captures = Array.from({ length: info.layers }, (_, layer) => ({
    hook: residPost(layer),
    positions: "all" as const,
  }));
  const native = loadModel(openLibrary(await chooseBackend("auto")), info.path, info.settings);
  const context = createContext(native, { cells: 512, batch: LENGTH, outputs: LENGTH, ...info.settings });
  const plain = (): void => {
    context.clear();
    context.begin();
    for (let i = 0; i < tokens.length; i++) context.add(tokens[i]!, i, 0, 1, [], true);
    context.decode();
  };

  const ms = { capture: [] as number[], plain: [] as number[] };
  let bytes = 0;
  for (let round = -1; round < repeats; round++) {
    const before = performance.now();
    plain();
    const between = performance.now();
    const { results } = await engine.evaluate([{ tokens, captures }]);
    const after = performance.now();
    // The first round pays for memory.
    if (round < 0) continue;
    bytes = results[0]!.captures.reduce((sum, { data }) => sum + data.byteLength, 0);
    ms.plain.push(between - before);
    ms.capture.push(after - between);
  }
  const context_ = {
    model: info.name,
    positions: LENGTH,
    layers: info.layers,
    threads: info.settings.threads,
    bytes,
  };
  const line = { bench: name, n: repeats, context: context_ };
  emit({ ...line, metric: "plain_ms", value: median(ms.plain), unit: "ms" });
  emit({ ...line, metric: "capture_ms", value: median(ms.capture), unit: "ms" });
  const ratios = ms.capture.map((value, i) => value / ms.plain[i]!);
  emit({
    ...line,
    metric: "capture_over_plain",
    value: median(ratios),
    unit: "ratio",
    context: { ...context_, target: 1.05 },
  });
  context.close();
  native.close();
  await model.close();
}

async function promptOf(
  length: number,
  tokenize: (text: string) => Promise<Int32Array[]>,
): Promise<Int32Array> {
  const [tokens] = await tokenize("a, b; ".repeat(length));
  return tokens!.slice(0, length);
}
