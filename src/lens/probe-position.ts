/** Count and position are confounded in a list that always starts at the same token: what a probe reads with position taken out. */
import { design } from "../stats/design.js";
import { leastSquares } from "../stats/least-squares.js";

/** Count and position, each with the other taken out. */
export interface PositionPartial {
  /** Share of what position leaves unexplained in the count read that the true count explains: squared partial correlation. */
  readonly r2: number;
  /** The same for position, with the true count taken out: near 0 for a probe of the count. */
  readonly position: number;
  /** Squared correlation of position and count in these rows: what filler has left of the confound. */
  readonly confound: number;
}

/**
 * Both are linear: a count read through a curve of the position would pass. Null where position follows from the count (lists
 * without filler), because the two cannot then be told apart.
 *
 * @param read counts read, held out, `[row]`
 */
export function positionPartial(
  read: ArrayLike<number>,
  counts: ArrayLike<number>,
  positions: ArrayLike<number>,
): PositionPartial | null {
  if (read.length !== counts.length || read.length !== positions.length || read.length < 4)
    throw new Error(
      `positionPartial: ${read.length} readings, ${counts.length} counts, ${positions.length} positions; expected as many of each, at least 4`,
    );
  if (new Set(Array.from(positions)).size < 2) return null;
  const confound = leastSquares(design({ position: positions }), counts).r2;
  if (confound > 1 - 1e-6) return null;
  const { coefficients } = leastSquares(design({ count: counts, position: positions }), read);
  const of = (name: string): number => coefficients.find((one) => one.name === name)?.partialR2 ?? Number.NaN;
  return { r2: of("count"), position: of("position"), confound };
}
