import { describe, expect, it } from "vitest";
import { htmlPrompt } from "../../src/figures/html-prompt.js";

const prompt = {
  pieces: ["<|im_start|>", "user", "<b>", "a", "a"],
  tokens: Int32Array.of(1, 2, 3, 4, 4),
  spans: { items: Int32Array.of(3, 4), last: Int32Array.of(4), user: Int32Array.of(2, 3, 4) },
};

describe("htmlPrompt", () => {
  it("shows every token, escaped, and names its spans with their sizes", () => {
    const { html, text } = htmlPrompt(prompt);
    expect(html).toContain("items (2)");
    expect(html).not.toContain("last (1)");
    expect(html).toContain("&lt;b&gt;");
    expect(html).not.toContain("<b>");
    expect(text.split("|").length).toBeGreaterThanOrEqual(5);
  });

  it("takes the spans asked for and refuses unknown ones", () => {
    expect(htmlPrompt(prompt, ["last"]).html).toContain("last (1)");
    expect(() => htmlPrompt(prompt, ["tail"])).toThrow(/no span tail; this prompt has items, last, user/);
  });
});
