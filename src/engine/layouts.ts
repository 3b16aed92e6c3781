/**
 * Memory layouts of the llama.cpp structs that cross the FFI, in one place.
 *
 * They are passed by value and change between releases. `checkLayouts` compares the library's own default values with
 * known ones, so that a mismatch is one clear error and never a crash.
 */
import koffi from "koffi";
import { LLAMA_RELEASE } from "./backend.js";

export const ModelParams = koffi.struct("llama_model_params", {
  devices: "void *",
  tensor_buft_overrides: "void *",
  n_gpu_layers: "int32_t",
  split_mode: "int32_t",
  load_mode: "int32_t",
  lazy_mode: "int32_t",
  main_gpu: "int32_t",
  tensor_split: "void *",
  progress_callback: "void *",
  progress_callback_user_data: "void *",
  kv_overrides: "void *",
  vocab_only: "bool",
  check_tensors: "bool",
  use_extra_bufts: "bool",
  no_host: "bool",
  no_alloc: "bool",
  load_mtp: "bool",
});

export const ContextParams = koffi.struct("llama_context_params", {
  n_ctx: "uint32_t",
  n_batch: "uint32_t",
  n_ubatch: "uint32_t",
  n_seq_max: "uint32_t",
  n_rs_seq: "uint32_t",
  n_outputs_max: "uint32_t",
  n_outputs_max_per_seq: "uint32_t",
  n_threads: "int32_t",
  n_threads_batch: "int32_t",
  ctx_type: "int32_t",
  rope_scaling_type: "int32_t",
  pooling_type: "int32_t",
  attention_type: "int32_t",
  flash_attn_type: "int32_t",
  rope_freq_base: "float",
  rope_freq_scale: "float",
  yarn_ext_factor: "float",
  yarn_attn_factor: "float",
  yarn_beta_fast: "float",
  yarn_beta_slow: "float",
  yarn_orig_ctx: "uint32_t",
  defrag_thold: "float",
  cb_eval: "void *",
  cb_eval_user_data: "void *",
  type_k: "int32_t",
  type_v: "int32_t",
  abort_callback: "void *",
  abort_callback_data: "void *",
  embeddings: "bool",
  offload_kqv: "bool",
  no_perf: "bool",
  op_offload: "bool",
  swa_full: "bool",
  kv_unified: "bool",
  samplers: "void *",
  n_samplers: "size_t",
  ctx_other: "void *",
});

export const Batch = koffi.struct("llama_batch", {
  n_tokens: "int32_t",
  token: "void *",
  embd: "void *",
  pos: "void *",
  n_seq_id: "void *",
  seq_id: "void *",
  logits: "void *",
});

export const QuantizeParams = koffi.struct("llama_model_quantize_params", {
  nthread: "int32_t",
  ftype: "int32_t",
  output_tensor_type: "int32_t",
  token_embedding_type: "int32_t",
  allow_requantize: "bool",
  quantize_output_tensor: "bool",
  only_copy: "bool",
  pure: "bool",
  keep_split: "bool",
  dry_run: "bool",
  imatrix: "void *",
  kv_overrides: "void *",
  tt_overrides: "void *",
  prune_layers: "void *",
  max_buf_size: "size_t",
});

export const EvalCallback = koffi.proto("bool countlens_cb_eval(void *tensor, bool ask, void *user)");
export const AbortCallback = koffi.proto("bool countlens_abort(void *user)");

/** Offsets inside `struct ggml_tensor`, in bytes. */
export const TENSOR = { type: 0, ne: 16, nb: 48, name: 256 } as const;
export const TENSOR_NAME_BYTES = 64;

export const GGML_TYPE_F32 = 0;
export const GGML_TYPE_F16 = 1;

const KNOWN_MODEL_DEFAULTS: Readonly<Record<string, unknown>> = {
  n_gpu_layers: -1,
  split_mode: 1,
  load_mode: -1,
  lazy_mode: 1,
  vocab_only: false,
  use_extra_bufts: true,
  load_mtp: false,
};
const KNOWN_CONTEXT_DEFAULTS: Readonly<Record<string, unknown>> = {
  n_ctx: 512,
  n_batch: 2048,
  n_ubatch: 512,
  n_seq_max: 1,
  n_outputs_max_per_seq: 1,
  rope_scaling_type: -1,
  flash_attn_type: -1,
  yarn_ext_factor: -1,
  defrag_thold: -1,
  type_k: GGML_TYPE_F16,
  type_v: GGML_TYPE_F16,
  offload_kqv: true,
  no_perf: true,
  op_offload: true,
  swa_full: true,
  kv_unified: false,
};
const KNOWN_QUANTIZE_DEFAULTS: Readonly<Record<string, unknown>> = {
  nthread: 0,
  ftype: 7,
  // GGML_TYPE_COUNT: no type of their own.
  output_tensor_type: 43,
  token_embedding_type: 43,
  allow_requantize: false,
  quantize_output_tensor: true,
  only_copy: false,
  pure: false,
  keep_split: false,
  dry_run: false,
  imatrix: null,
  kv_overrides: null,
  tt_overrides: null,
  prune_layers: null,
  max_buf_size: 8 * 2 ** 30,
};

/** Throws one clear error when the library is not the one these layouts were written for. */
export function checkLayouts(
  version: string,
  modelDefaults: Readonly<Record<string, unknown>>,
  contextDefaults: Readonly<Record<string, unknown>>,
  quantizeDefaults: Readonly<Record<string, unknown>>,
): void {
  const differences: string[] = [];
  if (!version.includes(LLAMA_RELEASE)) differences.push(`version ${version}, expected ${LLAMA_RELEASE}`);
  for (const [known, got] of [
    [KNOWN_MODEL_DEFAULTS, modelDefaults],
    [KNOWN_CONTEXT_DEFAULTS, contextDefaults],
    [KNOWN_QUANTIZE_DEFAULTS, quantizeDefaults],
  ] as const) {
    for (const [field, value] of Object.entries(known)) {
      if (got[field] !== value)
        differences.push(`${field} is ${String(got[field])}, expected ${String(value)}`);
    }
  }
  if (differences.length > 0) {
    throw new Error(
      `engine: this llama.cpp does not match the layouts built in (${differences.slice(0, 3).join("; ")}); ` +
        "install the pinned node-llama-cpp with npm ci",
    );
  }
}
