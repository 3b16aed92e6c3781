/**
 * Memory for the arrays of one answer after the other, for whoever is done with each before the next: memory that is there already
 * is written several times as fast as new memory, and nothing waits for the garbage collector, which does not hurry for large arrays.
 */

/** What is kept for the next answer, at most. */
const KEEP_BYTES = 32 * 2 ** 20;

export class Arena {
  #block: ArrayBuffer;
  #used = 0;
  #wanted = 0;

  /** `bytes`: what the first answer will need, where that is known. */
  constructor(bytes = 0) {
    this.#block = new ArrayBuffer(Math.min(bytes, KEEP_BYTES));
  }

  /** Zeros, to be used until `reset`. */
  readonly allocate = (length: number): Float32Array<ArrayBuffer> => {
    const bytes = Float32Array.BYTES_PER_ELEMENT * length;
    this.#wanted += bytes;
    if (this.#used + bytes > this.#block.byteLength) return new Float32Array(length);
    const array = new Float32Array(this.#block, this.#used, length).fill(0);
    this.#used += bytes;
    return array;
  };

  /** The arrays given out so far will not be used any more. */
  reset(): void {
    const wanted = Math.min(this.#wanted, KEEP_BYTES);
    // To the next power of two: answers that grow little by little do not each need a block.
    if (wanted > this.#block.byteLength) this.#block = new ArrayBuffer(2 ** Math.ceil(Math.log2(wanted)));
    this.#used = 0;
    this.#wanted = 0;
  }
}
