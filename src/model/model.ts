/** What a notebook holds. */
import type { Engine, EngineInfo } from "../engine/engine.js";
import { type HookPoint, hookName } from "../engine/hooks.js";
import type {
  EvaluateOptions,
  Evaluation,
  GenerateOptions,
  GenerationBatch,
  GenerationRequest,
  Request,
  Result,
  RunOptions,
} from "../engine/request.js";
import { CAPTURE_LIMIT, formatBytes, placeRequests, resultBytes } from "../engine/validate.js";
import { answerTokens } from "./answer-tokens.js";
import type { Render } from "./chat-template.js";
import { makePrompts, type Prompt, type PromptParts } from "./prompt.js";
import { watched } from "./watched.js";

/** An open model: prompts, activations, edits and answers. It shows itself as a cell's last expression. */
export interface Model {
  readonly info: EngineInfo;
  readonly engine: Engine;
  /** sha256 of the weights file, hex. */
  readonly sha256: string;
  /** The sha256 is one that somebody states. False for a file of one's own. */
  readonly verified: boolean;
  /** Jinja source of the chat template in use, "" for plain text. */
  readonly template: string;
  /** What it is, in a few labelled values: architecture, layers, width, quantisation, context, template, backend, memory. */
  describe(): Readonly<Record<string, string>>;
  /** Every hook point this model has, by kind: `{ residPost: "layers 0..7, width 64" }`. */
  hookPoints(): Readonly<Record<string, string>>;
  /** Prompts rendered with the model's own chat template, exactly one BOS. Plain text where it has none. */
  prompts(parts: readonly PromptParts[]): Promise<Prompt[]>;
  /** One prompt; a string is the user's text. */
  prompt(parts: PromptParts | string): Promise<Prompt>;
  /** Token ids of each answer's text as they follow a prompt. */
  answerTokens(texts: readonly string[]): Promise<Int32Array[]>;
  /**
   * The one door: logits and activations of many requests, under their edits; what requests share is computed once.
   *
   * @throws before anything runs, when a request names a position, hook point or length that this model does not have,
   * or when the activations asked for would not fit in memory (use `stream`)
   * @example
   * const { results } = await model.evaluate([{ tokens: prompt.tokens, logits: { positions: [-1], top: 5 } }]);
   */
  evaluate(requests: readonly Request[], options?: EvaluateOptions): Promise<Evaluation>;
  /** The same, handed on as it comes in groups of at most `bytes` of activations (default 250 MB): memory stays flat. */
  stream(
    requests: readonly Request[],
    options?: RunOptions & { readonly bytes?: number },
  ): AsyncGenerator<{ readonly index: number; readonly result: Result }, void, undefined>;
  /** Answers to many prompts at once, greedy by default, each token with its margin. Edits act while a prompt is read. */
  generate(requests: readonly GenerationRequest[], options?: GenerateOptions): Promise<GenerationBatch>;
  /** Ends the engine and gives back its memory. */
  close(): Promise<void>;
}

const STREAM_BYTES = 250e6;

export function makeModel(
  engine: Engine,
  render: Render,
  sha256: string,
  verified: boolean,
  template: string,
): Model {
  const { info } = engine;
  const model: Model = {
    info,
    engine,
    sha256,
    verified,
    template,
    describe: () => describe(info, sha256, verified),
    hookPoints: () => summarizeHooks(info.hookPoints),
    prompts: (parts) => makePrompts(engine, render, parts),
    async prompt(parts) {
      const [prompt] = await makePrompts(engine, render, [
        typeof parts === "string" ? { user: parts } : parts,
      ]);
      return prompt!;
    },
    answerTokens: (texts) => answerTokens(engine, texts),
    evaluate: (requests, options) => watched("evaluating", options, (run) => engine.evaluate(requests, run)),
    async *stream(requests, options = {}) {
      const { bytes = STREAM_BYTES, ...run } = options;
      for (const [from, to] of groupsBySize(info, requests, bytes)) {
        const { results } = await model.evaluate(requests.slice(from, to), run);
        for (let i = from; i < to; i++) yield { index: i, result: results[i - from]! };
      }
    },
    generate: (requests, options) => watched("generating", options, (run) => engine.generate(requests, run)),
    close: () => engine.close(),
  };
  return model;
}

