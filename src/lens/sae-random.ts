/**
 * The control for "features follow the count": as many random directions, cut off below like features. Whatever is linear in the
 * activations is in random directions too, so only what a trained SAE does beyond them is the SAE's.
 */
import { random } from "../stats/random.js";
import type { Sae } from "./sae.js";
import { checkSaeRows } from "./sae-encode.js";

/**
 * An encoder of `sae.features` random unit directions, ReLU of the distance from the mean of `rows` `[position, d_model]` along
 * each, so that each fires at about half of the positions. It rebuilds nothing: its decoder is zero.
 */
export function randomDictionary(sae: Sae, rows: Float32Array, seed: number | string): Sae {
  const positions = checkSaeRows("randomDictionary", sae, rows);
  const { width, features } = sae;
  const mean = new Float64Array(width);
  rows.forEach((value, at) => {
    mean[at % width]! += value / positions;
  });
  const draw = random(seed, "random dictionary");
  const encoder = new Float32Array(width * features);
  const encoderBias = new Float32Array(features);
  for (let id = 0; id < features; id++) {
    const direction = Float64Array.from({ length: width }, () => draw.normal());
    const norm = Math.sqrt(direction.reduce((sum, value) => sum + value * value, 0));
    let offset = 0;
    direction.forEach((value, i) => {
      encoder[i * features + id] = value / norm;
      offset += (value / norm) * mean[i]!;
    });
    encoderBias[id] = -offset;
  }
  const { threshold: _t, k: _k, decoderNorms: _n, ...rest } = sae;
  return {
    ...rest,
    name: `${features} random directions`,
    architecture: "relu",
    encoder,
    encoderBias,
    decoder: new Float32Array(features * width),
    decoderBias: new Float32Array(width),
    centred: false,
    normalisation: "none",
    inputScale: 1,
  };
}
