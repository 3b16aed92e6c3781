/** Lenses: what goes on inside a model. */
export * from "./logit-lens.js";
export * from "./patch-sweep.js";
