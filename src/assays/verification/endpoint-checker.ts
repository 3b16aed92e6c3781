/** Verification by a server: ask, read, and see whether it says the same twice. */
import type { Endpoint } from "../../endpoints/endpoint.js";
import type { Answer } from "../../endpoints/wire.js";
import type { Reader } from "../../tasks/reader.js";
import type { Item } from "../../tasks/task.js";
import type { EndpointReport } from "../horizon-result.js";
import type { Checker } from "../horizon-search.js";
import type { Check } from "./check.js";

export interface EndpointCheckerOptions {
  readonly repeats: number;
  readonly signal: AbortSignal;
}

export interface EndpointChecker extends Checker {
  report(): EndpointReport;
}

/**
 * Asks size by size (looking ahead would cost money). An instance is right only if every answer is; an answer that was cut
 * is right only where nothing that could follow would change what is read.
 */
export function createEndpointChecker(
  endpoint: Endpoint,
  reader: Reader,
  { repeats, signal }: EndpointCheckerOptions,
): EndpointChecker {
  if (!Number.isInteger(repeats) || repeats < 1) {
    throw new Error(`zeroErrorHorizon: repeats ${repeats}; expected a whole number from 1`);
  }
  const unstable: { key: string; right: number; asked: number }[] = [];
  const fingerprints = new Set<string>();
  const isRight = ({ text, ended }: Answer, answer: string): boolean =>
    ended ? reader.parse(text) === answer : reader.settle(text, answer) === "right";
  return {
    lookAhead: false,
    async check(items: readonly Item[]): Promise<Check[]> {
      const prompts = items.flatMap(({ prompt }) => Array.from({ length: repeats }, () => prompt));
      const answers = await endpoint.ask(prompts, { signal });
      for (const { fingerprint } of answers) if (fingerprint !== undefined) fingerprints.add(fingerprint);
      return items.map(({ key, answer }, i): Check => {
        const mine = answers.slice(i * repeats, (i + 1) * repeats);
        const right = mine.filter((one) => isRight(one, answer)).length;
        if (right > 0 && right < repeats) unstable.push({ key, right, asked: repeats });
        const shown = mine.find((one) => !isRight(one, answer)) ?? mine[0]!;
        return {
          verdict: right === repeats ? "right" : "wrong",
          margin: Number.NaN,
          by: "endpoint",
          text: shown.text,
          ...(shown.ended || right === repeats ? {} : { unfinished: true }),
          ...(repeats > 1 ? { rightOf: [right, repeats] as const } : {}),
        };
      });
    },
    complete: (_, checks) => Promise.resolve([...checks]),
    report: () => ({ usage: endpoint.usage(), repeats, unstable, fingerprints: [...fingerprints].sort() }),
  };
}
