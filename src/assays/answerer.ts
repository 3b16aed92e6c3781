/**
 * Whatever answers prompts: a GGUF model, a server, a script. Assays of behaviour ask this and nothing else.
 */
import { type Endpoint, isEndpoint } from "../endpoints/endpoint.js";
import type { GenerateOptions, RunOptions } from "../engine/request.js";
import { modelIdentity } from "../model/identity.js";
import type { Model } from "../model/model.js";
import type { PromptParts } from "../model/prompt.js";
import { type Json, type Provenance, provenance } from "../store/provenance.js";

/** One answer to a prompt, with its tokens. */
export interface Answer {
  readonly text: string;
  /** Did the answer end by itself? False where a limit of tokens cut it. */
  readonly ended: boolean;
  readonly inputTokens: number;
  /** Generated, hidden reasoning included. */
  readonly outputTokens: number;
  /** Part of the output that is not shown. 0 for models run here: their reasoning stands in the text. */
  readonly reasoningTokens: number;
}

/** Answers to a list of prompts, and what they cost. */
export interface Answers {
  /** In the order of the prompts. */
  readonly answers: readonly Answer[];
  /** For all of them together. */
  readonly ms: number;
  /** Prompt and answer tokens that asking each prompt alone would have cost, and those that went through the model. Absent
   * where that is the server's business. */
  readonly tokensAsked?: number;
  readonly tokensEvaluated?: number;
  /** When each was answered and in what time (ms), where a log remembers it. */
  readonly runs?: readonly { readonly date: string; readonly ms: number | null }[];
}

/** Whatever answers prompts: a model here, a server, anything of one's own with this shape. */
export interface Answerer {
  readonly name: string;
  /** What makes two answerers the same: the sha256 of the weights, the address and name at a server. */
  readonly identity: string;
  /** What else moves an answer: the engine's settings, the chat template. Plain data; part of what logged answers are found by. */
  readonly settings?: Json;
  /** Is the answer to a prompt always the same? Greedy decoding on this machine is; servers are not to be trusted with it. */
  readonly repeatable: boolean;
  /** Most tokens of prompt and answer together; undefined where it is not known. */
  readonly context?: number;
  /** In a few words: `greedy, at most 256 tokens`. */
  readonly decoding: string;
  /** Tokens of each prompt as it is sent; undefined where only the answer says it. */
  promptTokens?(prompts: readonly PromptParts[]): Promise<number[]>;
  /** All prompts at once. */
  answer(prompts: readonly PromptParts[], options?: RunOptions): Promise<Answers>;
  /** Where its answers come from, for results. */
  provenance(notes: Provenance["notes"]): Provenance;
}

/** What an assay of behaviour can be given: a model answers greedily with room for 256 tokens; `fromModel` has more to choose. */
export type Asked = Answerer | Model | Endpoint;

/**
 * Anything that answers as an answerer.
 *
 * @param where for the error: the assay that was asked
 * @throws where it is neither a model, a server nor an answerer
 */
export function asAnswerer(asked: Asked, where: string): Answerer {
  if (typeof asked === "object" && asked !== null) {
    if ("answer" in asked && "decoding" in asked) return asked;
    if (isEndpoint(asked)) return fromEndpoint(asked);
    if ("evaluate" in asked && "info" in asked) return fromModel(asked);
  }
  const given = asked === null ? "null" : typeof asked === "string" ? JSON.stringify(asked) : typeof asked;
  throw new Error(
    `${where}: ${given} cannot be asked; expected a model (await open("tally-400k")), a server (openEndpoint(...)) or an answerer`,
  );
}

/** How a model answers: decoding, and its name in results. */
export interface ModelAnswererOptions
  extends Pick<GenerateOptions, "maxTokens" | "temperature" | "topK" | "topP" | "seed"> {
  /** Default: the model's own. */
  readonly name?: string;
}

/**
 * A model of this machine as an answerer. Decoding is free: no grammar, and room for `maxTokens` tokens (default 256), so that
 * echoes and reasoning can be seen. All prompts go through one forest: what they share is evaluated once.
 */
