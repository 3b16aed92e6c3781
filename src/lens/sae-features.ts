/** SAE features of counting prompts: activations captured at the item tokens or the final token, encoded, and checked. */
import { type HookPoint, hookName } from "../engine/hooks.js";
import type { RunOptions } from "../engine/request.js";
import type { Model } from "../model/model.js";
import type { Prompt } from "../model/prompt.js";
import { type Provenance, provenance } from "../store/provenance.js";
import type { Sae } from "./sae.js";
import { encodeSae, type SparseActivations } from "./sae-encode.js";
import { type SaeFit, saeFit, saeHook } from "./sae-fit.js";

/** A prompt whose right answer is `count`. */
export interface CountedPrompt {
  readonly count: number;
  readonly prompt: Prompt;
}

/** At which tokens features are read. */
export interface SaeFeaturesOptions extends Pick<RunOptions, "signal" | "onProgress"> {
  /** `final token` (default): one row a prompt, its count. `item tokens`: a row for each item, counted from 1. */
  readonly position?: "final token" | "item tokens";
  /** Default: where the SAE says it was trained. */
  readonly hook?: HookPoint;
}

/** Features at counting prompts, a row for each count. */
export interface SaeFeatures {
  readonly position: "final token" | "item tokens";
  readonly hook: HookPoint;
  /** `[position]`: the count that goes with each row. */
  readonly counts: Int32Array;
  /** `[position, d_model]` */
  readonly rows: Float32Array;
  readonly acts: SparseActivations;
  /** How well the SAE rebuilds the rows. A `warning` in it has also been printed. */
  readonly fit: SaeFit;
  readonly provenance: Provenance;
}

/**
 * Captures, encodes and checks. At item tokens the count is the item's number in its list, so one long list gives as many
 * rows as it has items; count and token position are then the same thing up to a shift, and only lists after filler of
 * different lengths tell them apart. An item of several tokens is read at its last one.
 *
 * @throws for no prompts, prompts without items, an SAE of another width, a layer out of range
 * @example
 * const prompts = await lm.prompts(counts.map((n) => tasks.countingPrompt(n)));
 * const final = await lens.saeFeatures(lm, sae, counts.map((count, i) => ({ count, prompt: prompts[i] })));
 */
export async function saeFeatures(
  model: Model,
  sae: Sae,
  prompts: readonly CountedPrompt[],
  options: SaeFeaturesOptions = {},
): Promise<SaeFeatures> {
  const { position = "final token", ...run } = options;
  if (prompts.length === 0) throw new Error("saeFeatures: no prompts; expected at least one");
  const hook = saeHook(model, sae, options.hook);
  const places = prompts.map(({ count, prompt }) => {
    if (position === "final token") return { positions: [prompt.tokens.length - 1], counts: [count] };
    const items = prompt.spans.items;
    if (items === undefined || items.length === 0)
      throw new Error(
        `saeFeatures: the prompt of count ${count} has no span items; expected a counting prompt`,
      );
    return { positions: Array.from(items), counts: Array.from(items, (_, i) => i + 1) };
  });
  const counts = Int32Array.from(places.flatMap((place) => place.counts));
  const rows = new Float32Array(counts.length * sae.width);
  const requests = prompts.map(({ prompt }, i) => ({
    tokens: prompt.tokens,
    captures: [{ hook, positions: places[i]!.positions }],
  }));
  let filled = 0;
  const { hook: _, ...runOptions } = run;
  for await (const { result } of model.stream(requests, runOptions)) {
    const { data } = result.captures[0]!;
    rows.set(data, filled);
    filled += data.length;
  }
  const acts = await encodeSae(sae, rows, runOptions);
  const fit = saeFit(sae, rows, acts, hook);
  if (fit.warning !== undefined) console.warn(fit.warning);
  return {
    position,
    hook,
    counts,
    rows,
    acts,
    fit,
    provenance: provenance({
      model,
      notes: { lens: "SAE features", sae: sae.name, form: sae.form, hook: hookName(hook), position },
    }),
  };
}
