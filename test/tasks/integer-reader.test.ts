import { describe, expect, it } from "vitest";
import { integerReader } from "../../src/tasks/integer-reader.js";
import { randomAnswers } from "./random-answers.js";

describe("integerReader", () => {
  it.each([
    ["1204", "1204"],
    [" 1,204", "1204"],
    ["01204", "1204"],
    ["1204.", "1204"],
    ["1204 is the answer", "1204"],
    ["12 04", "12"],
    ["12.5", "12"],
    ["1204\n5", "1204"],
    ["-7", "-7"],
    ["-0", "0"],
    ["000", "0"],
    ["The answer is 12", undefined],
    ["+12", undefined],
    ["", undefined],
    [",", undefined],
    ["-", undefined],
    ["١٢", undefined],
  ])("reads %j at the start as %j", (text, value) => {
    expect(integerReader().parse(text)).toBe(value);
  });

  it("reads the last integer, and the only one", () => {
    expect(integerReader("last").parse("4*6 = 24, so 1,024.")).toBe("1024");
    expect(integerReader("last").parse("none")).toBeUndefined();
    expect(integerReader("only").parse(" 1,024 ")).toBe("1024");
    expect(integerReader("only").parse("1024.")).toBeUndefined();
    expect(() => integerReader("first" as "start")).toThrow('integerReader: place "first"; expected "start"');
  });

  // What settle promises is checked against the parser on random continuations of random beginnings.
  it.each(["start", "only", "last"] as const)(
    "settles nothing that a continuation could change (%s)",
    (place) => {
      const reader = integerReader(place);
      let settled = 0;
      const broken: string[][] = [];
      for (const { answer, text, cut } of randomAnswers(place, 12_000)) {
        const before = reader.settle(text.slice(0, cut), answer);
        if (before === "open") continue;
        settled++;
        if ((reader.parse(text) === answer) !== (before === "right"))
          broken.push([answer, text, text.slice(0, cut)]);
      }
      expect(broken).toEqual([]);
      if (place !== "last") expect(settled).toBeGreaterThan(1_500);
    },
  );

  it("settles a different digit at once, and a separator never", () => {
    const { settle } = integerReader();
    expect(settle("13", "1204")).toBe("wrong");
    expect(settle("12041", "1204")).toBe("wrong");
    expect(settle("0", "1204")).toBe("open");
    expect(settle("1,", "1204")).toBe("open");
    expect(settle(" ", "1204")).toBe("open");
    expect(settle("1204", "1204")).toBe("open");
    expect(settle("1204,", "1204")).toBe("open");
    expect(settle("1204\n", "1204")).toBe("right");
    expect(settle("120 ", "1204")).toBe("wrong");
    expect(settle("-", "1204")).toBe("wrong");
    expect(settle("-", "-5")).toBe("open");
    expect(settle("00", "0")).toBe("open");
    expect(settle("1", "0")).toBe("wrong");
  });
});
