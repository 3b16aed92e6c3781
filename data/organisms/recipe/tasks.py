"""The mixture: what a training step is made of. Everything follows from (seed, step)."""
import functools

import numpy as np

import pairs
import prompts as P
from tokenizer import Tokenizer
from trees import Tree, pack

CONTEXT = 1024
ASK = P.END + "\n" + P.ASSISTANT  # ends a user turn and opens the answer
tok = Tokenizer()
enc = tok.encode

PAIR_P = pairs.probability()
A_CDF = PAIR_P.sum(1).cumsum()
B_CDF = (PAIR_P / PAIR_P.sum(1, keepdims=True)).cumsum(1)


def choice(rng, xs):
    return xs[int(rng.integers(len(xs)))]


def add_answer(tree, parent, tail, answer, weight=1.0):
    tree.answer(parent, enc(tail), enc(answer), tok.end, weight)


def draw_pairs(rng, groups, each):
    """`groups` draws of a, and for each `each` draws of b given a: list of (a, [b]). Marginally, pairs follow PAIR_P."""
    out = []
    for _ in range(groups):
        a = min(int(np.searchsorted(A_CDF, rng.random())), 98)
        bs = np.minimum(np.searchsorted(B_CDF[a], rng.random(each)), 98)
        out.append((a + 1, [int(b) + 1 for b in bs]))
    return out


def multiplication(rng, groups=4, each=4):
    """One template, `groups x each` problems."""
    name = choice(rng, list(P.MULTIPLICATION))
    system, user = P.MULTIPLICATION[name]
    before, after = user.split("{b}")
    head, middle = before.split("{a}")
    tree, drawn = Tree(), draw_pairs(rng, groups, each)
    root = tree.add(-1, enc(P.turn("system", system) + "<|im_start|>user\n") + enc(head))
    for a, bs in drawn:
        node = tree.add(root, enc(str(a)) + enc(middle))
        for b in bs:
            tree.answer(node, enc(str(b)) + enc(after + ASK), enc(str(a * b)), tok.end)
    return tree, drawn


def motif(rng, kind="trained"):
    """The baseline `a, a, a` in a third of the lists, else any trained item and delimiter."""
    if rng.random() < 0.33:
        return "a", ", "
    return choice(rng, P.MOTIFS["items"][kind]), choice(rng, P.MOTIFS["delimiters"][kind])


STRIDES = {n: [(i, d) for i in P.MOTIFS["items"]["trained"] for d in P.MOTIFS["delimiters"]["trained"] if len(enc(d + i)) == n]
           for n in (1, 3, 4)}


def uncommon_motif(rng):
    """A trained motif of one, three or four tokens an item, each a third (three of four `motif`s have two)."""
    return choice(rng, STRIDES[choice(rng, list(STRIDES))])


TRUNK = np.arange(4, P.COUNT_MAX + 1)
FALL = [1.2, 0.7]  # by stage: the length n of a list has probability ~ n^-FALL


def counts(rng, cap=P.COUNT_MAX, k=10, stage=0):
    """Up to `k` distinct counts of one list, sorted; its length falls off by `FALL`, the others are uniform below it."""
    chance = TRUNK ** -FALL[stage]
    top = min(int(rng.choice(TRUNK, p=chance / chance.sum())), cap)
    return sorted({top, *(int(x) for x in rng.integers(1, top + 1, k - 1))})


def add_list(tree, root, item, delim, ns, tail, answer, weight=1.0):
    """A list of max(ns) items below `root`, and at each n in `ns` a branch: `tail`, then answer(n). Rows of the items' ends."""
    done, ends = 0, []
    for n in ns:
        text = [enc(item if i == 0 else delim + item) for i in range(done, n)]
        ends += [len(tree) - 1 + int(k) for k in np.cumsum([len(t) for t in text])]
        root = tree.add(root, [t for s in text for t in s])
        add_answer(tree, root, tail, answer(n), weight(n) if callable(weight) else weight)
        done = n
    return ends


PACES = [0, 1 / 3, 1 / 2, 1, 1, 2, 3]


