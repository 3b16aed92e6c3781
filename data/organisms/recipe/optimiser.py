"""Muon for the matrices, AdamW for embeddings and norms (K. Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/).

Muon: momentum, then the nearest semi-orthogonal matrix by five Newton-Schulz steps. Matrices of one shape go through
it together.
"""
import collections

import torch


def orthogonalise(g):
    """Newton-Schulz on a stack `[k, m, n]`: singular values to about 1."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (g.norm(dim=(1, 2), keepdim=True) + 1e-7)
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    for _ in range(5):
        s = x @ x.mT
        x = a * x + (b * s + c * s @ s) @ x
    return x.mT if tall else x


class Optimiser:
    def __init__(self, model, muon_lr=0.02, adam_lr=0.004, decay=0.01, momentum=0.95, betas=(0.9, 0.98)):
        self.lr, self.adam_lr, self.decay, self.momentum, self.betas = muon_lr, adam_lr, decay, momentum, betas
        stacks = collections.defaultdict(list)
        for name, p in model.named_parameters():
            stacks[tuple(p.shape) if p.ndim == 2 and name != "embed" else None].append(p)
        self.others = stacks.pop(None)
        self.stacks = list(stacks.values())
        self.forget()

    def forget(self):
        """Start with momenta of zero."""
        self.state = {
            "momentum": [torch.zeros(len(s), *s[0].shape) for s in self.stacks],
            "m": [torch.zeros_like(p) for p in self.others],
            "v": [torch.zeros_like(p) for p in self.others],
        }

    @torch.no_grad()
    def step(self, t, scale):
        """Step `t` (from 1) at `scale` times the peak rates; clears the gradients."""
        for ps, buf in zip(self.stacks, self.state["momentum"]):
            g = torch.stack([p.grad for p in ps])
            buf.lerp_(g, 1 - self.momentum)
            update = orthogonalise(torch.lerp(g, buf, self.momentum))
            rows, cols = ps[0].shape
            lr = self.lr * scale * max(1.0, rows / cols) ** 0.5
            for p, u in zip(ps, update):
                p.mul_(1 - self.lr * scale * self.decay).add_(u, alpha=-lr)
                p.grad = None
        b1, b2 = self.betas
        for p, m, v in zip(self.others, self.state["m"], self.state["v"]):
            m.lerp_(p.grad, 1 - b1)
            v.lerp_(p.grad**2, 1 - b2)
            p.add_(m / (1 - b1**t) / ((v / (1 - b2**t)).sqrt() + 1e-8), alpha=-self.adam_lr * scale)
            p.grad = None
