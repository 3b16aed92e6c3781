import { describe, expect, it } from "vitest";
import {
  type Forced,
  judgeDecoded,
  judgeForced,
  type Vocabulary,
} from "../../../src/assays/verification/judge.js";
import { random } from "../../../src/stats/random.js";
import { type IntegerPlace, integerReader } from "../../../src/tasks/integer-reader.js";
import { wordReader } from "../../../src/tasks/word-reader.js";
import { randomAnswers } from "../../tasks/random-answers.js";

/** A vocabulary of whatever pieces are asked for; token 0 ends. */
function vocabularyOf() {
  const pieces = ["<end>"];
  const ids = new Map<string, number>();
  const vocabulary: Vocabulary = { piece: (token) => pieces[token]!, ends: (token) => token === 0 };
  const id = (piece: string) => {
    if (!ids.has(piece)) ids.set(piece, pieces.push(piece) - 1);
    return ids.get(piece)!;
  };
  return { vocabulary, id };
}

/** Distributions as they are when a model writes `written`: right up to where it leaves the answer, unknown after it. */
function forcedBy(written: readonly number[], answer: readonly number[], gap: (i: number) => number): Forced {
  const argmax: number[] = [];
  for (let i = 0; i <= answer.length; i++) argmax.push(written[i] ?? 0);
  const gaps = argmax.map((_, i) => gap(i));
  return {
    argmax,
    runners: gaps.map((behind) => [{ token: 0, behind }]),
    lead: [...answer, 0].map((token, i) => (argmax[i] === token ? gaps[i]! : -gaps[i]!)),
  };
}

describe("a wrong answer is never judged right, nor a right one wrong", () => {
  // What a model writes token by token and then ends, in any cut and with any separator, zero or sign: the forced verdict
  // must be what the parser says of the finished text, or open.
  it.each(["start", "last", "only"] as const)("integers, %s", (place: IntegerPlace) => {
    const reader = integerReader(place);
    const { vocabulary, id } = vocabularyOf();
    const seen = { right: 0, wrong: 0, open: 0 };
    const broken: string[][] = [];
    const draw = random(7, place);
    for (const { answer, pieces, text } of randomAnswers(`judge ${place}`, 12_000)) {
      const digits = draw.uniform() < 0.7 ? [...answer] : [answer.slice(0, 2), ...answer.slice(2)];
      const written = [...(draw.uniform() < 0.5 ? [...text] : pieces), "<end>"].map((p) =>
        p === "<end>" ? 0 : id(p),
      );
      const tokens = digits.map(id);
      const { verdict } = judgeForced(
        forcedBy(written, tokens, () => 1),
        tokens,
        answer,
        reader,
        vocabulary,
      );
      seen[verdict]++;
      if (verdict === "open") continue;
      if ((reader.parse(text) === answer) !== (verdict === "right")) broken.push([answer, text, verdict]);
    }
    expect(broken).toEqual([]);
    expect(seen.right).toBeGreaterThan(300);
    if (place !== "last") expect(seen.wrong).toBeGreaterThan(300); // the last integer may always be yet to come
    expect(seen.open).toBeGreaterThan(300);
  });

  it("an answer cut by the limit is right only when nothing after it could matter", () => {
    const reader = integerReader();
    const { vocabulary, id } = vocabularyOf();
    const broken: string[][] = [];
    for (const { answer, text, cut } of randomAnswers("cut", 12_000)) {
      const part = text.slice(0, cut);
      const tokens = [...part].map(id);
      const decoded = { tokens, text: part, ended: false, margins: tokens.map(() => 1) };
      const { verdict, unfinished } = judgeDecoded(decoded, answer, reader, vocabulary);
      if (verdict === "right" && reader.parse(text) !== answer) broken.push([part, text, answer]);
      if (unfinished && verdict === "right") broken.push([part, "unfinished and right"]);
    }
    expect(broken).toEqual([]);
  });
});

