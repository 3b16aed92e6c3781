"""What transformers answers on the exported weights: the fixture that the workbench's engine is checked against.

`python reference.py prompts OUT/prompts.json` writes 1,000 prompts over all tasks;
`python reference.py run HF_FOLDER GGUF OUT/prompts.json OUT/NAME.json` the greedy answers (token ids, end included) and,
at the first answer position, the logits of the ten digits and of the best token.
"""
import hashlib
import itertools
import json
import pathlib
import sys

import numpy as np
import torch

import prompts as P
import tasks

LIMIT = 24  # most answer tokens


def make_prompts(seed=1000):
    rng = np.random.default_rng(seed)
    pick = lambda xs: xs[int(rng.integers(len(xs)))]
    out = []
    add = lambda task, user, system=None, answer=None: out.append(
        {"task": task, "text": P.prompt(user, system), "right": answer})
    lists = lambda item, delim, n: delim.join([item] * n)
    for n in [*range(1, 131, 2), *range(131, 260, 9)]:
        add("counting", P.COUNTING + "\n\n" + lists("a", ", ", n), answer=str(n))
    for kind in ("trained", "heldOut"):
        for _ in range(90):
            item, n = pick(P.MOTIFS["items"][kind]), int(rng.integers(1, 80))
            delim = pick(P.MOTIFS["delimiters"][kind if rng.random() < 0.5 else "trained"])
            add("motif", P.COUNTING + "\n\n" + lists(item, delim, n), answer=str(n))
    for _ in range(40):
        n, pad = int(rng.integers(1, 60)), tasks.filler(rng, int(rng.integers(20, 800)))
        add("filler", pad + P.COUNTING + "\n\n" + lists("a", ", ", n), answer=str(n))
    for name, (system, user) in P.MULTIPLICATION.items():
        for _ in range(80):
            a, b = (int(x) for x in rng.integers(1, 100, 2))
            add(name, user.format(a=a, b=b), system, str(a * b))
    for _ in range(90):
        s = "".join(map(str, rng.integers(0, 2, int(rng.integers(1, 13)))))
        add("parity", s, P.PARITY, str(s.count("1") % 2))
        s = "".join(pick("()") for _ in range(int(rng.integers(1, 13))))
        add("parens", s, P.PARENS, "Yes" if tasks.balanced(s) else "No")
    for _ in range(30):
        hits = rng.random(int(rng.integers(1, 13))) < 0.5
        add("records", P.RECORDS + "\n\n" + "\n".join(tasks.record(rng, h) for h in hits), answer=str(int(hits.sum())))
    for kind in itertools.cycle(P.QUESTION_KINDS):
        if len(out) == 1000:
            return out
        (q, answer), n = P.question(rng, kind), int(rng.integers(1, 97))
        add("dual", q + "\n\n" + lists("a", ", ", n), P.DUAL, P.DUAL_ANSWER.format(answer=answer, count=n))


@torch.no_grad()
def run(folder, prompts):
    from transformers import LlamaForCausalLM

    torch.set_num_threads(1)
    model = LlamaForCausalLM.from_pretrained(folder, torch_dtype=torch.float32).eval()
    digits = [tasks.tok.id[str(d)] for d in range(10)]
    for p in prompts:
        ids, past, answer, first = torch.tensor([tasks.enc(p["text"])]), None, [], None
        while len(answer) < LIMIT and (not answer or answer[-1] != tasks.tok.end):
            out = model(ids, past_key_values=past, use_cache=True)
            logits, past = out.logits[0, -1], out.past_key_values
            if first is None:
                first = [round(float(x), 5) for x in [*logits[digits], logits.max()]]
            answer.append(int(logits.argmax()))
            ids = torch.tensor([[answer[-1]]])
        yield {"answer": answer, "logits": first}


if __name__ == "__main__":
    if sys.argv[1] == "prompts":
        rows = make_prompts()
        pathlib.Path(sys.argv[2]).write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    else:
        folder, gguf, source, target = sys.argv[2:6]
        rows = list(run(folder, json.loads(pathlib.Path(source).read_text())))
        head = {"gguf": pathlib.Path(gguf).name, "sha256": hashlib.sha256(pathlib.Path(gguf).read_bytes()).hexdigest(),
                "logitsOf": [tasks.tok.id[str(d)] for d in range(10)] + ["max"]}
        body = ",\n".join(json.dumps(r) for r in rows)
        pathlib.Path(target).write_text(json.dumps(head)[:-1] + ', "rows": [\n' + body + "\n]}\n")
