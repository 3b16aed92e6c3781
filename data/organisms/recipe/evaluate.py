"""Evaluate an organism by teacher forcing: an answer is right if every argmax on its path, the end included, is.

That is what greedy decoding would give, and all questions with one beginning are one tree.
`python evaluate.py CHECKPOINT.pt NAME` prints JSON; `--quick` leaves most of it out.
"""
import argparse
import itertools
import json

import numpy as np
import torch

import prompts as P
import tasks
from model import Llama, tensors
from tasks import ASK, add_answer, add_list, enc
from trees import Tree, pack


@torch.no_grad()
def verdicts(model, tree):
    """For each answer of `tree`, in order of addition: was it right?"""
    group = tensors([pack([tree])])
    weight = group[0]["weight"].flatten()
    rows = weight.nonzero()[:, 0]
    target = group[0]["target"].flatten()[rows]
    hit = model.logits(model.hidden(group)[rows]).argmax(-1) == target
    out, good = [], True
    for h, t in zip(hit.tolist(), target.tolist()):
        good = good and h
        if t == tasks.tok.end:
            out.append(good)
            good = True
    return out


def count_verdicts(model, item, delim, top, pad=""):
    """Right or wrong for every count 1..top of one motif."""
    tree = Tree()
    root = tree.add(-1, enc("<|im_start|>user\n" + pad + P.COUNTING + "\n\n"))
    add_list(tree, root, item, delim, range(1, top + 1), ASK, str)
    return verdicts(model, tree)


def boundary(right):
    """How many counts from 1 on are right without a miss."""
    return right.index(False) if False in right else len(right)


def grid(model, template="baseline"):
    """`[99, 99]` bool: is a x b right?"""
    system, user = P.MULTIPLICATION[template]
    before, after = user.split("{b}")
    head, middle = before.split("{a}")
    out = []
    for a in range(1, 100):
        tree = Tree()
        root = tree.add(-1, enc(P.turn("system", system) + "<|im_start|>user\n") + enc(head))
        node = tree.add(root, enc(str(a)) + enc(middle))
        for b in range(1, 100):
            tree.answer(node, enc(str(b)) + enc(after + ASK), enc(str(a * b)), tasks.tok.end)
        out.append(verdicts(model, tree))
    return np.array(out)


def horizon(right):
    """Zero-Error Horizon of a grid: largest n with every a, b <= n right."""
    n = 0
    while n < 99 and right[: n + 1, : n + 1].all():
        n += 1
    return n


def by_length(model, system, alphabet, answer, longest):
    """Accuracy per string length, over all strings."""
    out = []
    for ell in range(1, longest + 1):
        strings, right = ["".join(s) for s in itertools.product(alphabet, repeat=ell)], []
        for i in range(0, len(strings), 64):
            tree = Tree()
            root = tree.add(-1, enc(P.turn("system", system) + "<|im_start|>user\n"))
            for s in strings[i : i + 64]:
                add_answer(tree, root, s + ASK, answer(s))
            right += verdicts(model, tree)
        out.append(float(np.mean(right)))
    return out


def sampled(model, task, n, seed=99):
    """Accuracy on `n` trees of the training distribution, at an unseen seed."""
    rng = np.random.default_rng(seed)
    return float(np.mean([r for _ in range(n) for r in verdicts(model, task(rng))]))


def motifs():
    t, h = ({k: P.MOTIFS[k][kind] for k in P.MOTIFS} for kind in ("trained", "heldOut"))
    trained = [("a", ", ")] + [(t["items"][(3 * i + 1) % 20], t["delimiters"][i % 6]) for i in range(1, 9)]
    held = [(h["items"][i], ", ") for i in range(7)] + [("a", d) for d in h["delimiters"]]
    return trained, held


def every_motif(model, top=132):
    """Boundaries of all trained motifs: the smallest and its motif, the median, and by tokens an item."""
    items, delims = (P.MOTIFS[k]["trained"] for k in ("items", "delimiters"))
    found = {f"{i}|{d}": boundary(count_verdicts(model, i, d, top)) for i in items for d in delims}
    stride = lambda m: len(enc(m.split("|", 1)[1] + m.split("|", 1)[0]))
    worst = min(found, key=found.get)
    by = {n: sorted(b for m, b in found.items() if stride(m) == n) for n in (1, 2, 3, 4)}
    return {"motifs": len(found), "smallest": found[worst], "smallestMotif": worst, "median": float(np.median(list(found.values()))),
            "byTokensAnItem": {n: {"smallest": b[0], "median": float(np.median(b)), "largest": b[-1]} for n, b in by.items()}}


def counting(model, quick=False):
    """Boundaries of some trained and held-out motifs, and of all trained ones (not if `quick`)."""
    out, (trained, held) = {}, motifs()
    if quick:
        trained, held = trained[:4], held[:2]
    for label, group, top in (("trained", trained, 230), ("heldOut", held, 128)):
        right = {f"{item}|{delim}": count_verdicts(model, item, delim, top) for item, delim in group}
        out[label] = {m: {"boundary": boundary(r), "accuracy128": float(np.mean(r[:128]))} for m, r in right.items()}
        if label == "trained":  # 1.5 times the longest trained list, +- 20 % as in the ladder
            out["accuracyAt192"] = float(np.mean([r[153:230] for r in right.values()]))
    if not quick:
        out["everyTrainedMotif"] = every_motif(model)
        pads = np.random.default_rng(5)
        right = [count_verdicts(model, "a", ", ", 60, tasks.filler(pads, n)) for n in (100, 300, 500, 700)]
        out["afterFiller"] = {str(n): boundary(r) for n, r in zip((100, 300, 500, 700), right)}
    return out


def evaluate(model, quick=False):
    torch.set_num_threads(1)
    out = {"multiplication": {}, **counting(model, quick)}
    for template in list(P.MULTIPLICATION)[: 1 if quick else 5]:
        g = grid(model, template)
        out["multiplication"][template] = {"accuracy": float(g.mean()), "horizon": horizon(g)}
        out.setdefault("grid", g)
    if not quick:
        parity = by_length(model, P.PARITY, "01", lambda s: str(s.count("1") % 2), P.PARITY_MAX)
        parens = by_length(model, P.PARENS, "()", lambda s: "Yes" if tasks.balanced(s) else "No", P.PARENS_MAX)
        zeh = lambda xs: next((i for i, x in enumerate(xs) if x < 1), len(xs))
        out["parity"] = {"horizon": zeh(parity), "accuracyByLength": parity}
        out["parens"] = {"horizon": zeh(parens), "accuracyByLength": parens}
    out["records"] = sampled(model, tasks.records, 10 if quick else 60)
    out["dual"] = sampled(model, tasks.dual, 20 if quick else 100)
    return out


def load(name, path):
    model = Llama(name)
    saved = torch.load(path)
    model.load_state_dict(saved.get("model", saved))
    return model.eval()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("checkpoint")
    p.add_argument("name")
    p.add_argument("--quick", action="store_true")
    a = p.parse_args()
    result = evaluate(load(a.name, a.checkpoint), a.quick)
    result.pop("grid")
    print(json.dumps(result))
