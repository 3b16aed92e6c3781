import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { htmlActivation } from "../../src/figures/html-activation.js";
import { colorAt, DIVERGING } from "../../src/figures/palette.js";
import { HOSTILE } from "./browser-here.js";

const residual = (data: number[], width: number, kind = "residPost", layer = 3) => ({
  hook: { kind, layer },
  positions: Int32Array.from({ length: data.length / width }, (_, i) => i + 5),
  width,
  data: Float32Array.from(data),
});

/** Pixels of the picture in the HTML: `[row][column]` as `#rrggbb`. */
function pixels(html: string): string[][] {
  const png = Buffer.from(/src="data:image\/png;base64,([^"]+)"/.exec(html)![1]!, "base64");
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const start = png.indexOf("IDAT");
  const lines = inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)));
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => {
      const at = y * (width * 3 + 1) + 1 + x * 3;
      return `#${lines.subarray(at, at + 3).toString("hex")}`;
    }),
  );
}

describe("htmlActivation", () => {
  it("says where, what shape and what size, and draws rows downwards", () => {
    const { html, text } = htmlActivation(residual([-2, 0, 2, 2, 0, -2], 3));
    expect(text).toBe("residPost(3) [position 2, d_model 3]: mean 0, sd 1.63, largest |value| 2");
    expect(html).toContain("rows: positions 5, 6");
    const [low, middle, high] = [0, 0.5, 1].map((t) => colorAt(DIVERGING, Math.round(255 * t) / 255));
    expect(pixels(html)).toEqual([
      [low, middle, high],
      [high, middle, low],
    ]);
  });

  it("names the second axis of heads and patterns, and places without a layer", () => {
    expect(htmlActivation(residual([1, 2], 2, "attnPattern")).text).toContain("head x key position 2]");
    expect(htmlActivation(residual([1, 2], 2, "embed", -1)).text).toMatch(
      /^embed\(\) \[position 1, d_model 2\]/,
    );
  });

  it("lets values share a pixel where there are too many, and shows the one farthest from 0", () => {
    const data = new Array<number>(1024).fill(0.1);
    data[701] = -9;
    const { html } = htmlActivation(residual(data, 1024));
    const [row] = pixels(html);
    expect(row).toHaveLength(512);
    expect(row![350]).toBe(colorAt(DIVERGING, 0));
    expect(html).toContain("a pixel: 1 x 2 values");
  });

  it("counts what is not finite, and takes nothing and zeros", () => {
    const { html, text } = htmlActivation(residual([Number.NaN, 1, -1, Number.POSITIVE_INFINITY], 2));
    expect(text).toContain("largest |value| 1, 2 not finite");
    expect(pixels(html)[0]![0]).toBe("#bdbdbd");
    expect(pixels(htmlActivation(residual([0, 0], 2)).html)[0]![0]).toBe(colorAt(DIVERGING, 128 / 255));
    expect(htmlActivation(residual([], 2)).html).not.toContain("<img");
  });

  it("shows a hostile name as text", () => {
    const { html } = htmlActivation(residual([1], 1, HOSTILE));
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(html.match(/<img/g)).toHaveLength(1);
  });
});
