/**
 * The limiter card: one self-contained page for a horizon. It names the instance that ended it, what the model wrote,
 * how close it was, how to see it again, and whether other templates and quantisations fail there too.
 */
import { escapeHtml } from "./escape-html.js";
import type { ProvenanceRecord } from "./figure-spec.js";
import { formatNumber } from "./format-number.js";
import { REPORT_STYLE } from "./report-style.js";

/** The verdict on the card's instance somewhere else. */
export interface LimiterVerdict {
  /** Name of the template or quantisation. */
  readonly name: string;
  readonly right: boolean;
  /** What the model wrote. */
  readonly answer: string;
  /** Margin of the right answer (logits); negative where another token was preferred. */
  readonly margin?: number;
}

/** What a limiter card says. `limiterCardOf` makes it from a horizon. */
export interface LimiterCard {
  readonly model: string;
  readonly task: string;
  readonly horizon: number;
  /** The instance at which the horizon ends, as it is written: `4 × 23`. */
  readonly instance: string;
  readonly expected: string;
  /** The model's whole answer. */
  readonly answer: string;
  /** The prompt as the model got it. */
  readonly prompt: string;
  /** How far the right token was behind where the model left the answer (logits, not above 0). */
  readonly margin?: number;
  /** Command lines that show it again, by what they use: `llama-cli`, `curl`. */
  readonly commands: Readonly<Record<string, string>>;
  readonly templates?: readonly LimiterVerdict[];
  readonly quantisations?: readonly LimiterVerdict[];
  readonly provenance?: ProvenanceRecord;
}

/** The card as a page of HTML that loads nothing; every text escaped. The same card gives the same bytes. */
export function limiterCard(card: LimiterCard): string {
  const title = `${card.model}: ${card.task} horizon ${card.horizon}`;
  const margin =
    card.margin === undefined
      ? ""
      : `<div><dt>margin of the right answer</dt><dd>${formatNumber(card.margin)} logits</dd></div>`;
  const commands = Object.entries(card.commands).map(
    ([name, command]) => `<h3>${escapeHtml(name)}</h3><pre class="panel">${escapeHtml(command)}</pre>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${REPORT_STYLE}pre.panel{background:var(--panel);padding:.75rem 1rem;overflow-x:auto;font-size:.85rem;white-space:pre-wrap;overflow-wrap:anywhere}.right{color:var(--accent)}.wrong{color:var(--bad)}</style>
</head>
<body>
<header>
<h1>${escapeHtml(card.instance)}</h1>
<p class="lead">${escapeHtml(card.model)} makes no error in ${escapeHtml(card.task)} up to size ${card.horizon}, and this one after it.</p>
</header>
<section>
<dl>
<div><dt>right answer</dt><dd>${escapeHtml(card.expected)}</dd></div>
<div><dt>the model's answer</dt><dd class="wrong">${escapeHtml(card.answer === "" ? "(nothing)" : card.answer)}</dd></div>
${margin}
</dl>
</section>
<section><h2>Prompt</h2><pre class="panel">${escapeHtml(card.prompt)}</pre></section>
<section><h2>See it again</h2>${commands.join("\n")}</section>
${verdicts("Under other templates", card.templates)}${verdicts("In other quantisations", card.quantisations)}<footer>
<h2>Provenance</h2>
${provenance(card.provenance)}
</footer>
</body>
</html>
`;
}

function verdicts(title: string, rows: readonly LimiterVerdict[] | undefined): string {
  if (rows === undefined || rows.length === 0) return "";
  const lines = rows.map(
    (row) =>
      `<tr><td>${escapeHtml(row.name)}</td><td class="${row.right ? "right" : "wrong"}">${row.right ? "right" : "wrong"}</td>` +
      `<td>${row.margin === undefined ? "" : formatNumber(row.margin)}</td><td style="white-space:pre-wrap">${escapeHtml(row.answer)}</td></tr>`,
  );
  const failed = rows.filter((row) => !row.right).length;
  return `<section><h2>${escapeHtml(title)}</h2><p class="facts">wrong in ${failed} of ${rows.length}</p>
<table><thead><tr><th>name</th><th>verdict</th><th>margin (logits)</th><th>answer</th></tr></thead><tbody>${lines.join("")}</tbody></table></section>
`;
}

function provenance(record: ProvenanceRecord | undefined): string {
  const rows = Object.entries(record ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (rows.length === 0) return "<p>None was given.</p>";
  const text = (value: unknown): string =>
    typeof value === "object" ? JSON.stringify(value) : String(value);
  return `<dl>${rows.map(([key, value]) => `<div><dt>${escapeHtml(key)}</dt><dd>${escapeHtml(text(value))}</dd></div>`).join("")}</dl>`;
}
