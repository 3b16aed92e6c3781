/** How many sizes to verify at once (first paper, section 4.2). */

/**
 * Sizes of the next batch, from `next` up: as many more instances as have been verified already, at least one size. So a
 * horizon of 0 costs the instances of size 1 alone, and no search verifies more than about twice what a size-by-size
 * search would, plus one size (the paper batches a fixed number ahead, and is slower than naive at horizon 0: Table 8).
 *
 * @param verified instances verified so far
 * @param last largest size to try
 * @param count instances of a size
 */
export function nextSizes(
  next: number,
  last: number,
  verified: number,
  count: (size: number) => number,
): number[] {
  const sizes: number[] = [];
  let instances = 0;
  for (let size = next; size <= last; size++) {
    const more = count(size);
    if (sizes.length > 0 && instances + more > verified) break;
    sizes.push(size);
    instances += more;
  }
  return sizes;
}