def add_interchanged(rng, tree, root, item, delim, ns, tail):
    """The same, but the hidden states of the items are exchanged: item k takes on that of place `start + pace (k - 1)` of the list
    (between two places a mixture of both, at the ends the first and the last), and a branch must answer the place of its last item."""
    top, pace = ns[-1], choice(rng, PACES)
    start = int(rng.integers(1, top + 1)) - pace * (choice(rng, ns) - 1)
    place = lambda k: start + pace * (k - 1)
    asked = lambda n: 1 <= place(n) <= top + 1e-9 and abs(place(n) - round(place(n))) < 1e-9
    ends = add_list(tree, root, item, delim, ns, tail, lambda n: str(round(place(n))) if asked(n) else "1", lambda n: float(asked(n)))
    for k, row in enumerate(ends, 1):
        at = min(max(place(k), 1), top)
        low = min(int(at + 1e-9), top)
        tree.swap.append((row, ends[low - 1], ends[min(low, top - 1)], max(0.0, at - low)))


def filler(rng, tokens):
    """Neutral sentences of exactly `tokens` tokens with the blank line after them, dots where no word fits."""
    text, left = "", tokens - 3
    while True:
        for word in P.fillers(rng, 1).split(" "):
            more = " " + word if text else word
            if len(enc(more)) > left:
                kept = text.rstrip(".")
                return kept + "." * (1 + left + len(text) - len(kept)) + "\n\n"
            text, left = text + more, left - len(enc(more))


def any_motif(rng):
    """Any trained motif, all as likely."""
    return choice(rng, P.MOTIFS["items"]["trained"]), choice(rng, P.MOTIFS["delimiters"]["trained"])


def counting(rng, long=False, draw=motif, stage=0, interchange=0.0):
    """A list and its counts; `long`: after filler that puts it anywhere up to the end of the context.

    `interchange`: share of the lists (not the long ones, nor those with the instruction behind) made by `add_interchanged`.
    """
    item, delim = draw(rng)
    ns, tree = counts(rng, stage=stage), Tree()
    per_item = len(enc(delim + item))
    pad = 0
    if long:  # half of them end where the context ends
        room = CONTEXT - len(enc(P.prompt(P.COUNTING + "\n\n"))) - len(str(ns[-1])) - len(enc(item)) - per_item * (ns[-1] - 1)
        pad = room if rng.random() < 0.5 else int(rng.integers(40, room + 1))
    elif rng.random() < 0.3:
        pad = int(rng.integers(24, 90))
    elif rng.random() < 0.14:  # instruction after the list
        root = tree.add(-1, enc("<|im_start|>user\n"))
        add_list(tree, root, item, delim, ns[-5:], "\n\n" + P.COUNTING + ASK, str)
        return tree
    root = tree.add(-1, enc("<|im_start|>user\n" + (filler(rng, pad) if pad else "") + P.COUNTING + "\n\n"))
    if interchange and not long and rng.random() < interchange:
        add_interchanged(rng, tree, root, item, delim, ns, ASK)
    else:
        add_list(tree, root, item, delim, ns, ASK, str)
    return tree


def parity(rng, n=24):
    tree = Tree()
    root = tree.add(-1, enc(P.turn("system", P.PARITY) + "<|im_start|>user\n"))
    length = np.minimum(1 + (P.PARITY_MAX * rng.random(n) ** 1.3).astype(int), P.PARITY_MAX)
    for ell in length:
        bits = rng.integers(0, 2, ell)
        add_answer(tree, root, "".join(map(str, bits)) + ASK, str(int(bits.sum() % 2)))
    return tree


def balanced(s):
    depth = 0
    for c in s:
        depth += 1 if c == "(" else -1
        if depth < 0:
            return False
    return depth == 0


@functools.cache
def balanced_strings(n):
    """All balanced strings of length `n`."""
    if n == 0:
        return [""]
    return ["(" + x + ")" + y for k in range(0, n, 2) for x in balanced_strings(k) for y in balanced_strings(n - 2 - k)]


def parens(rng, n=14):
    """A third balanced, a third one symbol away from balanced, a third any string of any length."""
    tree = Tree()
    root = tree.add(-1, enc(P.turn("system", P.PARENS) + "<|im_start|>user\n"))
    for i in range(n):
        ell = min(1 + int(P.PARENS_MAX * rng.random() ** 1.3), P.PARENS_MAX)
        s = "".join("()"[b] for b in rng.integers(0, 2, ell))
        if i % 3 < 2:
            s = choice(rng, balanced_strings(max(2, ell - ell % 2)))
        if i % 3 == 1:
            k = int(rng.integers(len(s)))
            s = s[:k] + ("" if rng.random() < 0.3 and len(s) > 2 else ")" if s[k] == "(" else "(") + s[k + 1 :]
        add_answer(tree, root, s + ASK, "Yes" if balanced(s) else "No")
    return tree


