/**
 * countlens: language-model interpretability on GGUF models, in notebooks.
 *
 * The public API, in the order in which a notebook meets it.
 *
 * @module countlens
 */

// Rooms: `tasks.multiplication()`, `assays.zeroErrorHorizon(model, task)`, `figures.errorGrid(rows)`, ...
/** Assays: how far a model carries a procedure without a mistake, and what its mistakes are like. */
export * as assays from "./assays/index.js";
export { type Verification, verify } from "./assays/verify-result.js";
/** Models behind an OpenAI-compatible server. */
export * as endpoints from "./endpoints/index.js";
export type { Gpu } from "./engine/backend.js";
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
/** Figures: pure functions from rows to a plotly spec; rich displays, export and the report. */
export * as figures from "./figures/index.js";
export { progress } from "./figures/progress.js";
export { show } from "./figures/show.js";
/** Lenses: what goes on inside a model. */
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
/** Statistics: methods named with their weaknesses, tails exact far out. No model is known here. */
export * as stats from "./stats/index.js";
export type { ActivationIndex, ActivationShard } from "./store/activation-index.js";
export {
  openActivations,
  type RowTable,
  type StoredActivations,
  type StoredRows,
} from "./store/activation-reader.js";
export {
  evictActivations,
  listActivations,
  type StoredSet,
  type StoreOptions,
} from "./store/activation-store.js";
/** Corpora: how often each product is written in a body of text. */
export * as corpus from "./store/corpus.js";
export { type Merged, mergeRunLogs } from "./store/merge-logs.js";
export {
  describeProvenance,
  type Json,
  type ModelFacts,
  type Provenance,
  type ProvenanceEngine,
  type ProvenanceModel,
  type ProvenanceParts,
  provenance,
} from "./store/provenance.js";
export {
  loadPublished,
  type PublishedData,
  type PublishedError,
  type PublishedGrid,
  type PublishedOptions,
  pairFrequency,
} from "./store/published.js";
export { type Batch, type Logged, openRunLog, type RunLog } from "./store/run-log.js";
export { readSafetensors, type Tensor } from "./store/safetensors.js";
export { type TensorToWrite, writeSafetensors } from "./store/safetensors-writer.js";
export { parseShard, type Shard } from "./store/shard.js";
export type { TensorData } from "./store/tensor-types.js";
/** Tasks: instances of a size, prompt, right answer, and how an answer is read. */
export * as tasks from "./tasks/index.js";
