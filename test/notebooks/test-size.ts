/**
 * Parameters with which the tests run the heavier notebooks: the same cells on smaller sizes, because on two cores the
 * defaults of all of them together take longer than a test run may. `COUNTLENS_ALL_NOTEBOOKS=1` runs every notebook on
 * its defaults, and all of them under Jupyter and in the browser, not only the quickstart.
 */
export const everything = process.env.COUNTLENS_ALL_NOTEBOOKS === "1";

const SMALL: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "01-zero-error-horizon": { model: "tally-25k", models: ["tally-25k", "tally-100k"], upTo: 6, longest: 3 },
  "02-verification-speed": { model: "tally-25k", upTo: 4, repeats: 1 },
  "03-counting-capacity": {
    model: "tally-25k",
    models: ["tally-25k", "tally-100k"],
    seeds: 3,
    sweepTo: 60,
    ladders: 10_000,
  },
  "04-collapse": { model: "tally-25k", models: ["tally-25k", "tally-100k"] },
  "05-motifs": { model: "tally-25k" },
  "06-interference": { model: "tally-25k", counts: [32, 64], trials: 2 },
  "07-count-probe": {
    model: "tally-25k",
    fillers: 1,
    permutations: 19,
    motifs: [{ item: "b", delimiter: " " }],
  },
  "08-logit-gap": { model: "tally-25k", models: ["tally-25k", "tally-100k"] },
  "09-patching": {
    model: "tally-25k",
    donors: [3, 5, 8, 10, 20, 24],
    fewDonors: [3, 8, 20],
    otherSets: ["start of turn"],
  },
  "10-clamping": {
    model: "tally-25k",
    to: 60,
    failed: [200, 220, 240, 260, 280, 300],
    trials: 6,
    steered: [4, 7],
  },
  "11-sae-features": {
    to: 40,
    motifs: [
      ["a", ", "],
      ["#", ", "],
    ],
  },
  "12-quantisation": { types: ["F16", "Q8_0", "Q4_0"], upTo: 6, to: 24 },
  "13-memorisation-or-algorithm": { models: ["tally-25k", "tally-100k"], upTo: 24 },
  "14-emergence": { upTo: 4, to: 16, probeTo: 8 },
  "15-your-own-model": { model: "tally-25k", upTo: 6, to: 24, donors: [4, 9, 15, 20], mostLayers: 2 },
};

export function testParameters(notebook: string): Readonly<Record<string, unknown>> {
  return everything ? {} : (SMALL[notebook] ?? {});
}

/** Notebooks that also run under Jupyter and in the browser. */
export function underJupyter(notebook: string): boolean {
  return everything || notebook === "00-quickstart";
}
