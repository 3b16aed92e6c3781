/**
 * ggml's tensor types: how many elements a block holds and how many bytes it takes (`ggml.h` and `gguf-py`'s
 * `GGML_QUANT_SIZES` of the release in `backend.ts`), and the names of file types (`llama_ftype`).
 */

export interface TensorType {
  readonly name: string;
  /** Elements in a block; the first dimension is a whole number of blocks. */
  readonly block: number;
  /** Bytes a block takes. */
  readonly bytes: number;
}

const rows: readonly (readonly [id: number, name: string, block: number, bytes: number])[] = [
  [0, "F32", 1, 4],
  [1, "F16", 1, 2],
  [2, "Q4_0", 32, 18],
  [3, "Q4_1", 32, 20],
  [6, "Q5_0", 32, 22],
  [7, "Q5_1", 32, 24],
  [8, "Q8_0", 32, 34],
  [9, "Q8_1", 32, 36],
  [10, "Q2_K", 256, 84],
  [11, "Q3_K", 256, 110],
  [12, "Q4_K", 256, 144],
  [13, "Q5_K", 256, 176],
  [14, "Q6_K", 256, 210],
  [15, "Q8_K", 256, 292],
  [16, "IQ2_XXS", 256, 66],
  [17, "IQ2_XS", 256, 74],
  [18, "IQ3_XXS", 256, 98],
  [19, "IQ1_S", 256, 50],
  [20, "IQ4_NL", 32, 18],
  [21, "IQ3_S", 256, 110],
  [22, "IQ2_S", 256, 82],
  [23, "IQ4_XS", 256, 136],
  [24, "I8", 1, 1],
  [25, "I16", 1, 2],
  [26, "I32", 1, 4],
  [27, "I64", 1, 8],
  [28, "F64", 1, 8],
  [29, "IQ1_M", 256, 56],
  [30, "BF16", 1, 2],
  [34, "TQ1_0", 256, 54],
  [35, "TQ2_0", 256, 66],
  [39, "MXFP4", 32, 17],
  [40, "NVFP4", 64, 36],
  [41, "Q1_0", 128, 18],
  [42, "Q2_0", 64, 18],
];

export const TENSOR_TYPES: ReadonlyMap<number, TensorType> = new Map(
  rows.map(([id, name, block, bytes]) => [id, { name, block, bytes }]),
);

const FILE_TYPES: Readonly<Record<number, string>> = {
  0: "all F32",
  1: "F16",
  2: "Q4_0",
  3: "Q4_1",
  7: "Q8_0",
  8: "Q5_0",
  9: "Q5_1",
  10: "Q2_K - Medium",
  11: "Q3_K - Small",
  12: "Q3_K - Medium",
  13: "Q3_K - Large",
  14: "Q4_K - Small",
  15: "Q4_K - Medium",
  16: "Q5_K - Small",
  17: "Q5_K - Medium",
  18: "Q6_K",
  19: "IQ2_XXS",
  20: "IQ2_XS",
  21: "Q2_K - Small",
  22: "IQ3_XS",
  23: "IQ3_XXS",
  24: "IQ1_S",
  25: "IQ4_NL",
  26: "IQ3_S",
  27: "IQ3_M",
  28: "IQ2_S",
  29: "IQ2_M",
  30: "IQ4_XS",
  31: "IQ1_M",
  32: "BF16",
  36: "TQ1_0",
  37: "TQ2_0",
  38: "MXFP4 MoE",
  39: "NVFP4",
  40: "Q1_0",
  41: "Q2_0",
};

/** The name of a `general.file_type`; without one (or an unknown one), the type most tensors have. */
export function fileTypeName(fileType: number | undefined, tensorTypes: readonly string[]): string {
  const known = fileType === undefined ? undefined : FILE_TYPES[fileType];
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (const type of tensorTypes) counts.set(type, (counts.get(type) ?? 0) + 1);
  let most = "no tensors";
  for (const [type, count] of counts) if (count > (counts.get(most) ?? 0)) most = type;
  return most;
}
