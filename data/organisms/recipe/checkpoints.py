"""A dozen moments of one organism's training: `python checkpoints.py tally-100k --from RUN_FOLDER`.

Writes ../checkpoints/NAME-stepNNNNN.gguf (F16) and ../checkpoints/index.json with what each could do by then.
"""
import argparse
import hashlib
import json
import pathlib

import numpy as np
import torch

import evaluate
import export
from model import Llama

HERE = pathlib.Path(__file__).parent.parent / "checkpoints"

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("name")
    p.add_argument("--from", dest="folder", required=True)
    a = p.parse_args()
    torch.set_num_threads(1)
    run, rows = pathlib.Path(a.folder), []
    HERE.mkdir(exist_ok=True)
    last = torch.load(run / f"{a.name}.pt")
    snapshots = {int(f.stem.split("step")[1]): torch.load(f) for f in run.glob(f"{a.name}-step*.pt")}
    for step, state in sorted({**snapshots, last["step"]: last["model"]}.items()):
        weights, path = export.rounded(state, "f16"), HERE / f"{a.name}-step{step:05d}.gguf"
        export.to_gguf(weights, a.name, path, "f16", title=f"{a.name} at step {step}")
        model = Llama(a.name)
        model.load_state_dict(weights)
        grid = evaluate.grid(model)
        right = evaluate.count_verdicts(model, "a", ", ", 128)
        rows.append({"step": step, "file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                     "multiplicationAccuracy": float(grid.mean()), "horizon": evaluate.horizon(grid),
                     "countBoundary": evaluate.boundary(right), "countAccuracy128": float(np.mean(right))})
        print(rows[-1], flush=True)
    (HERE / "index.json").write_text(json.dumps({"model": a.name, "type": "F16", "checkpoints": rows}, indent=1) + "\n")
