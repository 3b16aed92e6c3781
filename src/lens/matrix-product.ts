/** `[row, inner] x [inner, column]` in F32, in blocks of bounded memory, interruptible. */
import { setImmediate } from "node:timers/promises";
import { TILE_COLUMNS, TILE_ROWS, tileFunction } from "./product-kernel.js";

export interface ProductOptions {
  readonly signal?: AbortSignal;
  /** After each pause: columns done. */
  readonly onColumns?: (done: number) => void;
}

/** Rows that one call takes. */
export const PRODUCT_ROWS = 256;
const PAGE = 65_536;
/** Terms summed in one go: partial sums keep the rounding of long F32 sums small. */
const PARTIAL = 128;
/** How long a stretch of work may keep interrupts and progress waiting. */
const PAUSE_MS = 40;

export interface Product {
  /** `a` is `[row, inner]`, at most 256 rows; fills `out`, `[row, column]`. */
  multiply(a: Float32Array, rows: number, out: Float32Array, options?: ProductOptions): Promise<void>;
}

/**
 * A product with a fixed right side, `b` `[inner, column]` row-major, which is read where it lies. Sums are of F32 in
 * parts of 128 terms: relative rounding about 1e-7 of the largest terms, as in BLAS.
 */
export function matrixProduct(b: Float32Array, inner: number, columns: number): Product {
  if (b.length !== inner * columns || inner < 1 || columns < 1) {
    throw new Error(`matrixProduct: ${b.length} numbers; expected ${inner} x ${columns}`);
  }
  const [panelAt, tileAt] = [PRODUCT_ROWS * inner, (PRODUCT_ROWS + TILE_COLUMNS) * inner];
  const numbers = tileAt + PRODUCT_ROWS * TILE_COLUMNS;
  const memory = new WebAssembly.Memory({ initial: Math.ceil((4 * numbers) / PAGE) });
  const tile = tileFunction(memory);
  const cells = new Float32Array(memory.buffer);

  /** Columns `from` on, `width` of them, as `[inner, 16]`, zero beyond. */
  function packPanel(from: number, width: number): void {
    if (width < TILE_COLUMNS) cells.fill(0, panelAt, tileAt);
    for (let k = 0, at = panelAt, source = from; k < inner; k++, at += TILE_COLUMNS, source += columns) {
      for (let j = 0; j < width; j++) cells[at + j] = b[source + j]!;
    }
  }

  return {
    async multiply(a, rows, out, { signal, onColumns } = {}) {
      if (rows < 1 || rows > PRODUCT_ROWS || a.length < rows * inner || out.length < rows * columns) {
        throw new Error(
          `matrixProduct: ${rows} rows; expected 1 to ${PRODUCT_ROWS}, with room for ${rows} x ${columns}`,
        );
      }
      const padded = Math.ceil(rows / TILE_ROWS) * TILE_ROWS;
      cells.set(a.subarray(0, rows * inner), 0);
      cells.fill(0, rows * inner, padded * inner);
      let paused = performance.now();
      for (let from = 0; from < columns; from += TILE_COLUMNS) {
        const width = Math.min(TILE_COLUMNS, columns - from);
        packPanel(from, width);
        cells.fill(0, tileAt, tileAt + padded * TILE_COLUMNS);
        for (let k = 0; k < inner; k += PARTIAL) {
          const terms = Math.min(PARTIAL, inner - k);
          const panel = 4 * (panelAt + k * TILE_COLUMNS);
          for (let row = 0; row < padded; row += TILE_ROWS) {
            const at = 4 * (tileAt + row * TILE_COLUMNS);
            tile(4 * (row * inner + k), panel, at, terms, 4 * inner, 4 * TILE_COLUMNS);
          }
        }
        for (let row = 0; row < rows; row++) {
          const at = tileAt + row * TILE_COLUMNS;
          for (let j = 0; j < width; j++) out[row * columns + from + j] = cells[at + j]!;
        }
        if (performance.now() - paused > PAUSE_MS) {
          await setImmediate();
          signal?.throwIfAborted();
          onColumns?.(from + width);
          paused = performance.now();
        }
      }
    },
  };
}
