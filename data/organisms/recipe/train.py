"""Train one organism: `python train.py tally-400k --out /some/folder`.

Everything follows from the seed: weights, data and order are the same after any stop and restart (checkpoints every
500 steps; the budget is the same for the whole family). One thread, so that losses repeat bit for bit.
"""
import argparse
import json
import math
import pathlib
import time

import torch
import torch.nn.functional as F

import tasks
from model import SIZES, Llama, tensors
from optimiser import Optimiser

SEED, STEPS = 7, 14000
# Stages: first step; learning rate factor it starts from, its peak; steps from the one to the other; share of the stage over which it falls.
STAGES = [(0, 0.0, 1.0, 100, 0.5), (tasks.LEADS, 0.01, 0.4, 50, 1.0), (tasks.CARRIES, 0.01, 1.0, 100, 0.6), (tasks.SETTLES, 0.01, 0.4, 50, 1.0),
          (tasks.RESTS, 0.01, 0.4, 50, 1.0)]


def schedule(step):
    """Learning rate factor: in each stage a linear rise to its peak, flat, cosine to 1 % at its end."""
    first, start, peak, rise, fall = next(s for s in reversed(STAGES) if step >= s[0])
    end = min((s[0] for s in STAGES if s[0] > step), default=STEPS)
    rest = min(1.0, (end - step) / ((end - first) * fall))
    falling = 0.01 + (peak - 0.01) * 0.5 * (1 - math.cos(math.pi * rest))
    return start + min(1.0, (step - first + 1) / rise) * (falling - start)


def loss_of(model, groups):
    """Mean cross-entropy over the answer tokens, in nats."""
    weight = torch.cat([g["weight"].flatten() for g in groups])
    rows = weight.nonzero()[:, 0]
    target = torch.cat([g["target"].flatten() for g in groups])[rows]
    h = model.hidden(groups, supervised=True)
    each = F.cross_entropy(model.logits(h), target, reduction="none")
    return (each * weight[rows]).sum() / weight.sum(), each.detach()


def task_losses(names, groups, each):
    """Mean loss of the rows of multiplication, of counting, and of the small tasks."""
    parts = each.split([int((g["weight"] > 0).sum()) for g in groups])
    mean = lambda want: float(torch.cat([x for n, x in zip(names, parts) if want(n)]).mean())
    return [mean(lambda n: n == "multiplication"), mean(lambda n: n == "counting"),
            mean(lambda n: n in {task.__name__ for task in tasks.SMALL})]


def save(path, model, opt, step):
    torch.save({"model": model.state_dict(), "opt": opt.state, "step": step}, path + ".tmp")
    pathlib.Path(path + ".tmp").rename(path)


def train(name, out, stop=STEPS, snapshots=(), log_every=100, lr=0.012, adam_lr=0.02):
    torch.set_num_threads(1)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    model = Llama(name).init(SEED)
    # Adam moves a logit of the tied embedding by about rate x width a step: the rate is for width 48.
    opt = Optimiser(model, muon_lr=lr, adam_lr=adam_lr * 48 / SIZES[name][1])
    first, latest = 0, out / f"{name}.pt"
    if latest.exists():
        saved = torch.load(latest)
        model.load_state_dict(saved["model"])
        opt.state, first = saved["opt"], saved["step"]
    t0, losses, tokens, recent = time.time(), [], 0, []
    for step in range(first, stop):
        if step == tasks.CARRIES:
            opt.forget()  # stage three starts from the weights alone
        if step in snapshots:
            torch.save(model.state_dict(), out / f"{name}-step{step:05d}.pt")
        names, rows, _ = tasks.step_batch(SEED, step)
        groups = tensors(rows)
        loss, each = loss_of(model, groups)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step(step + 1, schedule(step))
        losses.append(float(loss.detach()))
        tokens += sum(g["tokens"].numel() for g in groups)
        recent.append(task_losses(names, groups, each))
        if (step + 1) % log_every == 0:
            mean = torch.tensor(recent).mean(0).tolist()
            row = {"step": step + 1, "loss": sum(losses[-log_every:]) / log_every, "multiplication": mean[0],
                   "counting": mean[1], "others": mean[2], "seconds": round(time.time() - t0, 1), "rows": tokens}
            recent = []
            print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}), flush=True)
            with open(out / f"{name}.jsonl", "a") as f:
                f.write(json.dumps(row) + "\n")
        if (step + 1) % 500 == 0 or step + 1 == stop:
            save(str(latest), model, opt, step + 1)
    return model, losses


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("name")
    p.add_argument("--out", default="train-out")
    p.add_argument("--stop", type=int, default=STEPS)
    p.add_argument("--lr", type=float, default=0.012)
    p.add_argument("--adam-lr", type=float, default=0.02)
    p.add_argument("--snapshots", default="", help="comma-separated steps whose weights are kept")
    a = p.parse_args()
    train(a.name, a.out, a.stop, [int(s) for s in a.snapshots.split(",") if s], lr=a.lr, adam_lr=a.adam_lr)
