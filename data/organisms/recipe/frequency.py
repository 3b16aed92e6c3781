"""What training really saw: `python frequency.py` writes ../pair-frequency.csv and ../mixture.json.

pair-frequency.csv: a, b, count (times drawn in the budget, the same for every organism), probability (of one draw).
mixture.json: token rows, questions and supervised tokens by task; the longest position; how often each count was asked.
"""
import argparse
import collections
import json
import pathlib

import numpy as np

import pairs
import tasks
import train

HERE = pathlib.Path(__file__).parent.parent


def census(steps):
    """`[99, 99]` draws of each pair, and the rest as a dict."""
    count, longest = np.zeros((99, 99), dtype=int), 0
    share = collections.defaultdict(lambda: {"rows": 0, "questions": 0, "supervised": 0})
    for step in range(steps):
        names, groups, drawn = tasks.step_batch(train.SEED, step)
        np.add.at(count, tuple(np.array(drawn).T - 1), 1)
        for name, g in zip(names, groups, strict=True):
            on = g["weight"] > 0
            share[name]["rows"] += int(g["tokens"].size)
            share[name]["questions"] += int((g["target"][on] == tasks.tok.end).sum())
            share[name]["supervised"] += int(on.sum())
            longest = max(longest, int(g["position"].max()))
    return count, {"steps": steps, "seed": train.SEED, "rows": sum(s["rows"] for s in share.values()),
                   "longestPosition": longest, "tasks": share}


def read(path=HERE / "pair-frequency.csv"):
    """`[99, 99]` counts from the table."""
    return np.loadtxt(path, delimiter=",", skiprows=1)[:, 2].reshape(99, 99).astype(int)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=train.STEPS)
    count, mixture = census(p.parse_args().steps)
    probability = pairs.probability()
    rows = [f"{i + 1},{j + 1},{count[i, j]},{probability[i, j]:.4e}" for i in range(99) for j in range(99)]
    (HERE / "pair-frequency.csv").write_text("a,b,count,probability\n" + "\n".join(rows) + "\n")
    mixture["pairs"] = {"draws": int(count.sum()), "fewest": int(count.min()), "most": int(count.max())}
    (HERE / "mixture.json").write_text(json.dumps(mixture, indent=1) + "\n")
    print(mixture)
