/** Lenses: what goes on inside a model. */
export * from "./logit-lens.js";
export * from "./patch-sweep.js";
export * from "./probe-fit.js";
