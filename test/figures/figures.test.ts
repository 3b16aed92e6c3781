import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { columnPixels, type FigureSpec } from "../../src/figures/figure-spec.js";
import { drawPng } from "../../src/figures/render.js";
import { theme } from "../../src/figures/theme.js";
import { HOSTILE, hasBrowser } from "./browser-here.js";
import { figures } from "./example-figures.js";

const pictures = join(import.meta.dirname, "__pictures__");
const snapshots = join(import.meta.dirname, "__snapshots__");

/** A spec without its theme (which has a snapshot of its own), floating-point noise and most of its points. */
function summary(figure: FigureSpec): string {
  const shortened = (value: unknown): unknown => {
    if (typeof value === "number") return Number(value.toPrecision(6));
    if (Array.isArray(value)) {
      const kept = value.length > 14 ? [...value.slice(0, 12), `... ${value.length}`] : value;
      return kept.map(shortened);
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== "template")
        .map(([k, v]) => [k, shortened(v)]),
    );
  };
  return `${JSON.stringify(shortened(figure), null, 1)}\n`;
}

/** A changed figure leaves its new picture beside the old one, to be looked at before the snapshot is taken over. */
async function keepPicture(
  name: string,
  figure: FigureSpec,
  before: string | undefined,
  text: string,
): Promise<void> {
  const [old, fresh] = [join(pictures, `${name}.png`), join(pictures, `${name}.new.png`)];
  if (before === text) {
    if (existsSync(fresh)) renameSync(fresh, old);
  } else if (hasBrowser) {
    mkdirSync(pictures, { recursive: true });
    writeFileSync(before === undefined ? old : fresh, await drawPng(figure, 3));
  }
}

describe("figure specs", () => {
  it.each(Object.entries(figures))(
    "%s is as it was",
    async (name, make) => {
      const figure = make();
      const file = join(snapshots, `${name}.json`);
      const text = summary(figure);
      await keepPicture(name, figure, existsSync(file) ? readFileSync(file, "utf8") : undefined, text);
      await expect(text).toMatchFileSnapshot(file);
    },
    300_000,
  );

  it("has a theme of its own snapshot", async () => {
    await expect(
      `${JSON.stringify([theme("light"), theme("dark"), theme("print")], null, 1)}\n`,
    ).toMatchFileSnapshot(join(snapshots, "theme.json"));
  });

  it.each(Object.entries(figures))("%s is plain data, in its column, with caption and rows", (_, make) => {
    const figure = make();
    expect(JSON.parse(JSON.stringify(figure)).meta.caption).toBe(figure.meta.caption);
    expect(figure.layout.width).toBe(columnPixels(figure.meta.width));
    expect(figure.meta.caption).toMatch(/\.$/);
    expect(figure.meta.rows.length).toBeGreaterThan(0);
    expect(make()).toEqual(figure);
  });

  it.each(Object.entries(figures))("%s lets no text from outside be read as markup", (_, make) => {
    const { data, layout } = make();
    // Plotly's own tags that figures use are the only `<` there may be.
    for (const text of strings({ data, layout })) {
      expect(text.replace(/<\/?(b|br|extra|span)( style="font-size:[\d.]+px")?>/g, "")).not.toMatch(/<|\$/);
      expect(text).not.toContain("<b>bold");
    }
  });

  it("the hostile text is there at all", () => {
    const all = Object.values(figures).flatMap((make) => strings(make().data));
    expect(all.some((text) => text.includes("&lt;img src=x onerror=alert(1)&gt;"))).toBe(true);
    expect(all.some((text) => text.includes(HOSTILE))).toBe(false);
  });
});

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}
