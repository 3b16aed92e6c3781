/** What a notebook holds. */
import type { Engine, EngineInfo } from "../engine/engine.js";
import type {
  Evaluation,
  GenerateOptions,
  GenerationBatch,
  GenerationRequest,
  Request,
  RunOptions,
} from "../engine/request.js";
import type { Prompt, PromptParts } from "./prompt.js";

export interface Model {
  readonly info: EngineInfo;
  readonly engine: Engine;
  /** sha256 of the weights file, hex. */
  readonly sha256: string;
  /** Prompts rendered with the model's own chat template, exactly one BOS. Plain text where it has none. */
  prompts(parts: readonly PromptParts[]): Promise<Prompt[]>;
  prompt(parts: PromptParts | string): Promise<Prompt>;
  /** Token ids of an answer's text as they follow the prompt. */
  answerTokens(texts: readonly string[]): Promise<Int32Array[]>;
  evaluate(requests: readonly Request[], options?: RunOptions): Promise<Evaluation>;
  generate(requests: readonly GenerationRequest[], options?: GenerateOptions): Promise<GenerationBatch>;
  close(): Promise<void>;
}
