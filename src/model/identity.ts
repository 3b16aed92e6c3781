/** What a model's numbers depend on: what trials and captures are found again by. */
import type { Json } from "../store/provenance.js";
import type { Model } from "./model.js";

/**
 * Weights, library, and every setting that can move a logit. Threads are not among them (each element is computed by one
 * thread, in the same order), nor is the processor: its instructions round differently in the last digit, and
 * pieces of one run come from several machines.
 */
export function modelIdentity({ sha256, info, template }: Model): Json {
  const { flashAttention, kvType, opOffload, gpuLayers, chunkTokens } = info.settings;
  const { llamaVersion, backend, context } = info;
  return {
    sha256,
    llamaVersion,
    backend,
    flashAttention,
    kvType,
    opOffload,
    gpuLayers,
    chunkTokens,
    context,
    template,
  };
}