/** Ranges [from, to) of requests whose captures together stay below `limit` bytes; a single larger one is a group. */
function groupsBySize(info: EngineInfo, requests: readonly Request[], limit: number): [number, number][] {
  if (!(limit > 0))
    throw new Error(`stream: bytes is ${limit}; expected a number above 0, at most ${CAPTURE_LIMIT}`);
  const sizes = placeRequests(info, requests, Number.POSITIVE_INFINITY).map((request) =>
    resultBytes(info, request),
  );
  const groups: [number, number][] = [];
  let from = 0;
  let held = 0;
  sizes.forEach((size, i) => {
    if (i > from && held + size > limit) {
      groups.push([from, i]);
      from = i;
      held = 0;
    }
    held += size;
  });
  if (from < sizes.length) groups.push([from, sizes.length]);
  return groups;
}

function describe(info: EngineInfo, sha256: string, verified: boolean): Record<string, string> {
  const { settings } = info;
  return {
    name: info.name,
    file: info.path.split(/[\\/]/).at(-1)!,
    sha256: `${sha256.slice(0, 16)}… (${verified ? "as published" : "not published anywhere we know"})`,
    architecture: info.architecture,
    parameters: info.parameters.toLocaleString("en"),
    layers: `${info.layers} of width ${info.width}, ${info.heads} heads`,
    quantisation: info.quantisation,
    memory: `${formatBytes(info.bytes)} of weights, ${formatBytes(info.kvBytesPerToken)} of KV cache a token (${settings.kvType})`,
    context: `${info.context} tokens (trained ${info.trainedContext}${info.slidingWindow > 0 ? `, sliding window ${info.slidingWindow}` : ""})`,
    vocabulary: `${info.vocabulary.toLocaleString("en")} tokens`,
    template:
      info.chatTemplate === ""
        ? "none: plain text"
        : `chat (${info.chatTemplate.length} characters of Jinja)`,
    prefixes: info.branches ? "shared" : "not shared (recurrent state)",
    backend: `llama.cpp ${info.llamaVersion} on ${info.backend}, ${settings.gpuLayers === -1 ? "all" : settings.gpuLayers} layers on the GPU`,
    engine: `${settings.threads} threads, chunks of ${settings.chunkTokens} tokens, flash attention ${settings.flashAttention ? "on" : "off"}`,
  };
}

function summarizeHooks(points: EngineInfo["hookPoints"]): Record<string, string> {
  const kinds = new Map<string, { layers: number[]; width: number }>();
  for (const { hook, width } of points) {
    const known = kinds.get(hook.kind) ?? { layers: [], width };
    known.layers.push(hook.layer);
    kinds.set(hook.kind, known);
  }
  return Object.fromEntries(
    [...kinds].map(([kind, { layers, width }]) => {
      const wide = kind === "attnPattern" ? "one weight a head and key" : `width ${width}`;
      return [kind, layers[0] === -1 ? wide : `${layersText(layers)}, ${wide}`];
    }),
  );
}

function layersText(layers: readonly number[]): string {
  const contiguous = layers.at(-1)! - layers[0]! === layers.length - 1;
  return contiguous ? `layers ${layers[0]}..${layers.at(-1)}` : `layers ${layers.join(", ")}`;
}

/** A hook point that this model has, by name, or one line that says what it has. */
export function requireHook(model: Model, hook: HookPoint, where: string): number {
  const found = model.info.hookPoints.find((point) => hookName(point.hook) === hookName(hook));
  if (found !== undefined) return found.width;
  const has = Object.entries(model.hookPoints()).map(([kind, text]) => `${kind} (${text})`);
  throw new Error(`${where}: ${model.info.name} has no ${hookName(hook)}; it has ${has.join("; ")}`);
}
