"""Restart the recipe from its seed and compare the first losses with those recorded.

`python verify_recipe.py tally-100k --steps 200` runs in a scratch folder and exits 1 on a difference above 1e-4.
`--record` writes them instead (`losses/NAME.json`). One thread on one kind of machine repeats bit for bit; another
processor may round differently, and the difference found is printed.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import train

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("name")
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--record", action="store_true")
    a = p.parse_args()
    path = pathlib.Path(__file__).with_name("losses") / f"{a.name}.json"
    with tempfile.TemporaryDirectory() as out:
        _, losses = train.train(a.name, out, stop=a.steps)
    if a.record:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps([round(x, 7) for x in losses]) + "\n")
        sys.exit(0)
    recorded = json.loads(path.read_text())[: a.steps]
    worst = max(abs(x - y) for x, y in zip(losses, recorded, strict=False))
    print(f"{a.name}: {len(recorded)} losses, largest difference {worst:.2e}")
    sys.exit(worst > 1e-4)
