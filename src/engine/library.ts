/**
 * llama.cpp's shared libraries, opened a second time with koffi beside node-llama-cpp's own binding, because that
 * one shows no hidden states, no raw logits and no callback (docs/decisions/0001-ffi.md).
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import koffi from "koffi";
import type { Backend } from "./backend.js";
import { Batch, ContextParams, checkLayouts, ModelParams, QuantizeParams } from "./layouts.js";

/** A native address. */
export type Pointer = bigint;

export interface Library {
  readonly version: string;
  /** Names of the devices ggml found, for example `CPU`, `CUDA0`. */
  readonly devices: readonly string[];
  readonly llama: LlamaFunctions;
  /** Lets llama.cpp write to stderr again: in the child process that is the only account of an abort. */
  keepLog(): void;
}

// The C functions in use, with what they return. Pointers are bigint; buffers are typed arrays.
const SIGNATURES = {
  llama_version: ["const char *", []],
  llama_backend_init: ["void", []],
  llama_log_set: ["void", ["void *", "void *"]],
  llama_model_default_params: [ModelParams, []],
  llama_context_default_params: [ContextParams, []],
  llama_model_quantize_default_params: [QuantizeParams, []],
  llama_model_quantize: ["uint32_t", ["const char *", "const char *", koffi.pointer(QuantizeParams)]],
  llama_model_load_from_file: ["void *", ["const char *", ModelParams]],
  llama_model_free: ["void", ["void *"]],
  llama_init_from_model: ["void *", ["void *", ContextParams]],
  llama_free: ["void", ["void *"]],
  llama_get_memory: ["void *", ["void *"]],
  llama_model_get_vocab: ["void *", ["void *"]],
  llama_model_n_embd: ["int32_t", ["void *"]],
  llama_model_n_layer: ["int32_t", ["void *"]],
  llama_model_n_head: ["int32_t", ["void *"]],
  llama_model_n_ctx_train: ["int32_t", ["void *"]],
  llama_model_n_swa: ["int32_t", ["void *"]],
  llama_model_n_params: ["uint64_t", ["void *"]],
  llama_model_size: ["uint64_t", ["void *"]],
  llama_model_is_recurrent: ["bool", ["void *"]],
  llama_model_is_hybrid: ["bool", ["void *"]],
  llama_model_has_encoder: ["bool", ["void *"]],
  llama_model_ftype: ["int32_t", ["void *"]],
  llama_ftype_name: ["const char *", ["int32_t"]],
  llama_model_meta_val_str: ["int32_t", ["void *", "const char *", "void *", "size_t"]],
  llama_model_chat_template: ["const char *", ["void *", "const char *"]],
  llama_vocab_n_tokens: ["int32_t", ["void *"]],
  llama_vocab_bos: ["int32_t", ["void *"]],
  llama_vocab_eos: ["int32_t", ["void *"]],
  llama_vocab_eot: ["int32_t", ["void *"]],
  llama_vocab_get_add_bos: ["bool", ["void *"]],
  llama_vocab_is_eog: ["bool", ["void *", "int32_t"]],
  llama_vocab_is_control: ["bool", ["void *", "int32_t"]],
  llama_tokenize: ["int32_t", ["void *", "void *", "int32_t", "void *", "int32_t", "bool", "bool"]],
  llama_token_to_piece: ["int32_t", ["void *", "int32_t", "void *", "int32_t", "int32_t", "bool"]],
  llama_detokenize: ["int32_t", ["void *", "void *", "int32_t", "void *", "int32_t", "bool", "bool"]],
  llama_decode: ["int32_t", ["void *", Batch]],
  llama_synchronize: ["void", ["void *"]],
  llama_get_logits: ["void *", ["void *"]],
  llama_set_abort_callback: ["void", ["void *", "void *", "void *"]],
  llama_set_adapter_cvec: ["int32_t", ["void *", "void *", "size_t", "int32_t", "int32_t", "int32_t"]],
  llama_memory_clear: ["void", ["void *", "bool"]],
  llama_memory_seq_rm: ["bool", ["void *", "int32_t", "int32_t", "int32_t"]],
  llama_memory_seq_cp: ["void", ["void *", "int32_t", "int32_t", "int32_t", "int32_t"]],
  llama_memory_seq_keep: ["void", ["void *", "int32_t"]],
} as const;

