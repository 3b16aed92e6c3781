/**
 * countlens: language-model interpretability on GGUF models, in notebooks.
 *
 * The public API, in the order in which a notebook meets it.
 */

// Rooms: `tasks.multiplication()`, `assays.zeroErrorHorizon(model, task)`, `figures.errorGrid(rows)`, ...
export * as assays from "./assays/index.js";
export { type Verification, verify } from "./assays/verify-result.js";
export * as endpoints from "./endpoints/index.js";
export type { Engine, EngineInfo, EngineSettings } from "./engine/engine.js";
// What can be asked of one
export {
  attnOut,
  attnPattern,
  embed,
  finalNorm,
  type HookKind,
  type HookPoint,
  heads,
  hookName,
  mlpOut,
  residMid,
  residPost,
  residPre,
} from "./engine/hooks.js";
export type * from "./engine/request.js";
// Showing, saving, citing
export { exportFigure } from "./figures/export.js";
export * as figures from "./figures/index.js";
export { progress } from "./figures/progress.js";
export { show } from "./figures/show.js";
export * as lens from "./lens/index.js";
export {
  type Captured,
  type CaptureOptions,
  type CaptureRequest,
  type CaptureSize,
  captureActivations,
  captureSize,
} from "./model/capture-activations.js";
export { defaultSignal } from "./model/interrupt.js";
export type { Model } from "./model/model.js";
export { marginFloor, type NoiseFloor, noiseFloor } from "./model/noise-floor.js";
// Models
export { DEFAULT_MODEL, type OpenOptions, open } from "./model/open.js";
export type { Prompt, PromptParts } from "./model/prompt.js";
export {
  type QuantisedFile,
  type QuantiseOptions,
  quantise,
  type TypeShare,
  tensorTypes,
} from "./model/quantise.js";
export * as stats from "./stats/index.js";
export * as corpus from "./store/corpus.js";
export { openActivations, type StoredActivations } from "./store/activation-reader.js";
export { evictActivations, listActivations } from "./store/activation-store.js";
export { mergeRunLogs } from "./store/merge-logs.js";
export { describeProvenance, type Provenance, provenance } from "./store/provenance.js";
export { loadPublished } from "./store/published.js";
export { openRunLog, type RunLog } from "./store/run-log.js";
export { parseShard, type Shard } from "./store/shard.js";
export * as tasks from "./tasks/index.js";
