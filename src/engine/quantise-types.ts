/** Quantisations that llama.cpp's quantiser makes without data of its own. */

/** Names as everybody writes them, with their `llama_ftype`. */
export const QUANTISATIONS = {
  F32: 0,
  F16: 1,
  BF16: 32,
  Q8_0: 7,
  Q6_K: 18,
  Q5_K_M: 17,
  Q5_K_S: 16,
  Q5_1: 9,
  Q5_0: 8,
  Q4_K_M: 15,
  Q4_K_S: 14,
  Q4_1: 3,
  Q4_0: 2,
  IQ4_NL: 25,
  IQ4_XS: 30,
  Q3_K_L: 13,
  Q3_K_M: 12,
  Q3_K_S: 11,
  Q2_K: 10,
} as const;

export type Quantisation = keyof typeof QUANTISATIONS;

const NEED_IMPORTANCE = /^(IQ1_[SM]|IQ2_(XXS|XS|S|M)|IQ3_(XXS|XS|S|M)|Q2_K_S)$/;

/** The name in its usual spelling; throws for what the quantiser cannot make. */
export function quantisationOf(name: string): Quantisation {
  const wanted = name.toUpperCase();
  if (wanted in QUANTISATIONS) return wanted as Quantisation;
  const known = Object.keys(QUANTISATIONS).join(", ");
  if (NEED_IMPORTANCE.test(wanted))
    throw new Error(
      `quantise: ${wanted} needs an importance matrix, which is not made here; expected one of ${known}`,
    );
  throw new Error(`quantise: no type ${JSON.stringify(name)}; expected one of ${known}`);
}
