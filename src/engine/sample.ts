/** Choosing the next token from a row of logits. */
import { topK } from "./readout.js";

export interface SampleOptions {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
}

export interface Choice {
  readonly token: number;
  /** Its logit less the largest other one. */
  readonly margin: number;
}

const pairIds = new Int32Array(2);
const pairLogits = new Float32Array(2);

/**
 * Greedy at temperature 0 (ties go to the smaller id), else a draw.
 *
 * @param uniform a draw from [0, 1), asked for only when sampling
 * @returns undefined when the row holds a NaN
 */
export function choose(row: Float32Array, options: SampleOptions, uniform: () => number): Choice | undefined {
  if (!topK(row, 2, pairIds, pairLogits, 0)) return undefined;
  const [best, second] = pairLogits as unknown as [number, number];
  if (options.temperature === 0) return { token: pairIds[0]!, margin: best - second };
  const token = draw(row, options, uniform());
  return { token, margin: row[token]! - (token === pairIds[0] ? second : best) };
}

function draw(row: Float32Array, { temperature, topK: k, topP }: SampleOptions, uniform: number): number {
  const ids = Array.from(row, (_, id) => id).sort((a, b) => row[b]! - row[a]! || a - b);
  const kept = k > 0 ? ids.slice(0, k) : ids;
  const most = row[kept[0]!]!;
  const weights = kept.map((id) => Math.exp((row[id]! - most) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let count = 0;
  let mass = 0;
  while (count < weights.length && mass < topP * total) mass += weights[count++]!;
  let rest = uniform * mass;
  for (let i = 0; i < count; i++) {
    rest -= weights[i]!;
    if (rest < 0) return kept[i]!;
  }
  return kept[count - 1]!;
}
