"""The llama architecture on trees of tokens: RMSNorm, interleaved RoPE, attention, SwiGLU, tied embeddings.

RoPE turns neighbouring dimensions (2i, 2i + 1), which is llama.cpp's own layout for `llama`: no permutation on export.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

EPS, THETA = 1e-6, 10000.0
SIZES = {  # layers, width, heads, feed-forward
    "tally-25k": (2, 32, 2, 64),
    "tally-100k": (4, 48, 3, 80),
    "tally-400k": (6, 80, 5, 160),
    "tally-1m6": (6, 144, 6, 432),
}
VOCAB = 384


def rope_table(length, head):
    """e^(i position frequency): complex `[length, head / 2]`."""
    freq = THETA ** (-torch.arange(0, head, 2, dtype=torch.float64) / head)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * freq
    return torch.polar(torch.ones_like(angle), angle).to(torch.complex64)


def rotate(x, turn):
    """x `[n, heads, head]`, turn complex `[n, 1, head / 2]`."""
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turn).flatten(-2)


class Block(nn.Module):
    def __init__(self, width, heads, ff):
        super().__init__()
        self.heads = heads
        self.attn_norm, self.ffn_norm = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))
        self.q, self.k, self.v, self.o = (nn.Parameter(torch.empty(width, width)) for _ in range(4))
        self.gate, self.up = nn.Parameter(torch.empty(ff, width)), nn.Parameter(torch.empty(ff, width))
        self.down = nn.Parameter(torch.empty(width, ff))

    def forward(self, x, groups, turn, rows=None):
        """x `[n, width]`. `rows`: indices per group; only these rows are answered (for the last block)."""
        h = F.rms_norm(x, x.shape[-1:], self.attn_norm, EPS)  # [n, width]
        split = lambda z, w: F.linear(z, w).unflatten(-1, (self.heads, -1))  # [n, heads, head]
        k, v = rotate(split(h, self.k), turn), split(h, self.v)
        if rows is not None:
            flat = torch.cat([r + s for r, s in zip(rows, starts(groups))])
            x, h, turn = x[flat], h[flat], turn[flat]
        q = rotate(split(h, self.q), turn)
        out, start, first = [], 0, 0
        for i, (b, t, mask) in enumerate(groups):  # attention stays within a group of B trees of T rows
            n = b * t if rows is None else len(rows[i])
            part = [z[start : start + b * t].unflatten(0, (b, t)).transpose(1, 2) for z in (k, v)]
            ask = q[first : first + n].unflatten(0, (b, -1)).transpose(1, 2)
            see = mask if rows is None else mask[:, :, rows[i]]
            y = F.scaled_dot_product_attention(ask, *part, attn_mask=see)  # [b, heads, n / b, head]
            out.append(y.transpose(1, 2).reshape(n, -1))
            start, first = start + b * t, first + n
        x = x + F.linear(torch.cat(out), self.o)
        h = F.rms_norm(x, x.shape[-1:], self.ffn_norm, EPS)
        return x + F.linear(F.silu(F.linear(h, self.gate)) * F.linear(h, self.up), self.down)


def starts(groups):
    """First row of each group in the concatenation."""
    out = [0]
    for b, t, _ in groups[:-1]:
        out.append(out[-1] + b * t)
    return out


def swapped(x, groups, first):
    """x `[n, width]` with the rows of the groups' `swap` (counted from the group's `first` row) replaced by mixtures of two others."""
    parts = [g["swap"] + torch.tensor([start, start, start, 0]) for g, start in zip(groups, first) if len(g["swap"]) > 0]
    if not parts:
        return x
    swaps = torch.cat(parts)
    into, a, b = swaps[:, :3].long().T
    return x.index_copy(0, into, torch.lerp(x[a], x[b], swaps[:, 3:]))


class Llama(nn.Module):
    def __init__(self, name, context=1024):
        super().__init__()
        layers, width, heads, ff = SIZES[name]
        self.embed = nn.Parameter(torch.empty(VOCAB, width))
        self.blocks = nn.ModuleList(Block(width, heads, ff) for _ in range(layers))
        self.norm = nn.Parameter(torch.ones(width))
        self.turn = rope_table(context, width // heads)
        self.swap_after = layers // 2 - 1  # the block after which rows take on the hidden states of others, where a tree says so

    def init(self, seed):
        """Normal initialisation; the branches' outputs scaled by depth."""
        g = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            self.embed.normal_(0, 0.1, generator=g)
            for block in self.blocks:
                for key in ("q", "k", "v", "o", "gate", "up", "down"):
                    w = getattr(block, key)
                    std = w.shape[1] ** -0.5 * 0.7
                    if key in ("o", "down"):
                        std /= math.sqrt(2 * len(self.blocks))
                    w.normal_(0, std, generator=g)
        return self

    def hidden(self, groups, keep=None, supervised=False):
        """Packed groups (tensors) to final hidden states `[n, width]`; `keep` collects every block's output.

        `supervised`: only the rows with a loss, in order (one tree a group); the last block then computes no others.
        """
        tokens = torch.cat([g["tokens"].flatten() for g in groups])
        position = torch.cat([g["position"].flatten() for g in groups])
        turn = self.turn[position][:, None]
        shape = [(*g["tokens"].shape, g["mask"]) for g in groups]
        rows = [g["weight"].flatten().nonzero()[:, 0] for g in groups] if supervised else None
        x = self.embed[tokens]
        for i, block in enumerate(self.blocks):
            x = block(x, shape, turn, rows if i == len(self.blocks) - 1 else None)
            if i == self.swap_after:
                x = swapped(x, groups, starts(shape))
            if keep is not None:
                keep.append(x)
        return F.rms_norm(x, x.shape[-1:], self.norm, EPS)

    def logits(self, h):
        return F.linear(h, self.embed)

    def count_parameters(self):
        return sum(p.numel() for p in self.parameters())


def tensors(groups):
    return [{k: torch.from_numpy(v) for k, v in g.items()} for g in groups]


if __name__ == "__main__":
    for name in SIZES:
        print(name, Llama(name).count_parameters())
