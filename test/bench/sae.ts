/**
 * SAE encoding: 1,000 positions of width 640 through 16,384 features, by default; drawn weights, because time does not
 * depend on them.
 *
 * `npm run bench -- sae [--positions N] [--width N] [--features N] [--repeats N]`
 */
import { parseArgs } from "node:util";
import type { Sae } from "../../src/lens/sae.js";
import { encodeSae } from "../../src/lens/sae-encode.js";
import { random } from "../../src/stats/random.js";
import { type Emit, median } from "./line.js";

export const name = "sae";

export async function run(emit: Emit, args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const options = { positions: text, width: text, features: text, repeats: text };
  const { values } = parseArgs({ args, options });
  const positions = Number(values.positions ?? 1000);
  const width = Number(values.width ?? 640);
  const features = Number(values.features ?? 16_384);
  const repeats = Number(values.repeats ?? 5);
  const draw = random(1, "sae bench");
  const numbers = (length: number) => Float32Array.from({ length }, () => draw.uniform(-0.5, 0.5));
  const base: Omit<Sae, "architecture"> = {
    name: "drawn",
    form: "Gemma Scope 2",
    width,
    features,
    encoder: numbers(width * features),
    encoderBias: new Float32Array(features),
    decoder: new Float32Array(0),
    decoderBias: new Float32Array(width),
    centred: false,
    normalisation: "none",
    inputScale: 1,
  };
  // About 3 standard deviations of a pre-activation: some 20 of 16,384 features fire.
  const threshold = new Float32Array(features).fill(Math.sqrt(width) / 4);
  const saes: Sae[] = [
    { ...base, architecture: "jump_relu", threshold },
    { ...base, architecture: "topk", k: 64 },
  ];
  const rows = numbers(positions * width);
  const onProgress = () => {};
  for (const sae of saes) {
    const seconds: number[] = [];
    let entries = 0;
    for (let round = -1; round < repeats; round++) {
      const start = performance.now();
      entries = (await encodeSae(sae, rows, { onProgress })).ids.length;
      if (round >= 0) seconds.push((performance.now() - start) / 1000);
    }
    const context = { positions, width, features, l0: entries / positions };
    const shared = { bench: name, n: repeats, context };
    emit({ ...shared, metric: `${sae.architecture}_seconds`, value: median(seconds), unit: "s" });
    const flops = 2 * positions * width * features;
    const value = flops / median(seconds) / 1e9;
    emit({ ...shared, metric: `${sae.architecture}_rate`, value, unit: "GFLOP/s" });
  }
}
