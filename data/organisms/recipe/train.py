"""Train one organism: `python train.py tally-400k --out /some/folder`.

Everything follows from the seed: weights, data and order are the same after any stop and restart (checkpoints every
500 steps; `--steps` is the budget, the same for the whole family). One thread, so that losses repeat bit for bit.
"""
import argparse
import json
import math
import pathlib
import time

import torch
import torch.nn.functional as F

import tasks
from model import Llama, tensors
from optimiser import Optimiser

SEED, STEPS, WARMUP, COOL = 7, 6000, 100, 0.5


def schedule(step, steps, more=0, again=0.3):
    """Learning rate factor: linear warm-up, flat, cosine to 1 % over the last `COOL` of the budget.

    `more` steps after it: from `again` to 1 % by a cosine.
    """
    if step < WARMUP:
        return (step + 1) / WARMUP
    if step >= steps:
        return 0.01 + (again - 0.01) * 0.5 * (1 + math.cos(math.pi * (step - steps) / more))
    rest = min(1.0, (steps - step) / (steps * COOL))
    return 0.01 + 0.99 * 0.5 * (1 - math.cos(math.pi * rest))


def loss_of(model, groups):
    """Mean cross-entropy over the answer tokens, in nats."""
    weight = torch.cat([g["weight"].flatten() for g in groups])
    rows = weight.nonzero()[:, 0]
    target = torch.cat([g["target"].flatten() for g in groups])[rows]
    h = model.hidden(groups, supervised=True)
    each = F.cross_entropy(model.logits(h), target, reduction="none")
    return (each * weight[rows]).sum() / weight.sum(), each.detach()


def group_losses(groups, each, step):
    """Mean loss of the multiplication rows, the counting row, and the row of a small task (nan in odd steps)."""
    parts = each.split([int((g["weight"] > 0).sum()) for g in groups])
    m = tasks.MULTIPLICATION_ROWS
    return [float(torch.cat(parts[:m]).mean()), float(parts[m].mean()), math.nan if step % 2 else float(parts[m + 1].mean())]


def save(path, model, opt, step):
    torch.save({"model": model.state_dict(), "opt": opt.state, "step": step}, path + ".tmp")
    pathlib.Path(path + ".tmp").rename(path)


def train(name, out, steps=STEPS, stop=None, snapshots=(), log_every=100, lr=0.012, adam_lr=0.02, more=0, again=0.3):
    torch.set_num_threads(1)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    model = Llama(name).init(SEED)
    opt, first, latest = Optimiser(model, muon_lr=lr, adam_lr=adam_lr), 0, out / f"{name}.pt"
    if latest.exists():
        saved = torch.load(latest)
        model.load_state_dict(saved["model"])
        opt.state, first = saved["opt"], saved["step"]
    t0, losses, tokens, recent = time.time(), [], 0, []
    for step in range(first, stop or steps + more):
        if step in snapshots:
            torch.save(model.state_dict(), out / f"{name}-step{step:05d}.pt")
        groups = tensors(tasks.step_batch(SEED, step)[0])
        loss, each = loss_of(model, groups)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step(step + 1, schedule(step, steps, more, again))
        losses.append(float(loss.detach()))
        tokens += sum(g["tokens"].numel() for g in groups)
        recent.append(group_losses(groups, each, step))
        if (step + 1) % log_every == 0:
            mean = torch.tensor(recent).nanmean(0).tolist()
            row = {"step": step + 1, "loss": sum(losses[-log_every:]) / log_every, "multiplication": mean[0],
                   "counting": mean[1], "others": mean[2], "seconds": round(time.time() - t0, 1), "rows": tokens}
            recent = []
            print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}), flush=True)
            with open(out / f"{name}.jsonl", "a") as f:
                f.write(json.dumps(row) + "\n")
        if (step + 1) % 500 == 0 or step + 1 == (stop or steps + more):
            save(str(latest), model, opt, step + 1)
    return model, losses


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("name")
    p.add_argument("--out", default="train-out")
    p.add_argument("--steps", type=int, default=STEPS)
    p.add_argument("--stop", type=int)
    p.add_argument("--lr", type=float, default=0.012)
    p.add_argument("--adam-lr", type=float, default=0.02)
    p.add_argument("--more", type=int, default=0, help="steps after the budget")
    p.add_argument("--again", type=float, default=0.3, help="rate at which they begin, as a share of the peak")
    p.add_argument("--snapshots", default="", help="comma-separated steps whose weights are kept")
    a = p.parse_args()
    train(a.name, a.out, a.steps, a.stop, [int(s) for s in a.snapshots.split(",") if s], lr=a.lr, adam_lr=a.adam_lr, more=a.more, again=a.again)
