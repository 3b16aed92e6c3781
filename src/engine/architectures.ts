/**
 * The table of architectures: which llama.cpp tensor stands for which hook point.
 *
 * Read from the graph builders of the release in `backend.ts` (`src/models/*.cpp`, the `cb(cur, "name", layer)`
 * calls). A row is here only if the tensor is what really flows on: the node that the next operation reads, not a copy,
 * not a value that something is still added to. Three things to know when reading it:
 *
 * - ggml names are not unique. A name given twice to different nodes (with a control vector set, llama's `ffn_out`
 *   is both the MLP's output and the sum after it), or a name without a layer (gemma2's `ffn_post_norm`), is told
 *   apart by `after`: a node of the same layer that fires exactly once.
 * - Some places are never named. Where the node is nevertheless certain (W_O's product is the first matrix product
 *   after the heads), `op` says which.
 * - In the last block most architectures drop the rows that are not outputs, before or after the hook point
 *  : count the rows of the tensor, never assume them.
 */
import type { HookKind, HookPoint } from "./hooks.js";

/**
 * How to recognise a node of the compute graph: by ggml name, or by operation (as `ggml_op_desc` spells it), and
 * with `after` only the first such node that is computed after the node of that name.
 */
export type TensorName =
  | { readonly name: string; readonly op?: never; readonly after?: string }
  | { readonly op: "MUL_MAT" | "ADD"; readonly name?: never; readonly after: string };

/** Alternatives, of which one at most is in a given model's graph (dense or mixture of experts, for example). */
type Names = readonly TensorName[];
type Row = (layer: number) => Names;

interface Architecture {
  readonly embed?: TensorName;
  readonly residMid?: Row;
  readonly residPost: Row;
  readonly attnOut?: Row;
  readonly mlpOut?: Row;
  readonly heads?: Row;
  readonly attnPattern?: Row;
  readonly finalNorm?: TensorName;
}

/** `name-N`, which is how llama.cpp writes a name with a layer. */
const named =
  (name: string): Row =>
  (layer) => [{ name: `${name}-${layer}` }];

const either =
  (...rows: readonly Row[]): Row =>
  (layer) =>
    rows.flatMap((row) => row(layer));

/** The heads are always followed by W_O's product, which most builders leave unnamed. */
const outputProduct: Row = (layer) => [{ op: "MUL_MAT", after: `kqv_out-${layer}` }];

/** Where the sum after the MLP is called `ffn_out` too: the first one after the MLP's activation. */
const feedForward: Row = (layer) => [{ name: `ffn_out-${layer}`, after: `ffn_swiglu-${layer}` }];

const resultNorm: TensorName = { name: "result_norm" };

/** What every decoder with ordinary attention calls alike. `kq_soft_max` exists only with flash attention off. */
const attention = {
  residPost: named("l_out"),
  heads: named("kqv_out"),
  attnPattern: named("kq_soft_max"),
  finalNorm: resultNorm,
} satisfies Architecture;

// Also what Mistral, SmolLM and Mixtral files carry. W_O's product is named (with its bias, where there is one).
const llama: Architecture = {
  ...attention,
  embed: { name: "embd" },
  residMid: named("ffn_inp"),
  attnOut: named("attn_out"),
  mlpOut: either(feedForward, named("ffn_moe_out")),
};

const qwen2: Architecture = {
  ...attention,
  embed: { name: "embd" },
  residMid: named("ffn_inp"),
  // No bias here. (With NVFP4 weights a scale follows the product, and this would be the product before it.)
  attnOut: outputProduct,
  mlpOut: named("ffn_out"),
};

// Attention of every `full_attention_interval`-th layer is gated between the heads and W_O, so the gated tensor is
// what W_O reads; the other layers are gated delta nets, whose heads are a reshaped view of the same memory and which
// have no attention pattern. Keeps every row in the last block, and cuts to the outputs only in `result_norm`.
const qwen35: Architecture = {
  embed: { name: "model.input_embed" },
  residMid: named("attn_residual"),
  residPost: named("l_out"),
  // In a delta net `attn_output` is something else, a view before the norm and the gate.
  attnOut: (layer) => [
    { name: `attn_output-${layer}`, after: `attn_gated-${layer}` },
    { name: `linear_attn_out-${layer}` },
  ],
  mlpOut: named("ffn_out"),
  heads: either(named("attn_gated"), named("final_output")),
  attnPattern: named("kq_soft_max"),
  finalNorm: resultNorm,
};

