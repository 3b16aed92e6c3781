"""Weights to GGUF (`llama` architecture), and to a folder for transformers.

`python export.py CHECKPOINT.pt tally-400k out.gguf --type f32`
"""
import argparse
import json
import pathlib

import gguf
import numpy as np
import torch

import prompts as P
from model import EPS, SIZES, THETA, VOCAB
from tokenizer import SPECIAL, Tokenizer

CONTEXT = 1024
NAMES = {"attn_norm": "attn_norm", "ffn_norm": "ffn_norm", "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output",
         "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}
LICENCE = "MIT"


def state(path):
    saved = torch.load(path)
    return saved.get("model", saved)


def rounded(weights, kind):
    """The weights as the file holds them, back in F32: matrices pass through F16 if `kind` is f16, norms never do."""
    return {k: v.half().float() if kind == "f16" and v.ndim == 2 else v for k, v in weights.items()}


def to_gguf(weights, name, path, kind="f32", title=None, description=""):
    layers, width, heads, ff = SIZES[name]
    w = gguf.GGUFWriter(path, "llama")
    w.add_name(title or name)
    w.add_description(description or "Small model trained for countlens on counting and arithmetic; no general language.")
    w.add_license(LICENCE)
    w.add_size_label(name.split("-")[1])
    w.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if kind == "f16" else gguf.LlamaFileType.ALL_F32)
    w.add_vocab_size(VOCAB)
    w.add_context_length(CONTEXT)
    w.add_embedding_length(width)
    w.add_block_count(layers)
    w.add_feed_forward_length(ff)
    w.add_head_count(heads)
    w.add_head_count_kv(heads)
    w.add_layer_norm_rms_eps(EPS)
    w.add_rope_dimension_count(width // heads)
    w.add_rope_freq_base(THETA)
    tok = Tokenizer()
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("qwen2")
    w.add_token_list(tok.tokens)
    w.add_token_types([gguf.TokenType.CONTROL if t in SPECIAL else gguf.TokenType.NORMAL for t in tok.tokens])
    w.add_token_merges([" ".join(m) for m in tok.merges])
    w.add_bos_token_id(tok.id["<|endoftext|>"])
    w.add_eos_token_id(tok.end)
    w.add_pad_token_id(tok.id["<|endoftext|>"])
    w.add_add_bos_token(False)
    w.add_chat_template(P.CHAT_TEMPLATE)
    dtype = np.float16 if kind == "f16" else np.float32
    put = lambda n, t: w.add_tensor(n, t.numpy().astype(dtype if t.ndim == 2 else np.float32))
    put("token_embd.weight", weights["embed"])
    for i in range(layers):
        for ours, theirs in NAMES.items():
            put(f"blk.{i}.{theirs}.weight", weights[f"blocks.{i}.{ours}"])
    put("output_norm.weight", weights["norm"])
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def to_transformers(weights, name, folder):
    """A LlamaForCausalLM folder; its RoPE turns halves, so rows of q and k are reordered."""
    from safetensors.torch import save_file

    layers, width, heads, ff = SIZES[name]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    halves = lambda m: m.view(heads, width // heads // 2, 2, width).transpose(1, 2).reshape(width, width).contiguous()
    out = {"model.embed_tokens.weight": weights["embed"], "model.norm.weight": weights["norm"]}
    names = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "q": "self_attn.q_proj",
             "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj", "gate": "mlp.gate_proj",
             "up": "mlp.up_proj", "down": "mlp.down_proj"}
    for i in range(layers):
        for ours, theirs in names.items():
            m = weights[f"blocks.{i}.{ours}"]
            out[f"model.layers.{i}.{theirs}.weight"] = halves(m) if ours in "qk" else m
    save_file(out, folder / "model.safetensors", {"format": "pt"})
    tok = Tokenizer()
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": width,
        "intermediate_size": ff, "num_attention_heads": heads, "num_key_value_heads": heads, "num_hidden_layers": layers,
        "max_position_embeddings": CONTEXT, "rms_norm_eps": EPS, "rope_theta": THETA, "tie_word_embeddings": True,
        "vocab_size": VOCAB, "bos_token_id": None, "eos_token_id": tok.end, "torch_dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("checkpoint")
    p.add_argument("name")
    p.add_argument("out")
    p.add_argument("--type", default="f32", choices=["f32", "f16"])
    p.add_argument("--transformers", help="also write a transformers folder here, from the weights as rounded")
    a = p.parse_args()
    weights = rounded(state(a.checkpoint), a.type)
    to_gguf(weights, a.name, a.out, a.type)
    if a.transformers:
        to_transformers(weights, a.name, a.transformers)
