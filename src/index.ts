/**
 * countlens: language-model interpretability on GGUF models, in notebooks.
 *
 * The public API, in the order in which a notebook meets it.
 */

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
export { defaultSignal } from "./model/interrupt.js";
export type { Model } from "./model/model.js";
export { marginFloor, type NoiseFloor, noiseFloor } from "./model/noise-floor.js";
// Models
export { DEFAULT_MODEL, type OpenOptions, open } from "./model/open.js";
export type { Prompt, PromptParts } from "./model/prompt.js";
