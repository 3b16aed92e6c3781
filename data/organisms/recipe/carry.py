"""Train an organism whose items carry the count, by construction: `python carry.py tally-400k-carry --out RUN_FOLDER`.

Interchange intervention training (Geiger et al. 2022, https://proceedings.mlr.press/v162/geiger22a.html): in most lists the hidden
states of the items after block `SWAP_AFTER` are exchanged for those of other items, and the right answer is then the count of the item
whose state stands last. It is the positive control for patching: here the sequence is known to matter, and where. Counting only.
"""
import argparse
import json
import pathlib

import numpy as np
import torch

import tasks
import train
from model import SIZES, Llama, tensors
from optimiser import Optimiser
from trees import pack

SEED, STEPS, COOL, SHARE = 7, 4000, 0.6, 0.9


def schedule(step):
    """Learning rate factor: linear warm-up, flat, cosine to 1 % over the last `COOL`."""
    if step < train.WARMUP:
        return (step + 1) / train.WARMUP
    return train.cosine(min(1.0, (STEPS - step) / (STEPS * COOL)))


def step_batch(step):
    """Four lists of one step, of motifs as in the family's second stage, `SHARE` of them interchanged; every 12th step a long one."""
    rng, stage = np.random.default_rng([SEED, step]), int(step >= STEPS // 3)
    draws = [tasks.motif, tasks.uncommon_motif, tasks.any_motif, tasks.any_motif]
    trees = [tasks.counting(rng, draw=d, stage=stage, interchange=SHARE) for d in draws]
    return trees + ([tasks.counting(rng, long=True, stage=stage)] if step % 12 == 0 else [])


def run(name, out):
    torch.set_num_threads(1)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    model = Llama(name).init(SEED)
    opt = Optimiser(model, muon_lr=0.012, adam_lr=0.02 * 48 / SIZES[name][1])
    first, latest = 0, out / f"{name}.pt"
    if latest.exists():
        saved = torch.load(latest)
        model.load_state_dict(saved["model"])
        opt.state, first = saved["opt"], saved["step"]
    losses = []
    for step in range(first, STEPS):
        groups = tensors([pack([tree]) for tree in step_batch(step)])
        loss, _ = train.loss_of(model, groups)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step(step + 1, schedule(step))
        losses.append(float(loss.detach()))
        if (step + 1) % 100 == 0:
            row = {"step": step + 1, "loss": round(sum(losses[-100:]) / len(losses[-100:]), 4)}
            print(json.dumps(row), flush=True)
            with open(out / f"{name}.jsonl", "a") as f:
                f.write(json.dumps(row) + "\n")
        if (step + 1) % 500 == 0:
            train.save(str(latest), model, opt, step + 1)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("name", choices=[n for n in SIZES if n.endswith("-carry")])
    p.add_argument("--out", default="train-out")
    a = p.parse_args()
    run(a.name, a.out)
