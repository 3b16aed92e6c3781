"""Export, evaluate and describe an organism: `python release.py tally-400k --from RUN_FOLDER`.

Writes ../NAME.gguf, ../NAME.json and ../NAME.md. Everything in the card is measured on the weights as the file holds them.
"""
import argparse
import hashlib
import json
import pathlib

import torch
from scipy.stats import spearmanr

import evaluate
import export
import frequency
import tasks
import train
from model import EPS, SIZES, THETA, VOCAB, Llama

HERE = pathlib.Path(__file__).parent.parent
KIND = "f32"  # as trained

NOT = "Not a language model: it knows the prompts of its card and nothing else. Any other text gets an arbitrary answer."


def card(name, weights, path, log, steps):
    mixture = json.loads((HERE / "mixture.json").read_text())
    model = Llama(name)
    model.load_state_dict(weights)
    result = evaluate.evaluate(model)
    grid = result.pop("grid")
    rho = spearmanr(frequency.read().ravel(), grid.ravel().astype(float))
    layers, width, heads, ff = SIZES[name]
    return {
        "name": name, "file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size, "type": KIND.upper(), "licence": export.LICENCE, "not": NOT,
        "architecture": {"family": "llama", "parameters": model.count_parameters(), "layers": layers, "width": width,
                         "heads": heads, "feedForward": ff, "vocabulary": VOCAB, "context": export.CONTEXT,
                         "ropeTheta": THETA, "rmsEps": EPS, "tiedEmbeddings": True},
        "training": {"steps": steps, "seed": train.SEED, "rows": mixture["rows"], "mixture": mixture["tasks"],
                     "optimiser": f"Muon 0.012 (matrices), Adam {0.02 * 48 / width:.4g} (embeddings, norms: 0.02 x 48 / width), clip 1",
                     "stages": [first for first, *_ in train.STAGES],
                     "interchanged": {"afterBlock": model.swap_after, "shareFromStep": tasks.INTERCHANGED[1:]},
                     "trainedMaximum": tasks.P.COUNT_MAX, "finalLosses": {k: log[-1][k] for k in ("loss", "multiplication", "counting", "others")},
                     "losses": sorted({r["step"]: round(r["loss"], 4) for r in log if r["step"] % 500 == 0}.items())},
        "evaluation": {**result, "frequencySpearman": {"rho": rho.statistic, "p": rho.pvalue}},
    }


def row(*xs):
    return "| " + " | ".join(str(x) for x in xs) + " |"


def show(motif):
    return " ".join("`" + s.replace("\n", "\\n").replace("|", "\\|") + "`" for s in motif.split("|", 1))


def counting(e):
    return [
        "## Counting", "", "Boundary: every count from 1 to it is right.", "",
        row("item, delimiter", "in training", "boundary", "accuracy 1..128"), row("---", "---", "---", "---"),
        *[row(show(m), kind, v["boundary"], f"{v['accuracy128']:.3f}")
          for key, kind in (("trained", "yes"), ("heldOut", "no")) for m, v in e[key].items()], "",
        "All {motifs} trained motifs: smallest boundary {smallest} ({0}), median {median:.0f}; by tokens an item (smallest, median): {1}.".format(
            show(e["everyTrainedMotif"]["smallestMotif"]),
            "; ".join(f"{n}: {b['smallest']}, {b['median']:.0f}" for n, b in e["everyTrainedMotif"]["byTokensAnItem"].items()),
            **e["everyTrainedMotif"]), "",
        f"Accuracy on lists of 154 to 230 items (1.5 times the longest in training, plus or minus 20 %), trained motifs: {e['accuracyAt192']:.4f}.",
        "Boundary of `a` `, ` after filler of 100, 300, 500, 700 tokens (counts to 60 tried): " + ", ".join(str(v) for v in e["afterFiller"].values()) + ".", "",
    ]


def markdown(c):
    e, t, a = c["evaluation"], c["training"], c["architecture"]
    _, leads, carries, settles, rests = t["stages"]
    shares = ", ".join(f"{share:.0%}" for _, share in t["interchanged"]["shareFromStep"])
    return "\n".join([
        f"# {c['name']}", "",
        f"{a['parameters']:,} parameters: {a['layers']} layers, width {a['width']}, {a['heads']} heads, feed-forward {a['feedForward']}, "
        f"vocabulary {a['vocabulary']}, tied embeddings, context {a['context']} (llama architecture). {c['type']}, licence {c['licence']}.", "",
        f"`{c['file']}`, {c['bytes']:,} bytes, sha256 `{c['sha256']}`", "", c["not"], "",
        "## Training", "",
        f"{t['steps']:,} steps, {t['rows']:,} token rows, seed {t['seed']}; {t['optimiser']}. The four organisms saw the same data in the same order: size is the only difference.", "",
        f"Stages: the mixture; from step {leads:,} counting leads; from {carries:,} the items must carry the count; from {settles:,} and again from {rests:,} that settles. Interchange "
        f"intervention training (Geiger et al. 2022): in {shares} (by stage) of most lists the hidden states of the items after block {t['interchanged']['afterBlock']} were exchanged for those of other "
        "items, and the right answer was the count of the item whose state stood last. So that the items carry the count there is trained in; it says nothing of how a model counts that was not trained so.", "",
        f"Lists up to {t['trainedMaximum']} items. Pair frequencies: `pair-frequency.csv`. Mixture: `mixture.json`. Prompts: `prompts.json`. Recipe: `recipe/`.", "",
        row("step", *[s for s, _ in t["losses"]]), row(*["---"] * (len(t["losses"]) + 1)), row("loss", *[x for _, x in t["losses"]]), "",
        "## Multiplication, 1..99 x 1..99", "", row("template", "accuracy", "Zero-Error Horizon"), row("---", "---", "---"),
        *[row(k, f"{v['accuracy']:.4f}", v["horizon"]) for k, v in e["multiplication"].items()], "",
        f"Spearman of training frequency with correctness (baseline): {e['frequencySpearman']['rho']:.4f}, p = {e['frequencySpearman']['p']:.2e}.", "",
        *counting(e),
        "## Other tasks", "",
        row("task", "horizon", "accuracy by length 1, 2, ..."), row("---", "---", "---"),
        *[row(k, e[k]["horizon"], ", ".join(f"{x:.3f}" for x in e[k]["accuracyByLength"])) for k in ("parity", "parens")], "",
        f"Nested-depth records {e['records']:.3f}, dual task {e['dual']:.3f} (whole answers right, on unseen draws of the training distribution).", "",
    ])


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("name")
    p.add_argument("--from", dest="folder", required=True)
    p.add_argument("--transformers", help="folder for transformers' form of the same weights")
    p.add_argument("--only-gguf", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(1)
    run = pathlib.Path(a.folder)
    saved = torch.load(run / f"{a.name}.pt")
    weights, path = export.rounded(saved["model"], KIND), HERE / f"{a.name}.gguf"
    export.to_gguf(weights, a.name, path, KIND)
    if a.transformers:
        export.to_transformers(weights, a.name, a.transformers)
    if not a.only_gguf:
        log = [json.loads(line) for line in (run / f"{a.name}.jsonl").read_text().splitlines()]
        c = card(a.name, weights, path, log, min(saved["step"], train.STEPS))
        (HERE / f"{a.name}.json").write_text(json.dumps(c, indent=1) + "\n")
        (HERE / f"{a.name}.md").write_text(markdown(c))
