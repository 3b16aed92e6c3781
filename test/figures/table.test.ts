import { describe, expect, it } from "vitest";
import { tableCsv, tableHtml, tableText, toDataFrame } from "../../src/figures/table.js";
import { HOSTILE } from "./browser-here.js";

const rows = [
  { model: "tally-25k", accuracy: 0.5498418528823589, errors: 4412 },
  { model: HOSTILE, accuracy: Number.NaN, errors: null },
];

describe("tableHtml", () => {
  it("shows hostile text as text, in cells, headings and caption", () => {
    const html = tableHtml([{ [HOSTILE]: HOSTILE }], { caption: HOSTILE });
    expect(html).not.toContain("<img");
    expect(html.split("&lt;img src=x onerror=alert(1)&gt;")).toHaveLength(4);
  });

  it("rounds to 6 digits, leaves missing cells empty and counts what it cuts", () => {
    expect(tableHtml(rows)).toContain(">0.549842</td>");
    expect(tableHtml(rows, { columns: ["errors"], limit: 1 })).toContain("… and 1 more rows");
    expect(tableHtml([])).toContain("<tbody></tbody>");
  });
});

describe("tableText", () => {
  it("aligns numbers right and words left", () => {
    const lines = tableText([
      { name: "a", n: 5 },
      { name: "long", n: 1234 },
    ]).split("\n");
    expect(lines).toEqual(["name     n", "a        5", "long  1234"]);
  });

  it("keeps one line a row whatever the text holds", () => {
    expect(tableText([{ a: "x\ny" }]).split("\n")).toHaveLength(2);
  });
});

describe("tableCsv", () => {
  it("writes provenance as comments, quotes where needed, NaN and missing as empty", () => {
    const csv = tableCsv([...rows, { model: 'say "1,000"\n', accuracy: Number.POSITIVE_INFINITY }], {
      seed: 1,
      model: { quantisation: "F16" },
    });
    expect(csv).toBe(
      '# seed: 1\n# model: {"quantisation":"F16"}\nmodel,accuracy,errors\ntally-25k,0.5498418528823589,4412\n' +
        `${HOSTILE},,\n"say ""1,000""\n",inf,\n`,
    );
  });

  it("quotes a first cell that would read as a comment", () => {
    expect(tableCsv([{ a: "# not a comment" }])).toBe('a\n"# not a comment"\n');
  });

  it("keeps a line feed in provenance from starting a row", () => {
    expect(tableCsv([{ a: 1 }], { note: "x\na,b" })).toBe("# note: x a,b\na\n1\n");
  });
});

describe("toDataFrame", () => {
  it("gives danfojs columns and rows", async () => {
    const frame = (await toDataFrame([
      { a: 1, b: "x" },
      { a: 2, b: "y" },
    ])) as { columns: string[]; shape: number[] };
    expect(frame.columns).toEqual(["a", "b"]);
    expect(frame.shape).toEqual([2, 2]);
  }, 180_000);

  it("refuses no rows", async () => {
    await expect(toDataFrame([])).rejects.toThrow("toDataFrame: no rows");
  });
});