// biome-ignore lint/suspicious/noExplicitAny: koffi's functions are typed by their C signature, not by TypeScript
export type LlamaFunctions = Record<keyof typeof SIGNATURES | GgmlName, (...args: any[]) => any>;

const GGML_SIGNATURES = {
  ggml_get_name: ["const char *", ["void *"]],
  ggml_op_desc: ["const char *", ["void *"]],
  ggml_backend_tensor_get: ["void", ["void *", "void *", "size_t", "size_t"]],
  ggml_backend_tensor_set: ["void", ["void *", "void *", "size_t", "size_t"]],
} as const;
type GgmlName = keyof typeof GGML_SIGNATURES;

let opened: { folder: string; library: Library } | undefined;

/** Opens the libraries of one build. A process can hold only one: a second, different one is refused. */
export function openLibrary(backend: Backend): Library {
  if (opened !== undefined) {
    if (opened.folder === backend.folder) return opened.library;
    throw new Error(
      `engine: this process already runs the llama.cpp build in ${opened.folder}; restart it to use ${backend.folder}`,
    );
  }
  const load = (pattern: RegExp) => koffi.load(libraryFile(backend.folder, pattern), { global: true });
  const base = load(/^(lib)?ggml-base\.(so|dylib|dll)$/);
  const registry = load(/^(lib)?ggml(\.(cuda|vulkan|metal))?(\.v[\d.]+)?\.(so|dylib|dll)$/);
  const main = load(/^(lib)?llama(\.(cuda|vulkan|metal))?(\.v[\d.]+)?\.(so|dylib|dll)$/);

  const functions: Partial<LlamaFunctions> = {};
  for (const [name, [result, parameters]] of Object.entries(SIGNATURES)) {
    functions[name as keyof typeof SIGNATURES] = main.func(name, result, [...parameters]);
  }
  for (const [name, [result, parameters]] of Object.entries(GGML_SIGNATURES)) {
    functions[name as GgmlName] = base.func(name, result, [...parameters]);
  }
  const llama = functions as LlamaFunctions;

  // Checked before anything else is called: these three return structs by value.
  const version: string = llama.llama_version();
  checkLayouts(
    version,
    llama.llama_model_default_params(),
    llama.llama_context_default_params(),
    llama.llama_model_quantize_default_params(),
  );

  // llama.cpp takes a missing logger for "the default one, to stderr". Any native function that ignores its arguments
  // makes a silent logger; a JS one could be called from another thread, which koffi cannot do while this thread waits
  // inside a call.
  llama.llama_log_set(main.symbol("llama_time_us"), null);
  registry.func("ggml_backend_load_all_from_path", "void", ["str"])(backend.folder);
  llama.llama_backend_init();

  const count: number = registry.func("ggml_backend_dev_count", "size_t", [])();
  const get = registry.func("ggml_backend_dev_get", "void *", ["size_t"]);
  const nameOf = base.func("ggml_backend_dev_name", "const char *", ["void *"]);
  const devices = Array.from({ length: Number(count) }, (_, i) => String(nameOf(get(i))));

  const library: Library = {
    version,
    devices,
    llama,
    keepLog() {
      llama.llama_log_set(null, null);
    },
  };
  opened = { folder: backend.folder, library };
  return library;
}

function libraryFile(folder: string, pattern: RegExp): string {
  const file = readdirSync(folder).find((name) => pattern.test(name));
  if (file === undefined)
    throw new Error(`engine: no library ${pattern.source} in ${folder}; run npm ci again`);
  return join(folder, file);
}
