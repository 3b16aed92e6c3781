/** Where an SAE belongs, from what its file or its path says. */
import {
  attnOut,
  embed,
  type HookPoint,
  heads,
  mlpOut,
  residMid,
  residPost,
  residPre,
} from "../engine/hooks.js";

const KINDS: Readonly<Record<string, (layer: number) => HookPoint>> = {
  hook_resid_pre: residPre,
  hook_resid_mid: residMid,
  hook_resid_post: residPost,
  hook_attn_out: attnOut,
  hook_mlp_out: mlpOut,
  "attn.hook_z": heads,
  residPre,
  residMid,
  residPost,
  attnOut,
  mlpOut,
  heads,
};

/** `residPost(3)`, `blocks.3.hook_resid_post` (TransformerLens), `model.layers.3.output` (Hugging Face). */
export function hookFromName(name: string): HookPoint | undefined {
  if (name === "hook_embed" || name === "embed()") return embed();
  const own = /^(\w+)\((\d+)\)$/.exec(name);
  if (own !== null) return KINDS[own[1]!]?.(Number(own[2]));
  const block = /^blocks\.(\d+)\.(.+)$/.exec(name);
  if (block !== null) return KINDS[block[2]!]?.(Number(block[1]));
  const output = /^model\.(?:language_model\.)?layers\.(\d+)\.output$/.exec(name);
  return output === null ? undefined : residPost(Number(output[1]));
}

/** From the folders of a Gemma Scope release: `.../resid_post/layer_12_width_16k/params.safetensors`. */
export function hookFromPath(path: string): HookPoint | undefined {
  const layer = /layer_(\d+)(?!.*layer_\d)/.exec(path)?.[1];
  if (layer === undefined) return undefined;
  if (/resid_post|-res\b/.test(path)) return residPost(Number(layer));
  if (/mlp_out|-mlp\b/.test(path)) return mlpOut(Number(layer));
  if (/attn_out/.test(path)) return attnOut(Number(layer));
  return /-att\b/.test(path) ? heads(Number(layer)) : undefined;
}
