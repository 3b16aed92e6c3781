/** What the Zero-Error Horizon assay gives. */
import type { Usage } from "../endpoints/usage.js";
import type { Provenance } from "../store/provenance.js";
import type { Template } from "../tasks/template.js";
import type { Check, Counts } from "./verification/check.js";
import type { VerificationMode } from "./verification/modes.js";

/** An instance that was verified. */
export interface InstanceRow {
  /** The task's fields, joined by a comma: `28,43`. */
  readonly key: string;
  readonly size: number;
  readonly right: boolean;
  /** See `Check.margin`. */
  readonly margin: number;
  readonly by: Check["by"];
}

/** All instances of one size. */
export interface SizeRow {
  readonly size: number;
  readonly instances: number;
  readonly wrong: number;
  /** Smallest margin of its right answers (logits): how close the nearest miss was. NaN where none is known. */
  readonly margin: number;
}

/** A wrong answer, with what is needed to see it again. */
export interface WrongAnswer {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly size: number;
  /** The right answer. */
  readonly expected: string;
  /** What the model wrote, in full; absent where it was not decoded (`texts`). Untrusted text. */
  readonly text?: string;
  /** What the task's reader made of it, null where nothing. */
  readonly read?: string | null;
  /** Cut by the limit on tokens before the answer was settled. */
  readonly unfinished?: boolean;
  /** How far behind the right answer's token was where the model left the answer (logits, not above 0), or NaN. */
  readonly margin: number;
  readonly by: Check["by"];
  /** Of a server asked several times: how many answers were right. */
  readonly rightOf?: readonly [right: number, asked: number];
  /** Command lines that show it again; for limiters. */
  readonly commands?: Readonly<Record<string, string>>;
}

/** A horizon with its limiters, every instance verified, and what that cost (first paper, section 2). */
export interface HorizonResult {
  readonly assay: "zero-error-horizon";
  readonly task: string;
  /** Order of the instances of a size, in words. */
  readonly order: string;
  readonly template: Template;
  /** How answers were read. */
  readonly reader: string;
  readonly mode: VerificationMode | "endpoint";
  /** Largest n such that every instance of every size up to n was answered right. */
  readonly horizon: number;
  /** True when an error ended it. False: everything tried was right, and the horizon is a lower bound. */
  readonly reached: boolean;
  /** Why the search ended before `upTo`, where it did so without an error. */
  readonly stopped?: string;
  /** Every wrong answer of size `horizon + 1`. */
  readonly limiters: readonly WrongAnswer[];
  /** Every wrong answer of the sizes reported, limiters first. */
  readonly errors: readonly WrongAnswer[];
  /** By size: up to the failing size, or the whole grid. */
  readonly sizes: readonly SizeRow[];
  /** Every instance of these sizes, in order. */
  readonly instances: readonly InstanceRow[];
  /** Share of right answers over these sizes. */
  readonly accuracy: number;
  readonly counts: Counts;
  /** Why no prefix was shared, where the model cannot branch (recurrent state). */
  readonly unshared?: string;
  /** Margins below it were settled by the canonical evaluation (logits). */
  readonly noiseFloor: number;
  /** Of an endpoint: what was asked and spent, and whether it contradicted itself. */
  readonly endpoint?: EndpointReport;
  readonly provenance: Provenance;
}

/** What a server was asked, and whether it contradicted itself. */
export interface EndpointReport {
  readonly usage: Usage;
  /** Times each prompt was asked. */
  readonly repeats: number;
  /** Instances with both right and wrong answers. */
  readonly unstable: readonly { readonly key: string; readonly right: number; readonly asked: number }[];
  /** What the server called the machines that answered. More than one: not one model. */
  readonly fingerprints: readonly string[];
}

/**
 * ZEH(epsilon): the horizon when a right answer counts only with a margin of at least `epsilon` logits. 0 gives the
 * horizon itself; margins that are not known count as 0 (answers of servers have none).
 */
export function horizonAtMargin(result: Pick<HorizonResult, "sizes">, epsilon: number): number {
  if (!(epsilon >= 0))
    throw new Error(`horizonAtMargin: epsilon ${epsilon}; expected a number from 0, in logits`);
  let horizon = 0;
  for (const { size, wrong, margin } of result.sizes) {
    if (wrong > 0 || (Number.isNaN(margin) ? 0 : margin) < epsilon) break;
    horizon = size;
  }
  return horizon;
}

/** Share of right answers among all instances of sizes up to n (the paper's 20, 50, 99). NaN where none was verified. */
export function accuracyUpTo(result: Pick<HorizonResult, "sizes">, n: number): number {
  const rows = result.sizes.filter(({ size }) => size <= n);
  const instances = rows.reduce((sum, row) => sum + row.instances, 0);
  return instances === 0 ? Number.NaN : 1 - rows.reduce((sum, row) => sum + row.wrong, 0) / instances;
}