export function fromModel(model: Model, options: ModelAnswererOptions = {}): Answerer {
  const { name = model.info.name, maxTokens = 256, ...sampling } = options;
  const { temperature = 0 } = sampling;
  const tokensOf = async (prompts: readonly PromptParts[]) =>
    (await model.prompts(prompts)).map(({ tokens }) => tokens);
  const { topK = 0, topP = 1, seed = 0 } = sampling;
  const drawn = `temperature ${temperature}, top-k ${topK}, top-p ${topP}, seed ${seed}`;
  const decoding = `${temperature === 0 ? "greedy" : drawn}, at most ${maxTokens} tokens`;
  return {
    name,
    identity: model.sha256,
    settings: modelIdentity(model),
    repeatable: temperature === 0,
    context: model.info.context,
    decoding,
    async promptTokens(prompts) {
      return (await tokensOf(prompts)).map(({ length }) => length);
    },
    async answer(prompts, run = {}) {
      const tokens = await tokensOf(prompts);
      const { generations, stats } = await model.generate(
        tokens.map((list) => ({ tokens: list })),
        { ...sampling, ...run, maxTokens },
      );
      return {
        answers: generations.map((generation, i) => ({
          text: generation.text,
          ended: generation.stop !== "length" && generation.stop !== "context",
          inputTokens: tokens[i]?.length ?? 0,
          outputTokens: generation.tokens.length,
          reasoningTokens: 0,
        })),
        ms: stats.ms,
        tokensAsked: stats.tokensAsked,
        tokensEvaluated: stats.tokensEvaluated,
      };
    },
    provenance: (notes) => provenance({ model, notes: { decoding, ...notes } }),
  };
}

/** A server as an answerer. `context` in tokens, where you know it; else a tier that is too long fails with the server's error. */
export function fromEndpoint(endpoint: Endpoint, options: { readonly context?: number } = {}): Answerer {
  const { maxTokens, temperature } = endpoint.settings;
  const decoding = `temperature ${temperature}, at most ${maxTokens} tokens`;
  return {
    name: endpoint.model,
    identity: `${endpoint.url} ${endpoint.model}`,
    settings: JSON.parse(JSON.stringify({ api: endpoint.api, ...endpoint.settings })) as Json,
    repeatable: false,
    ...(options.context === undefined ? {} : { context: options.context }),
    decoding,
    async answer(prompts, { signal } = {}) {
      const started = performance.now();
      const answers = await endpoint.ask(prompts, signal === undefined ? {} : { signal });
      return { answers, ms: performance.now() - started };
    },
    provenance: (notes) =>
      provenance({ notes: { decoding, server: endpoint.url, servedModel: endpoint.model, ...notes } }),
  };
}

/** Tokens kept free for an answer when it is asked whether a prompt fits: a count with a few words. */
const ANSWER_ROOM = 16;

/**
 * The first prompt that does not fit the context with room for an answer, and a line that says why; undefined if all fit. What
 * cannot be known before asking (a server without a stated context) passes.
 */
export async function firstBeyondContext(
  answerer: Answerer,
  prompts: readonly PromptParts[],
): Promise<{ readonly index: number; readonly why: string } | undefined> {
  const { name, context } = answerer;
  if (context === undefined) return undefined;
  const tokens = (await answerer.promptTokens?.(prompts)) ?? [];
  const index = tokens.findIndex((length) => length + ANSWER_ROOM > context);
  if (index < 0) return undefined;
  const why = `a prompt of ${tokens[index]} tokens needs ${ANSWER_ROOM} more for its answer; the context of ${name} is ${context}`;
  return { index, why };
}

/** Did a server refuse a prompt for its length? Their messages differ; all name the context or a maximum of tokens. */
export function isContextError(error: unknown): boolean {
  return (
    error instanceof Error &&
    /HTTP 4(?:00|13|22)/.test(error.message) &&
    /context|too (?:long|large)|maximum.*tokens|tokens.*(?:exceed|maximum)/i.test(error.message)
  );
}
