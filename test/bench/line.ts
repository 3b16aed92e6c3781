/** What a benchmark prints: one JSON line a figure. */
export interface Line {
  readonly bench: string;
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** How many measurements are behind the value. */
  readonly n: number;
  readonly context: Readonly<Record<string, unknown>>;
}

export type Emit = (line: Line) => void;

export interface Bench {
  readonly name: string;
  run(emit: Emit, args: string[]): Promise<void>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
