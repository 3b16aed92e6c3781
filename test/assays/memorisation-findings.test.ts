import { describe, expect, it } from "vitest";
import { memorisation } from "../../src/assays/memorisation.js";
import { findings } from "../../src/assays/memorisation-findings.js";
import { random } from "../../src/stats/random.js";
import { loadPublished } from "../../src/store/published.js";

const published = await loadPublished();

const needed = published ? "" : " (needs the published grids: npm run models -- get zeh-published)";
it.skipIf(published === undefined)(`says what survives of the published analysis${needed}`, () => {
  const { grids, frequency } = published!;
  const found = findings(memorisation(grids, frequency));
  expect(found.map(({ verdict }) => verdict)).toEqual([
    "survives",
    "weakened",
    "does not survive",
    "does not survive",
    "survives",
  ]);
  expect(found[0]?.because).toContain("in 6 of 7 models");
  expect(found[1]?.because).toContain("beyond size -0.25");
});

describe("on grids whose truth is known", () => {
  const frequency = new Map<string, number>();
  for (let a = 1; a <= 30; a += 1)
    for (let b = 1; b <= 30; b += 1) frequency.set(`${a},${b}`, random(1, a, b).integer(0, 1) * 500);
  const grid = (name: string, parameters: number, wrong: (a: number, b: number) => number) => {
    const errors = [];
    for (let a = 1; a <= 30; a += 1)
      for (let b = 1; b <= 30; b += 1)
        if (random(2, name, a, b).uniform() < wrong(a, b))
          errors.push({ a, b, expected: a * b, predicted: a * b + 7 });
    return { model: name, parameters, range: [1, 30] as const, errors };
  };
  const rare = (a: number, b: number) => frequency.get(`${a},${b}`) === 0;

  it("finds memorisation that fades, and no structure", () => {
    const grids = [0.6, 0.5, 0.4, 0.3, 0.2, 0.1].map((extra, i) =>
      grid(`m${i}`, 10 ** (4 + i), (a, b) => 0.1 + (rare(a, b) ? extra : 0)),
    );
    const found = findings(memorisation(grids, frequency, { parameterUnit: 1e4 }));
    expect(found[0]?.verdict).toBe("survives");
    expect(found[1]?.verdict).toBe("survives");
    expect(found[4]?.verdict).not.toBe("survives");
  });

  it("finds none where only size decides", () => {
    const grids = [1, 2, 3].map((i) => grid(`s${i}`, 10 ** (4 + i), (a, b) => (a * b) / 1000));
    const found = findings(memorisation(grids, frequency, { parameterUnit: 1e4 }));
    expect(found[0]?.verdict).toBe("does not survive");
    expect(found[2]?.verdict).toBe("does not survive");
    expect(found[3]?.verdict).toBe("does not survive");
  });

  it("says what one model cannot tell", () => {
    const found = findings(memorisation([grid("one", 1e4, () => 0.3)], frequency));
    expect(found.map(({ verdict }) => verdict).slice(1, 3)).toEqual(["cannot be told", "cannot be told"]);
  });
});
