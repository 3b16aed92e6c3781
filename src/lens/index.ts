/** Lenses: what goes on inside a model. */

export * from "./attention-knockout.js";
export * from "./clamp.js";
export * from "./clamp-effects.js";
export * from "./count-probe.js";
export * from "./counting-activations.js";
export * from "./edited-answers.js";
export type { ForcedCount } from "./forced-answers.js";
export * from "./forced-margin.js";
export * from "./gap-claim.js";
export * from "./logit-gap.js";
export * from "./logit-lens.js";
export * from "./overtaking.js";
export * from "./patch-claim.js";
export * from "./patch-counts.js";
export * from "./patch-effects.js";
export * from "./patch-sweep.js";
export * from "./position-sets.js";
export * from "./probe-claim.js";
export * from "./probe-collapse.js";
export type { ProbeEstimator, ProbeRows } from "./probe-direction.js";
export * from "./probe-fit.js";
export * from "./probe-held-out.js";
export * from "./probe-position.js";
export * from "./probe-transfer.js";
export * from "./resample.js";
export * from "./stable-counts.js";
export * from "./steering.js";
