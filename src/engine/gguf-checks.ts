/**
 * Hyper-parameters that llama.cpp would not survive: what it asserts on, divides by or allocates from without looking.
 *
 * Shapes that merely do not fit are left to llama.cpp, which refuses them with an error. The rules are those of
 * `load_hparams` in `llama-model.cpp` and of the graph builders of the release in `backend.ts`.
 */
import { TABLED_ARCHITECTURES } from "./architectures.js";
import type { GgufTensor, Metadata } from "./gguf-sections.js";
import { shown } from "./gguf-sections.js";
import { RECURRENT } from "./known-architectures.js";

/** Limits compiled into llama.cpp. */
const MAX_LAYERS = 512;
const MAX_EXPERTS = 1024;
/** Far above any model, far below what overflows. */
const MAX_WIDTH = 1 << 20;
const MAX_CONTEXT = 2 ** 31 - 1;

const ROPE_SCALINGS: readonly string[] = ["none", "linear", "yarn", "longrope"];

/** Rotary positions over the whole head: their graph builders assert it. */
const WHOLE_HEAD_ROTARY: ReadonlySet<string> = new Set([
  ..."apertus arcee arctic baichuan chameleon codeshell cogvlm cohere2moe dbrx deci deepseek dots1 dream".split(
    " ",
  ),
  ..."ernie4_5 ernie4_5-moe exaone exaone-moe exaone4 falcon granite granite_swa graniteswitch grok grovemoe".split(
    " ",
  ),
  ..."hunyuan-moe hunyuan_vl hunyuan-dense hy_v3 internlm2 jais2 llada llada-moe llama llama4 maincoder".split(
    " ",
  ),
  ..."mellum minimax-m2 mistral3 nemotron olmo olmo2 olmoe orion paddleocr pangu-embedded plamo qwen2".split(
    " ",
  ),
  ..."qwen2moe qwen2vl qwen3 qwen3moe qwen3vl qwen3vlmoe rnd1 seed_oss smallthinker smollm3 starcoder2".split(
    " ",
  ),
  ..."talkie xverse".split(" "),
]);

interface Sizes {
  readonly layers: number;
  readonly width: number;
  readonly context: number;
}

/** Throws through `fail` at the first fault; returns the sizes every model has. */
export function checkHyperparameters(
  architecture: string,
  metadata: Metadata,
  tensors: readonly GgufTensor[],
  fail: (what: string) => Error,
): Sizes {
  const read = reader(architecture, metadata, fail);
  const layers = read.required("block_count", 1, MAX_LAYERS);
  const width = read.required("embedding_length", 1, MAX_WIDTH);
  const context = read.required("context_length", 1, MAX_CONTEXT);
  checkTokenizer(architecture, width, metadata, tensors, fail);
  const head = checkAttention(architecture, layers, width, read, fail);
  checkRotary(architecture, head, read, fail);
  checkExperts(layers, read, fail);
  checkRecurrence(architecture, read, fail);

  read.optional("nextn_predict_layers", 0, layers);
  read.real("attention.layer_norm_rms_epsilon", 0, 1);
  read.real("attention.layer_norm_epsilon", 0, 1);
  for (const key of ["attn_logit_softcapping", "final_logit_softcapping"])
    read.real(key, 0, 1e6, architecture === "gemma2");
  return { layers, width, context };
}

interface Reader {
  required(key: string, low: number, high: number): number;
  optional(key: string, low: number, high: number): number | undefined;
  /** A number for every layer, from a single value or an array; undefined where the key is absent. */
  perLayer(key: string, layers: number, high: number): readonly number[] | undefined;
  real(key: string, low: number, high: number, open?: boolean): number | undefined;
  text(key: string): string | undefined;
}

