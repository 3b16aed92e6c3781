/**
 * What makes a multiplication hard or familiar: features of an instance a x b and of a wrong answer. Operands are whole
 * numbers from 0.
 */

/** Digits of a whole number, ones first. */
function digits(value: number): number[] {
  const found = [value % 10];
  for (let rest = Math.floor(value / 10); rest > 0; rest = Math.floor(rest / 10)) found.push(rest % 10);
  return found;
}

/**
 * The paper's carry (section 3.2): some digit of a times some digit of b is 10 or more. A coarse feature: 8,982 of the
 * 9,801 pairs up to 99 have one, and those without are mostly small, so that it stands for size as much as for carries.
 */
export function hasCarry(a: number, b: number): boolean {
  return Math.max(...digits(a)) * Math.max(...digits(b)) >= 10;
}

/**
 * Number of non-zero carries in schoolbook long multiplication: within each row (a times one digit of b, from the ones
 * on), then in adding the rows, column by column. A carry out of the leading digit counts: 9 x 9 has one. Where `hasCarry`
 * holds there is at least one; without it the addition may still carry (33 x 33 has two). Which operand is written below
 * can matter: `carries(3, 67)` is 3, `carries(67, 3)` is 2.
 */
export function carries(a: number, b: number): number {
  let count = 0;
  const columns: number[] = [];
  const above = digits(a);
  digits(b).forEach((below, shift) => {
    let carry = 0;
    for (let i = 0; i < above.length || carry > 0; i += 1) {
      const value = (above[i] ?? 0) * below + carry;
      columns[i + shift] = (columns[i + shift] ?? 0) + (value % 10);
      carry = Math.floor(value / 10);
      if (carry > 0) count += 1;
    }
  });
  let carry = 0;
  for (const column of columns) {
    carry = Math.floor((column + carry) / 10);
    if (carry > 0) count += 1;
  }
  return count;
}

/**
 * A structured error (equation 2): |predicted - expected| is 10, 20, ..., or 100, so that the ones digit is right. An
 * answer without an integer is not structured.
 */
export function isStructured(predicted: number | null, expected: number): boolean {
  if (predicted === null) return false;
  const error = Math.abs(predicted - expected);
  return error >= 10 && error <= 100 && error % 10 === 0;
}

/** log10(a b): the size of the product, 0 for 1 x 1. Operands from 1. */
export function log10Product(a: number, b: number): number {
  return Math.log10(a * b);
}

/** log10 max(a, b): the size by which the Zero-Error Horizon counts. Operands from 1. */
export function log10Larger(a: number, b: number): number {
  return Math.log10(Math.max(a, b));
}
