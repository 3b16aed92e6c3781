import { describe, expect, it } from "vitest";
import { type LimiterCard, limiterCard } from "../../src/figures/limiter-card.js";
import { HOSTILE } from "./browser-here.js";

const card: LimiterCard = {
  model: "tally-400k",
  task: "multiplication",
  horizon: 22,
  instance: "4 × 23",
  expected: "92",
  answer: "86",
  prompt: "<|im_start|>user\n4*23=<|im_end|>\n<|im_start|>assistant\n",
  margin: -1.2345,
  commands: {
    "llama-cli": "llama-cli -m tally.gguf -p '4*23='",
    curl: "curl http://127.0.0.1:8080/v1/chat/completions",
  },
  templates: [
    { name: "baseline", right: false, answer: "86", margin: -1.2345 },
    { name: "compute", right: true, answer: "92" },
  ],
  quantisations: [{ name: "Q4_K_M", right: false, answer: "" }],
  provenance: { sha256: "ab12", settings: { threads: 2 } },
};

describe("limiterCard", () => {
  it("shows the instance, both answers, the margin, the commands, the verdicts and the provenance", () => {
    const html = limiterCard(card);
    for (const part of [
      "4 × 23",
      ">92<",
      ">86<",
      "−1.23 logits",
      "llama-cli -m tally.gguf",
      "wrong in 1 of 2",
      "Q4_K_M",
      "ab12",
      "up to size 22",
    ]) {
      expect(html).toContain(part);
    }
    expect(html).toContain("&lt;|im_start|&gt;user\n4*23=");
  });

  it("leaves out what is not known", () => {
    const { templates: _, quantisations: __, margin: ___, provenance: ____, ...rest } = card;
    const html = limiterCard({ ...rest, answer: "" });
    expect(html).not.toMatch(/Under other templates|In other quantisations|margin of/);
    expect(html).toContain("(nothing)");
    expect(html).toContain("None was given.");
  });

  it("shows hostile text as text and loads nothing", () => {
    const verdict = { name: HOSTILE, right: false, answer: HOSTILE };
    const html = limiterCard({
      ...card,
      model: HOSTILE,
      task: HOSTILE,
      instance: HOSTILE,
      expected: HOSTILE,
      answer: HOSTILE,
      prompt: HOSTILE,
      commands: { [HOSTILE]: HOSTILE },
      templates: [verdict],
      quantisations: [verdict],
      provenance: { [HOSTILE]: HOSTILE },
    });
    expect(html).not.toContain("<img");
    expect(html).not.toMatch(/<[^>]*\ssrc=|<script|@import|url\(/);
  });
});