function reader(architecture: string, metadata: Metadata, fail: (what: string) => Error): Reader {
  const name = (key: string) => `${architecture}.${key}`;
  const wrong = (key: string, value: unknown, expected: string) =>
    fail(`${name(key)} is ${shown(String(value))}; expected ${expected}`);
  const whole = (value: unknown, low: number, high: number): value is number =>
    typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
  const range = (low: number, high: number) => `a whole number from ${low} to ${high}`;
  const optional: Reader["optional"] = (key, low, high) => {
    const value = metadata.scalars.get(name(key));
    if (value === undefined || whole(value, low, high)) return value;
    throw wrong(key, value, range(low, high));
  };
  return {
    optional,
    required(key, low, high) {
      const value = optional(key, low, high);
      if (value === undefined) throw fail(`it has no ${name(key)}; expected ${range(low, high)}`);
      return value;
    },
    perLayer(key, layers, high) {
      const array = metadata.arrays.get(name(key));
      if (array === undefined) {
        const value = optional(key, 0, high);
        return value === undefined ? undefined : new Array<number>(layers).fill(value);
      }
      const { values } = array;
      if (values === undefined || values.length !== layers) {
        throw wrong(key, `an array of ${array.length}`, `one number for each of ${layers} layers`);
      }
      const odd = values.find((value) => !whole(value, 0, high));
      if (odd !== undefined) throw wrong(key, odd, range(0, high));
      return values;
    },
    real(key, low, high, open = false) {
      const value = metadata.scalars.get(name(key));
      if (value === undefined) return undefined;
      if (typeof value === "number" && (open ? value > low : value >= low) && value <= high) return value;
      throw wrong(key, value, `a number from ${low} to ${high}${open ? `, not ${low}` : ""}`);
    },
    text(key) {
      const value = metadata.scalars.get(name(key));
      if (value === undefined || typeof value === "string") return value;
      throw wrong(key, value, "a text");
    },
  };
}

function checkTokenizer(
  architecture: string,
  width: number,
  metadata: Metadata,
  tensors: readonly GgufTensor[],
  fail: (what: string) => Error,
): void {
  const model = metadata.scalars.get("tokenizer.ggml.model");
  const tokens = metadata.arrays.get("tokenizer.ggml.tokens");
  if (
    typeof model !== "string" ||
    model === "no_vocab" ||
    model === "none" ||
    tokens === undefined ||
    tokens.length === 0
  ) {
    throw fail(
      "it has no tokenizer; expected tokenizer.ggml.model and tokenizer.ggml.tokens, convert the model again",
    );
  }
  if (tokens.type !== "string") throw fail(`tokenizer.ggml.tokens holds ${tokens.type}; expected strings`);
  if (metadata.doubledToken !== undefined) {
    const [first, second] = metadata.doubledToken;
    throw fail(`tokens ${first} and ${second} of its vocabulary have the same text; convert the model again`);
  }
  const embedding = tensors.find((tensor) => tensor.name === "token_embd.weight");
  if (embedding === undefined)
    throw fail(`it has no tensor token_embd.weight; expected the weights of a ${architecture} model`);
  const [columns, rows] = embedding.dims;
  if (columns !== width || rows !== tokens.length) {
    throw fail(
      `token_embd.weight is ${embedding.dims.join(" x ")}; expected ${width} x ${tokens.length} (embedding length x tokens)`,
    );
  }
}

/** Returns the width of a head, undefined where the first layer has none. */
function checkAttention(
  architecture: string,
  layers: number,
  width: number,
  read: Reader,
  fail: (what: string) => Error,
): number | undefined {
  const heads = read.perLayer("attention.head_count", layers, MAX_WIDTH);
  const keyHeads = read.perLayer("attention.head_count_kv", layers, MAX_WIDTH) ?? heads;
  const sometimesNone = RECURRENT.has(architecture) || architecture === "deci";
  if (heads === undefined) {
    if (sometimesNone) return undefined;
    throw fail(`it has no ${architecture}.attention.head_count; expected a positive whole number`);
  }
  for (let layer = 0; layer < layers; layer++) {
    const query = heads[layer]!;
    const key = keyHeads?.[layer] ?? query;
    if ((query === 0 || key === 0) && !sometimesNone) {
      throw fail(
        `${architecture} has ${query} attention heads and ${key} key heads in layer ${layer}; expected at least 1 of each`,
      );
    }
    if (key > 0 && query % key !== 0) {
      throw fail(`${query} attention heads in layer ${layer} are not a multiple of ${key} key heads`);
    }
  }
  const first = heads[0]!;
  const keyLength = read.optional("attention.key_length", 1, MAX_WIDTH);
  const valueLength = read.optional("attention.value_length", 1, MAX_WIDTH);
  if (first === 0) return undefined;
  if (keyLength === undefined && width % first !== 0) {
    throw fail(`embedding length ${width} is not a multiple of ${first} attention heads`);
  }
  const share = Math.floor(width / first);
  const head = keyLength ?? share;
  if (TABLED_ARCHITECTURES.includes(architecture) && head !== (valueLength ?? share)) {
    throw fail(`attention keys are ${head} wide and values ${valueLength ?? share}; expected the same`);
  }
  return head;
}

