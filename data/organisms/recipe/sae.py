"""A sparse autoencoder on the residual stream after one layer of an organism, in Gemma Scope 2's safetensors form.

Trained as a BatchTopK SAE (Bussmann et al. 2024, arXiv:2412.06410): of a batch of B positions the B k largest
activations stay. Its mean smallest kept activation is then the `threshold` of a JumpReLU SAE, which is what ships:
`acts = z * (z > threshold)` with `z = relu(x @ w_enc + b_enc)`; `reconstruction = acts @ w_dec + b_dec`.
`python sae.py CHECKPOINT.pt tally-400k --layer 2 --out ../sae`
"""
import argparse
import json
import pathlib

import numpy as np
import torch
from safetensors.torch import save_file

import evaluate
import tasks
from model import tensors
from trees import pack

FEATURES, K, BATCH, STEPS, LR, SEED = 512, 16, 1024, 2000, 2e-3, 11


@torch.no_grad()
def activations(model, layer, lists, seed):
    """`[n, d_model]`: item, delimiter and end-of-prompt positions of counting prompts, with `final [n]` marking the last."""
    rng, rows, final = np.random.default_rng(seed), [], []
    header = len(tasks.enc(tasks.ASK))
    for i in range(lists):
        tree = tasks.counting(rng, long=i % 20 == 0, stage=1)
        keep = []
        model.hidden(tensors([pack([tree])]), keep)
        first = tree.segments[0][1]
        last = {r for r in range(len(tree)) if tree.weight[r] > 0 and tree.weight[r - 1] == 0}
        for start, n, _ in tree.segments[1:]:
            ask = tree.weight[start + n - 1] > 0  # a branch: keep its last prompt token; else list items
            for r in range(start, start + n) if not ask else [r for r in range(start, start + n) if r in last]:
                rows.append(keep[layer][r])
                final.append(ask)
    return torch.stack(rows), torch.tensor(final)


def encode(p, x):
    z = torch.relu(x @ p["w_enc"] + p["b_enc"])
    return z * (z > p["threshold"])


def report(p, x, final):
    """Fraction of variance unexplained, L0, dead features."""
    acts = encode(p, x)
    fvu = lambda rows: float(((acts @ p["w_dec"] + p["b_dec"] - x)[rows] ** 2).sum() / ((x[rows] - x[rows].mean(0)) ** 2).sum())
    every = torch.ones(len(x), dtype=bool)
    return {"fvu": fvu(every), "fvuFinal": fvu(final), "fvuItems": fvu(~final), "l0": float((acts > 0).float().sum(1).mean()),
            "dead": int((acts > 0).sum(0).eq(0).sum()), "positions": len(x)}


def train(x):
    """Adam on the squared error, decoder rows of unit norm, an auxiliary loss that revives dead features."""
    g = torch.Generator().manual_seed(SEED)
    d = x.shape[1]
    mean, scale = x.mean(0), float((x - x.mean(0)).pow(2).sum(1).mean().sqrt())
    y = (x - mean) / scale
    dec = torch.nn.functional.normalize(torch.randn(FEATURES, d, generator=g), dim=1)
    p = {"w_enc": dec.T.clone(), "b_enc": torch.zeros(FEATURES), "w_dec": dec.clone(), "b_dec": torch.zeros(d)}
    for v in p.values():
        v.requires_grad_()
    opt = torch.optim.Adam(p.values(), LR, betas=(0.9, 0.99))
    last, threshold = torch.zeros(FEATURES), torch.tensor(0.0)
    for step in range(STEPS):
        for group in opt.param_groups:
            group["lr"] = LR * min(1, (STEPS - step) / (0.4 * STEPS))
        rows = y[torch.randint(len(y), (BATCH,), generator=g)]
        z = torch.relu(rows @ p["w_enc"] + p["b_enc"])
        cut = z.flatten().topk(BATCH * K).values[-1]
        acts = z * (z >= cut)
        error = rows - acts @ p["w_dec"] - p["b_dec"]
        last = torch.where((acts > 0).any(0), 0.0, last + 1)
        loss = error.pow(2).sum(1).mean()
        if bool((last > 100).any()):
            dead = (rows @ p["w_enc"] + p["b_enc"]) * (last > 100)
            top = torch.relu(dead).topk(min(K, int((last > 100).sum())), 1)
            aux = torch.zeros_like(dead).scatter(1, top.indices, top.values) @ p["w_dec"]
            loss = loss + (error.detach() - aux).pow(2).sum(1).mean() / 32
        loss.backward()
        opt.step()
        opt.zero_grad()
        with torch.no_grad():
            p["w_dec"].div_(p["w_dec"].norm(dim=1, keepdim=True))
            threshold = torch.lerp(threshold, cut.detach(), 0.01) if step else cut.detach()
        if step % 500 == 0:
            print(step, float(loss.detach()), "dead", int((last > 100).sum()), flush=True)
    with torch.no_grad():  # back to the model's own units
        out = {"w_enc": p["w_enc"].detach().clone(), "w_dec": p["w_dec"].detach().clone()}
        out["b_enc"] = (p["b_enc"] * scale - mean @ p["w_enc"]).detach().clone()
        out["b_dec"] = (p["b_dec"] * scale + mean).detach().clone()
        out["threshold"] = torch.full((FEATURES,), float(threshold) * scale)
    return {k: v.contiguous() for k, v in out.items()}


if __name__ == "__main__":
    a = argparse.ArgumentParser()
    a.add_argument("checkpoint")
    a.add_argument("name")
    a.add_argument("--layer", type=int, default=3)
    a.add_argument("--out", default="../sae")
    a = a.parse_args()
    torch.set_num_threads(1)
    model = evaluate.load(a.name, a.checkpoint)
    x, _ = activations(model, a.layer, 1000, SEED)
    held, final = activations(model, a.layer, 200, SEED + 1)
    p = train(x)
    stem = pathlib.Path(a.out) / f"{a.name}-resid_post-{a.layer}"
    stem.parent.mkdir(parents=True, exist_ok=True)
    save_file(p, f"{stem}.safetensors", {"format": "pt"})
    card = {"model": f"{a.name}.gguf", "hookPoint": f"residPost({a.layer})", "layer": a.layer, "dModel": x.shape[1],
            "dSae": FEATURES, "architecture": "jump_relu", "trainedAs": "BatchTopK", "k": K, "steps": STEPS, "batch": BATCH,
            "seed": SEED, "trainingPositions": len(x), "heldOut": report(p, held, final),
            "positions": "item, delimiter and final-token positions of counting prompts, trained motifs"}
    pathlib.Path(f"{stem}.json").write_text(json.dumps(card, indent=2) + "\n")
    print(card)
