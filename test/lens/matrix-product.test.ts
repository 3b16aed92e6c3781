import { describe, expect, it } from "vitest";
import { matrixProduct } from "../../src/lens/matrix-product.js";
import { random } from "../../src/stats/random.js";

const draw = random(3, "matrix product");
const numbers = (length: number) => Float32Array.from({ length }, () => draw.normal());

describe("matrixProduct", () => {
  it.each([
    [1, 1, 1],
    [3, 5, 7],
    [255, 33, 17],
    [256, 129, 16],
    [2, 1000, 40],
  ])("%i x %i by %i is what F64 sums give", async (rows, inner, columns) => {
    const [a, b] = [numbers(rows * inner), numbers(inner * columns)];
    const out = new Float32Array(rows * columns);
    await matrixProduct(b, inner, columns).multiply(a, rows, out);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        let sum = 0;
        for (let k = 0; k < inner; k++) sum += a[row * inner + k]! * b[k * columns + column]!;
        expect(Math.abs(out[row * columns + column]! - sum)).toBeLessThan(3e-7 * inner);
      }
    }
  });

  it("is not disturbed by what an earlier call left behind", async () => {
    const b = numbers(9 * 20);
    const product = matrixProduct(b, 9, 20);
    const [first, second] = [numbers(8 * 9), numbers(3 * 9)];
    const out = new Float32Array(8 * 20);
    await product.multiply(first, 8, out);
    await product.multiply(second, 3, out);
    const fresh = new Float32Array(3 * 20);
    await matrixProduct(b, 9, 20).multiply(second, 3, fresh);
    expect(out.slice(0, 60)).toEqual(fresh);
  });

  it("refuses shapes that do not fit", async () => {
    expect(() => matrixProduct(new Float32Array(5), 2, 3)).toThrow(/5 numbers; expected 2 x 3/);
    const product = matrixProduct(new Float32Array(6), 2, 3);
    await expect(product.multiply(new Float32Array(2), 257, new Float32Array(771))).rejects.toThrow(
      /257 rows/,
    );
  });
});
