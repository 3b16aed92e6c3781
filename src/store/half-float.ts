/** 16-bit floating-point numbers, widened exactly to 32 bits. */

/** IEEE half precision (F16) to float32: exact, subnormals, infinities and NaN included. */
export function halfToFloat(bits: Uint16Array): Float32Array {
  const out = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = halfBits(bits[i]!);
  return new Float32Array(out.buffer);
}

/** bfloat16 (BF16) to float32: the upper half of the same number. */
export function bfloatToFloat(bits: Uint16Array): Float32Array {
  const out = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = bits[i]! << 16;
  return new Float32Array(out.buffer);
}

function halfBits(h: number): number {
  const sign = (h & 0x8000) << 16;
  const exponent = (h >>> 10) & 31;
  let fraction = h & 0x3ff;
  if (exponent === 31) return sign | 0x7f800000 | (fraction << 13);
  if (exponent > 0) return sign | ((exponent + 112) << 23) | (fraction << 13);
  if (fraction === 0) return sign;
  let e = 113; // subnormal: shift until the leading bit is the hidden one
  while ((fraction & 0x400) === 0) {
    fraction <<= 1;
    e--;
  }
  return sign | (e << 23) | ((fraction & 0x3ff) << 13);
}
