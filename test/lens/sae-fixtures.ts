/** SAEs of the fixtures and what numpy and scikit-learn make of them (`test/fixtures/lens/make_sae.py`). */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const FIXTURES = join(import.meta.dirname, "..", "fixtures", "lens");

export interface Case {
  readonly entries: readonly (readonly [position: number, feature: number, value: number])[];
  readonly back: readonly number[];
  readonly unexplained: number;
}

export interface RankingCase {
  readonly r: readonly (number | null)[];
  readonly order: readonly number[];
  readonly top: readonly number[];
}

export const reference = JSON.parse(readFileSync(join(FIXTURES, "sae.json"), "utf8")) as {
  readonly rows: readonly number[];
  readonly counts: readonly number[];
  readonly width: number;
  readonly features: number;
  readonly cases: Readonly<Record<string, Case>>;
  readonly ranking: {
    readonly all: RankingCase;
    readonly first20: RankingCase;
    readonly jaccard: number;
    readonly chance8of30: number;
  };
};

export const rows = Float32Array.from(reference.rows);
