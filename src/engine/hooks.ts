/**
 * Hook points: the places inside a transformer where activations can be read or edited, under the field's names.
 *
 * A hook point is plain data, so that it can cross a process boundary, be a key in a store and be printed. Which
 * llama.cpp tensor it stands for is the business of the table of architectures; which of them a loaded model really
 * has is found by a dry run.
 */

export type HookKind =
  /** Token embeddings as they enter the first block (scaled, where the architecture scales them). `[position, d_model]` */
  | "embed"
  /** Residual stream before block n. `[position, d_model]` */
  | "residPre"
  /** Residual stream between attention and MLP of block n. `[position, d_model]` */
  | "residMid"
  /** Residual stream after block n. `[position, d_model]` */
  | "residPost"
  /** What attention of block n adds to the residual stream. `[position, d_model]` */
  | "attnOut"
  /** What the MLP of block n adds to the residual stream. `[position, d_model]` */
  | "mlpOut"
  /** Outputs of the attention heads of block n before W_O, side by side. `[position, head * d_head]` */
  | "heads"
  /** Attention weights of block n after the softmax. `[position, head * key position]` */
  | "attnPattern"
  /** Output of the last normalisation, before the unembedding. `[position, d_model]` */
  | "finalNorm";

/** A place inside the model: plain data, made by `residPost(3)` and its siblings. */
export interface HookPoint {
  readonly kind: HookKind;
  /** Block index from 0; -1 for `embed` and `finalNorm`, which have no block. */
  readonly layer: number;
}

const at =
  (kind: HookKind) =>
  (layer: number): HookPoint => ({ kind, layer });

/** Token embeddings as they enter the first block: `[position, d_model]`. */
export const embed = (): HookPoint => ({ kind: "embed", layer: -1 });
/** Residual stream before block n: `[position, d_model]`, the same tensor as `residPost(n - 1)`. */
export const residPre = at("residPre");
/** Residual stream between attention and MLP of block n: `[position, d_model]`. */
export const residMid = at("residMid");
/** Residual stream after block n: `[position, d_model]`. */
export const residPost = at("residPost");
/** What attention of block n adds to the residual stream: `[position, d_model]`. */
export const attnOut = at("attnOut");
/** What the MLP of block n adds to the residual stream: `[position, d_model]`. */
export const mlpOut = at("mlpOut");
/** Head outputs of block n before W_O, side by side: `[position, head x d_head]`. */
export const heads = at("heads");
/**
 * Attention weights of block n: `[position, head x key position]`, zero over the future. Only for requests that
 * run alone.
 */
export const attnPattern = at("attnPattern");
/** Output of the last normalisation: `[position, d_model]`. */
export const finalNorm = (): HookPoint => ({ kind: "finalNorm", layer: -1 });

/** `residPost(3)`, `embed()`: how a hook point is written in code, in errors and in stored keys. */
export function hookName(hook: HookPoint): string {
  return hook.layer < 0 ? `${hook.kind}()` : `${hook.kind}(${hook.layer})`;
}