function checkRotary(
  architecture: string,
  head: number | undefined,
  read: Reader,
  fail: (what: string) => Error,
): void {
  read.real("rope.freq_base", 0, 1e12, true);
  read.real("rope.freq_base_swa", 0, 1e12, true);
  const scaling = read.text("rope.scaling.type");
  if (scaling !== undefined && !ROPE_SCALINGS.includes(scaling)) {
    throw fail(
      `${architecture}.rope.scaling.type is "${shown(scaling)}"; expected one of ${ROPE_SCALINGS.join(", ")}`,
    );
  }
  if (head === undefined) return;
  const rotary = read.optional("rope.dimension_count", 0, head);
  if (rotary === undefined) return;
  if (rotary % 2 !== 0)
    throw fail(`${architecture}.rope.dimension_count is ${rotary}; expected an even number`);
  if (WHOLE_HEAD_ROTARY.has(architecture) && rotary !== head) {
    throw fail(`${architecture}.rope.dimension_count is ${rotary}; expected the width of a head, ${head}`);
  }
}

function checkExperts(layers: number, read: Reader, fail: (what: string) => Error): void {
  const experts = read.optional("expert_count", 0, MAX_EXPERTS) ?? 0;
  const used = read.perLayer("expert_used_count", layers, MAX_EXPERTS) ?? [];
  const most = used.reduce((max, value) => Math.max(max, value), 0);
  if (most > experts || (experts > 0 && most === 0)) {
    throw fail(
      `${most} of ${experts} experts are used; expected ${experts > 0 ? `1 to ${experts}` : "none"}`,
    );
  }
  const groups = read.optional("expert_group_count", 0, MAX_EXPERTS) ?? 0;
  const groupsUsed = read.optional("expert_group_used_count", 0, MAX_EXPERTS) ?? 0;
  if (experts === 0 ? groups > 0 : groups >= experts)
    throw fail(`${experts} experts are in ${groups} groups`);
  if (groups > 1 && (experts % groups !== 0 || groupsUsed < 1 || groupsUsed >= groups)) {
    throw fail(`${groupsUsed} of ${groups} groups of ${experts} experts are used`);
  }
}

function checkRecurrence(architecture: string, read: Reader, fail: (what: string) => Error): void {
  read.optional("full_attention_interval", 1, MAX_LAYERS);
  for (const key of ["conv_kernel", "inner_size", "state_size", "time_step_rank"]) {
    read.optional(`ssm.${key}`, RECURRENT.has(architecture) ? 1 : 0, MAX_WIDTH);
  }
  if (!["qwen35", "qwen35moe", "qwen3next"].includes(architecture)) return;
  const inner = read.required("ssm.inner_size", 1, MAX_WIDTH);
  const state = read.required("ssm.state_size", 1, MAX_WIDTH);
  const valueHeads = read.required("ssm.time_step_rank", 1, MAX_WIDTH);
  const keyHeads = read.required("ssm.group_count", 1, MAX_WIDTH);
  if (inner !== state * valueHeads || valueHeads % keyHeads !== 0) {
    throw fail(
      `its delta nets have inner size ${inner}, state size ${state}, ${valueHeads} value and ${keyHeads} key heads; ` +
        "expected inner = state x value heads, and value heads a multiple of key heads",
    );
  }
}
