import { describe, expect, it } from "vitest";
import { compileForms, PRODUCT_FORMS } from "../../src/store/corpus-forms.js";

describe("compileForms", () => {
  const { judge } = compileForms(PRODUCT_FORMS, [1, 99]);

  it("reads every form, with any blank, in any case", () => {
    for (const form of PRODUCT_FORMS)
      expect(judge(form.replace("{a}", "7").replace("{b}", "12"))).toEqual({ a: 7, b: 12, form });
    expect(judge("3\u00a0x\t4")).toEqual({ a: 3, b: 4, form: "{a} x {b}" });
    expect(judge("3 TIMES 4")?.form).toBe("{a} times {b}");
    expect(judge("3 X 4")?.form).toBe("{a} x {b}");
  });

  it("turns down candidates that carry a joint, and operands out of range", () => {
    for (const text of ["1.3*4", "3*4.5", "3*4*5", "2-3*4", "100*4", "", "3*", "03*4"])
      expect(judge(text)).toBeUndefined();
    expect(compileForms(["{a}*{b}"], [2, 20]).judge("21*3")).toBeUndefined();
    expect(compileForms(["{a}*{b}"], [2, 20]).judge("1*3")).toBeUndefined();
  });

  it("refuses forms that would count something else", () => {
    expect(() => compileForms([], [1, 99])).toThrow("compileForms: no forms");
    expect(() => compileForms(["{a}{b}"], [1, 99])).toThrow('form "{a}{b}"');
    expect(() => compileForms(["{a} {b}"], [1, 99])).toThrow('form "{a} {b}"');
    expect(() => compileForms(["{a}/{b}"], [1, 99])).toThrow("writes dates and numbers");
    expect(() => compileForms(["{a}x{b}", "{a}X{b}"], [1, 99])).toThrow("a form stands twice");
    expect(() => compileForms(["{b}*{a}"], [1, 99])).toThrow('form "{b}*{a}"');
    expect(() => compileForms(["{a}*{b}"], [0, 99])).toThrow("operands 0..99");
  });
});
