"""`python frequency.py --steps 6000` writes ../pair-frequency.csv: how often each multiplication was drawn in training.

Columns: a, b, count (drawn in the budget, the same for every organism), probability (of one draw).
"""
import argparse
import pathlib

import numpy as np

import pairs
import tasks
import train


def drawn(steps):
    """`[99, 99]` counts over the budget, and the largest position that occurred."""
    count, longest = np.zeros((99, 99), dtype=int), 0
    for step in range(steps):
        groups, ps = tasks.step_batch(train.SEED, step)
        for a, b in ps:
            count[a - 1, b - 1] += 1
        longest = max(longest, max(int(g["position"].max()) for g in groups))
    return count, longest


def read(path=pathlib.Path(__file__).parent.parent / "pair-frequency.csv"):
    """`[99, 99]` counts from the table."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, 2].reshape(99, 99).astype(int)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=train.STEPS)
    a = p.parse_args()
    count, longest = drawn(a.steps)
    probability = pairs.probability()
    rows = [f"{i + 1},{j + 1},{count[i, j]},{probability[i, j]:.4e}" for i in range(99) for j in range(99)]
    out = pathlib.Path(__file__).parent.parent / "pair-frequency.csv"
    out.write_text("a,b,count,probability\n" + "\n".join(rows) + "\n")
    print(f"draws {count.sum()}, fewest {count.min()}, most {count.max()}, longest position {longest}")