def record(rng, match):
    """One record; a near miss hides the key on the path but not at its end, or in SIDE."""
    names = [P.RECORD_TOKENS[i] for i in rng.permutation(len(P.RECORD_TOKENS))[:6]]
    depth = int(rng.integers(1, 4))
    path, closing = names[1 : 1 + depth], ""
    key, side = (path[-1], names[5]) if match else (names[0], names[5])
    if not match and rng.random() < 0.6:
        if depth > 1 and rng.random() < 0.5:
            path[int(rng.integers(depth - 1))] = key
        else:
            side = key
    text = path[0]
    for i, name in enumerate(path[1:]):
        left, right = P.BRACKETS[i % 3]
        text, closing = text + left + name, right + closing
    return P.RECORD.format(key=key, path=text + closing, side=side)


def records(rng):
    """Records with as many distractors as matches, more or less; a branch wherever the number of matches is new."""
    tree = Tree()
    root = tree.add(-1, enc("<|im_start|>user\n" + P.RECORDS + "\n\n"))
    matches, want = 0, int(rng.integers(1, P.RECORDS_MAX + 1)) if rng.random() < 0.5 else int(rng.integers(1, 5))
    first = True
    while matches < want:
        hit = rng.random() < 0.55
        root = tree.add(root, enc(("" if first else "\n") + record(rng, hit)))
        first, matches = False, matches + hit
        if rng.random() < 0.7 or matches == want:
            add_answer(tree, root, ASK, str(matches))
    return tree


def dual(rng):
    """A question and a list; or its controls: irrelevant code, or a second list of another marker."""
    kind = choice(rng, [*P.QUESTION_KINDS, "code", "second"])
    item, delim = ("a", ", ") if rng.random() < 0.7 else motif(rng)
    ns, tree = counts(rng, cap=P.DUAL_MAX, k=5), Tree()
    if kind == "code":  # no question: plain counting after code of about the length of one
        q, _ = P.question(rng, "coding")
        root = tree.add(-1, enc("<|im_start|>user\n" + q.split(" ")[2] + "\n\n" + P.COUNTING + "\n\n"))
        add_list(tree, root, item, delim, ns, ASK, str)
        return tree
    if kind == "second":
        m = int(rng.integers(1, 33))
        q, answer = P.SECOND + "\n\n" + ", ".join(["b" if item != "b" else "c"] * m), str(m)
    else:
        q, answer = P.question(rng, kind)
    root = tree.add(-1, enc(P.turn("system", P.DUAL) + "<|im_start|>user\n" + q + "\n\n"))
    add_list(tree, root, item, delim, ns, ASK, lambda n: P.DUAL_ANSWER.format(answer=answer, count=n))
    return tree


# From these steps on counting leads the mixture; the items must carry the count; and, in two goes, what was shifted by that settles.
LEADS, CARRIES, SETTLES, RESTS = 4000, 5500, 11000, 12500
# From which step on which share of the lists in the counting rows have their items' states interchanged.
INTERCHANGED = [(0, 0.0), (CARRIES, 0.9), (SETTLES, 0.5), (RESTS, 0.25)]
SMALL = [parity, parens, dual, records]


def step_batch(seed, step):
    """The rows of one step: names of their tasks, rows (each packed alone: a dict of arrays, see `pack`), pairs drawn.

    Stage one: four multiplication rows, two counting rows (the second of an uncommon motif), one of the small tasks. From
    stage two on: two multiplication rows, four counting rows (two more, of any motif), one of the small tasks. Every 12th
    step a long list.
    """
    rng, stage = np.random.default_rng([seed, step]), int(step >= LEADS)
    interchange = next(share for first, share in reversed(INTERCHANGED) if step >= first)
    mult = [multiplication(rng) for _ in range(2 if stage else 4)]
    drawn = [(a, b) for _, d in mult for a, bs in d for b in bs]
    draws = [motif, uncommon_motif] + [any_motif] * 2 * stage
    small = SMALL[step % 4]
    rows = [("multiplication", t) for t, _ in mult]
    rows += [("counting", counting(rng, draw=d, stage=stage, interchange=interchange)) for d in draws]
    rows.append((small.__name__, small(rng)))
    if step % 12 == 0:
        rows.append(("counting, long", counting(rng, long=True, stage=stage)))
    return [name for name, _ in rows], [pack([t]) for _, t in rows], drawn
