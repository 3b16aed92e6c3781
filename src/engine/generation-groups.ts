/** Which requests are generated together: as many as share enough of their prompts. */
import type { EngineInfo } from "./engine.js";
import { MAX_LEAVES } from "./schedule.js";
import type { PlacedRequest } from "./validate.js";

/** KV cache given to one group, in bytes. */
const GROUP_BYTES = 512e6;
/**
 * Unshared prompt tokens of a group beyond its first prompt, at least. On a model of 135M and one thread, items patched, an answer cost
 * 97 ms at 190, 136 at 380 and 176 at 760.
 */
const OWN_TOKENS = 192;

/**
 * Consecutive requests that fit the sequence ids and the memory of a group, all with the room they may need. A token is weighed against
 * every cell of the cache before those of other sequences are masked, and soon that costs more than the weights do; so what prompts do not
 * share with one before them in their group is also held small, or as small as the group's first prompt.
 */
export function groupsOf<S extends { readonly placed: PlacedRequest }>(
  info: EngineInfo,
  sequences: readonly S[],
  maxTokens: number,
  unshared: boolean,
): S[][] {
  const { kvBytesPerToken, parameters, width, layers, settings } = info;
  // Measured on CPUs; a GPU would rather have large batches.
  const mostOwn =
    settings.gpuLayers !== 0
      ? Number.POSITIVE_INFINITY
      : Math.max(OWN_TOKENS, parameters / (32 * width * layers));
  const groups: S[][] = [];
  let [cells, own] = [0, 0];
  for (const sequence of sequences) {
    const { tokens, privateFrom } = sequence.placed;
    const group = groups.at(-1) ?? [];
    const mostShared = unshared ? 0 : Math.min(privateFrom, tokens.length);
    const shared = Math.max(0, ...group.map(({ placed }) => sharedLength(placed.tokens, tokens, mostShared)));
    const needed = tokens.length + maxTokens;
    const ownTokens = tokens.length - shared;
    const full =
      group.length === 0 ||
      group.length >= MAX_LEAVES ||
      (cells + needed) * kvBytesPerToken > GROUP_BYTES ||
      own + ownTokens > Math.max(mostOwn, group[0]!.placed.tokens.length);
    if (full) groups.push([sequence]);
    else group.push(sequence);
    cells = full ? needed : cells + needed;
    own = full ? 0 : own + ownTokens;
  }
  return groups;
}

/** Tokens that two prompts begin with alike, counted to `most`. */
function sharedLength(a: Int32Array, b: Int32Array, most: number): number {
  let length = 0;
  while (length < most && length < a.length && a[length] === b[length]) length++;
  return length;
}
