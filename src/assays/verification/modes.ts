/** The ways to verify, from the definition to the fastest (first paper, section 4 and Tables 7 and 8). */

/**
 * - `naive`: greedy decoding of each instance alone, size by size.
 * - `teacher forcing`: one evaluation of prompt and answer together, in batches, size by size.
 * - `look-ahead`: teacher forcing over several sizes at once.
 * - `prefix`: and what all prompts begin with is evaluated once.
 * - `trie`: and every shared prefix is evaluated once. The fastest, and the default.
 */
export type VerificationMode = "naive" | "teacher forcing" | "look-ahead" | "prefix" | "trie";

/** What a way of verifying makes use of. */
export interface ModeSteps {
  readonly forced: boolean;
  readonly lookAhead: boolean;
  readonly share: "nothing" | "prefix" | "everything";
}

/** The five ways of verifying, and what each of them does (first paper, Table 8). */
export const VERIFICATION_MODES: Readonly<Record<VerificationMode, ModeSteps>> = {
  naive: { forced: false, lookAhead: false, share: "nothing" },
  "teacher forcing": { forced: true, lookAhead: false, share: "nothing" },
  "look-ahead": { forced: true, lookAhead: true, share: "nothing" },
  prefix: { forced: true, lookAhead: true, share: "prefix" },
  trie: { forced: true, lookAhead: true, share: "everything" },
};

/** The steps of a mode; an unknown name is refused with the names there are. */
export function modeSteps(mode: VerificationMode): ModeSteps {
  const steps = VERIFICATION_MODES[mode];
  if (steps === undefined) {
    throw new Error(
      `zeroErrorHorizon: mode "${String(mode)}"; expected ${Object.keys(VERIFICATION_MODES).join(", ")}`,
    );
  }
  return steps;
}
