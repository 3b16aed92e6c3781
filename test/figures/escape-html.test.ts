import { describe, expect, it } from "vitest";
import { escapeHtml, escapeLabel, shorten, visibleToken } from "../../src/figures/escape-html.js";
import { HOSTILE } from "./browser-here.js";

describe("escapeHtml", () => {
  it("leaves no markup and no quote", () => {
    expect(escapeHtml(HOSTILE)).toBe("&lt;img src=x onerror=alert(1)&gt;");
    expect(escapeHtml(`a"b'c&d`)).toBe("a&quot;b&#39;c&amp;d");
  });

  it("gives nothing for null and undefined, and text for numbers", () => {
    expect(escapeHtml(null) + escapeHtml(undefined) + escapeHtml(3)).toBe("3");
  });
});

describe("escapeLabel", () => {
  it("escapes plotly's markup, entities and TeX", () => {
    expect(escapeLabel("<b>$x$</b> &lt;")).toBe("&lt;b&gt;&#36;x&#36;&lt;/b&gt; &amp;lt;");
  });

  it("writes out control, invisible and direction-changing characters and lone surrogates", () => {
    expect(escapeLabel("a\u0000b\u202ec\u200bd\ud83de")).toBe("aU+0000bU+202EcU+200BdU+D83De");
  });

  it("keeps ordinary text of any script", () => {
    expect(escapeLabel("Zürich 東京 😀 é")).toBe("Zürich 東京 😀 é");
  });
});

describe("visibleToken", () => {
  it("shows what cannot be seen", () => {
    expect(visibleToken(" the\n\t")).toBe("·the⏎⇥");
    expect(visibleToken("\u001b[31m")).toBe("U+001B[31m");
  });
});

describe("shorten", () => {
  it("cuts by characters, not by code units", () => {
    expect(shorten("😀😀😀", 3)).toBe("😀😀😀");
    expect(shorten("😀😀😀😀", 3)).toBe("😀😀…");
  });
});