describe("judgeForced", () => {
  const reader = integerReader();
  const { vocabulary, id } = vocabularyOf();
  const judge = (written: readonly string[], answer: readonly string[]) => {
    const tokens = answer.map(id);
    const forced = forcedBy(
      written.map((p) => (p === "<end>" ? 0 : id(p))),
      tokens,
      (i) => 10 - i,
    );
    return judgeForced(forced, tokens, answer.join(""), reader, vocabulary);
  };
  const four = ["1", "2", "0", "4"];

  it.each([
    ["right, ended", [...four, "<end>"], "right"],
    ["right, a word after it", [...four, " is"], "right"],
    ["right, a new line after it", [...four, "\n"], "right"],
    ["another digit", ["1", "3"], "wrong"],
    ["other digits in one token", ["13"], "wrong"],
    ["more digits", [...four, "0"], "wrong"],
    ["ended early", ["1", "2", "<end>"], "wrong"],
    ["ended at once", ["<end>"], "wrong"],
    ["a word", ["The"], "wrong"],
    ["a comma", ["1", ","], "open"],
    ["a space first", [" "], "open"],
    ["a space and the digit", [" 1"], "open"],
    ["merged digits", ["12"], "open"],
    ["merged digits that pass the end", ["1", "2", "0", "41"], "wrong"],
    ["a leading zero", ["0"], "open"],
    ["a comma after it", [...four, ","], "open"],
    ["part of a character after it", [...four, "\uFFFD"], "open"],
    ["a sign", ["-"], "wrong"],
  ] as const)("%s", (_, written, verdict) => {
    expect(judge(written, four).verdict).toBe(verdict);
  });

  it("gives the smallest gap of a right answer, the end included, and how far behind a wrong one was", () => {
    expect(judge([...four, "<end>"], four)).toEqual({
      verdict: "right",
      margin: 6,
      confidence: 6,
      length: 5,
    });
    expect(judge(["1", "3"], four)).toEqual({
      verdict: "wrong",
      margin: -9,
      confidence: 9,
      length: 2,
    });
    expect(judge([...four, "0"], four).margin).toBe(-6);
  });

  describe("its confidence is how far the logits are from another verdict", () => {
    /** The model writes `written`; behind the most probable token come those of `near`, with their distances. */
    const confidenceOf = (
      written: readonly string[],
      near: Readonly<Record<number, readonly (readonly [string, number])[]>>,
    ) => {
      const tokens = four.map(id);
      const all = forcedBy(
        written.map((p) => (p === "<end>" ? 0 : id(p))),
        tokens,
        () => 10,
      );
      const runners = all.runners.map((far, i) => [
        ...(near[i] ?? []).map(([piece, behind]) => ({ token: piece === "<end>" ? 0 : id(piece), behind })),
        ...far,
      ]);
      return judgeForced({ ...all, runners }, tokens, "1204", reader, vocabulary).confidence;
    };

    it("wrong: another wrong digit, here or before, changes nothing", () => {
      expect(confidenceOf(["1", "3"], { 1: [["4", 0.1]] })).toBe(10);
      expect(confidenceOf(["1", "3"], { 0: [["7", 0.1]] })).toBe(10);
    });

    it("wrong: the right digit, or what may still become right, does", () => {
      const nearer: [string, number][] = [
        ["4", 0.1],
        ["2", 0.2],
      ];
      expect(confidenceOf(["1", "3"], { 1: nearer })).toBe(0.2);
      expect(confidenceOf(["1", "3"], { 1: [[",", 0.3]] })).toBe(0.3);
      expect(confidenceOf(["1", "3"], { 0: [[" ", 0.4]] })).toBe(0.4);
    });

    it("right: any other digit on the way does, another right end does not", () => {
      expect(confidenceOf([...four, "<end>"], { 2: [["1", 0.1]] })).toBe(0.1);
      expect(confidenceOf([...four, "<end>"], { 4: [["\n", 0.1]] })).toBe(10);
      expect(confidenceOf([...four, "<end>"], { 4: [["0", 0.1]] })).toBe(0.1);
    });
  });

  it("knows zero and the other word", () => {
    expect(judge(["0", "<end>"], ["0"]).verdict).toBe("right");
    expect(judge(["1"], ["0"]).verdict).toBe("wrong");
    expect(judge(["0", "0"], ["0"]).verdict).toBe("open");
    const words = wordReader(["Yes", "No"]);
    const forced = forcedBy([id("No"), 0], [id("Yes")], () => 2);
    expect(judgeForced(forced, [id("Yes")], "Yes", words, vocabulary)).toMatchObject({
      verdict: "wrong",
      margin: -2,
    });
  });
});

describe("judgeDecoded", () => {
  it("leaves out the margins of tokens after the answer was settled", () => {
    const { vocabulary, id } = vocabularyOf();
    const tokens = ["1", "2", ".", " So"].map(id);
    const decoded = { tokens, text: "12. So", ended: true, margins: [5, 4, 3, 0.1, 0.2] };
    const judged = judgeDecoded(decoded, "12", integerReader(), vocabulary);
    expect(judged).toEqual({ verdict: "right", margin: 3, confidence: 3, unfinished: false });
    expect(judgeDecoded(decoded, "13", integerReader(), vocabulary)).toMatchObject({
      verdict: "wrong",
      confidence: 4,
    });
  });
});