// Embeddings are scaled by sqrt(d_model) first. Nothing is normalised after the branches in the first Gemma.
const gemma: Architecture = {
  ...attention,
  embed: { name: "inp_scaled" },
  residMid: named("sa_out"),
  attnOut: outputProduct,
  mlpOut: named("ffn_out"),
};

// From here on each branch is normalised before it is added, so the normalised tensor is what the branch adds.
// gemma2 names the second norm without its layer.
const gemma2: Architecture = {
  ...gemma,
  attnOut: named("attn_post_norm"),
  mlpOut: (layer) => [{ name: "ffn_post_norm", after: `ffn_geglu-${layer}` }],
};

const gemma3: Architecture = { ...gemma2, mlpOut: named("ffn_post_norm") };

// residPost is not residMid + mlpOut here: per-layer embeddings are added and the sum is scaled before `l_out`.
const gemma4: Architecture = { ...gemma3, residMid: named("attn_out") };

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  llama,
  // Same builder as llama's, some layers without rotary positions.
  smollm3: llama,
  mistral3: llama,
  qwen2,
  qwen3: qwen2,
  qwen3moe: { ...qwen2, mlpOut: named("ffn_moe_out") },
  // `ffn_out` is the routed experts and the shared expert together.
  qwen2moe: qwen2,
  qwen35,
  qwen35moe: qwen35,
  gemma,
  gemma2,
  gemma3,
  gemma4,
  // The sum after attention has no name: it is the first addition after the heads (W_O has no bias).
  phi3: { ...qwen2, residMid: (layer) => [{ op: "ADD", after: `kqv_out-${layer}` }] },
  // What enters the first block is token plus position embedding. Attention's output includes W_O's bias.
  gpt2: { ...qwen2, embed: { name: "inpL" }, attnOut: (layer) => [{ op: "ADD", after: `kqv_out-${layer}` }] },
  // No norm before the branches, one after each; the second is named without its layer.
  olmo2: {
    ...qwen2,
    attnOut: named("attn_post_norm"),
    mlpOut: (layer) => [{ name: "ffn_post_norm", after: `ffn_swiglu-${layer}` }],
  },
};

/** Any other architecture: the block output has this name nearly everywhere; the dry run finds out. */
const UNKNOWN: Architecture = { residPost: named("l_out") };

/** Architectures with a row of their own. */
export const TABLED_ARCHITECTURES: readonly string[] = Object.keys(ARCHITECTURES);

const PER_BLOCK: readonly HookKind[] = [
  "residPre",
  "attnOut",
  "heads",
  "attnPattern",
  "residMid",
  "mlpOut",
  "residPost",
];

/**
 * The nodes that stand for a hook point: alternatives, of which one at most is in a model's graph. Empty where the
 * architecture has no such place or no name for it, or the layer is not one of `layers` (0-based).
 *
 * `residPre(n)` is the tensor of `residPost(n - 1)`, and `residPre(0)` that of `embed()`: an edit of the one is an
 * edit of the other.
 */
export function tensorsFor(architecture: string, hook: HookPoint, layers: number): readonly TensorName[] {
  const row = Object.hasOwn(ARCHITECTURES, architecture) ? ARCHITECTURES[architecture]! : UNKNOWN;
  const { kind, layer } = hook;
  if (kind === "embed" || kind === "finalNorm") {
    const tensor = row[kind];
    return tensor === undefined || layer !== -1 ? [] : [tensor];
  }
  if (!Number.isInteger(layer) || layer < 0 || layer >= layers) return [];
  if (kind !== "residPre") return row[kind]?.(layer) ?? [];
  if (layer > 0) return row.residPost(layer - 1);
  return row.embed === undefined ? [] : [row.embed];
}

/** Every hook point the table has for a model of that many layers, in the order of the computation. */
export function hooksFor(architecture: string, layers: number): HookPoint[] {
  const hooks: HookPoint[] = [{ kind: "embed", layer: -1 }];
  for (let layer = 0; layer < layers; layer++) {
    for (const kind of PER_BLOCK) hooks.push({ kind, layer });
  }
  hooks.push({ kind: "finalNorm", layer: -1 });
  return hooks.filter((hook) => tensorsFor(architecture, hook, layers).length > 0);
}
