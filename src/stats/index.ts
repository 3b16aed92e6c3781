/** Statistics: methods named with their weaknesses, tails exact far out. No model is known here. */
export * from "./auc.js";
export * from "./bootstrap.js";
export * from "./change-point.js";
export * from "./cluster-robust.js";
export * from "./correlation.js";
export * from "./design.js";
export * from "./format-p.js";
export * from "./isotonic.js";
export * from "./least-squares.js";
export * from "./likelihood-ratio.js";
export * from "./logistic.js";
export * from "./mcnemar.js";
export * from "./proportion.js";
export * from "./quantiles.js";
export * from "./random.js";
export * from "./ranks.js";
export * from "./tails.js";
