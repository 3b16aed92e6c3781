"""A byte-level BPE of 384 tokens in GPT-2's form, with the pre-tokenizer of Qwen2 (single digits).

Merges are learnt only on words that the prompts contain and never inside symbols, so that a list cut after any item
is a token prefix of the longer list: this is what lets one list carry many answers in training (`trees.py`).
"""
import collections
import functools
import json
import pathlib
import re

import numpy as np

import prompts as P

SIZE = 384
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# Python's re has no \p{..}: letters are [^\W\d_], marks (combining) are not needed here. Checked against `tokenizers`.
WORD = re.compile(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|(?:(?![\r\n\d])(?:[^\w]|_))?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_alphabet():
    """GPT-2's printable name of each byte."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in keep]
    return {**{b: chr(b) for b in keep}, **{b: chr(256 + i) for i, b in enumerate(rest)}}


BYTE = byte_alphabet()


def name(text):
    return "".join(BYTE[b] for b in text.encode("utf-8"))


def corpus():
    """Texts and weights to learn merges on."""
    texts = ["system user assistant KEY PATH SIDE", " KEY PATH SIDE"] * 60  # in every prompt or record
    texts += [P.COUNTING, P.PARITY, P.PARENS, P.RECORDS, P.DUAL, P.SECOND] * 4
    texts += [s + " " + u.replace("{a}", "").replace("{b}", "") for s, u in P.MULTIPLICATION.values()] * 4
    texts += P.SUBJECTS + P.VERBS + P.OBJECTS + P.TIMES + ["Yes No"] * 4
    rng = np.random.default_rng(0)
    texts += [" ".join(P.question(rng, kind)) for kind in P.QUESTION_KINDS for _ in range(12)]
    return texts + list(P.CAPITALS) + list(P.CAPITALS.values()) + ['"answer": "count": '] * 8


def merge(word, pair):
    """`word` (tuple of names) with every occurrence of `pair` joined, left to right."""
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


def learn():
    """The merges, in order: space + letter first (so ` a` is one token), then the most frequent pair."""
    merges = [(BYTE[32], c) for c in "abcdefghijklmnopqrstuvwxyz"]
    words = collections.Counter()
    for text in corpus():
        for w in WORD.findall(text):
            if re.fullmatch(r" ?[A-Za-z]{2,}", w):
                words[tuple(name(w))] += 1
    for pair in merges:
        words = collections.Counter({merge(w, pair): n for w, n in words.items()})
    while len(merges) < SIZE - 256 - len(SPECIAL):
        pairs = collections.Counter()
        for w, n in words.items():
            for pair in zip(w, w[1:]):
                pairs[pair] += n
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        words = collections.Counter({merge(w, best): n for w, n in words.items()})
    return merges


class Tokenizer:
    def __init__(self):
        path = pathlib.Path(__file__).with_name("tokenizer.json")
        if not path.exists():
            path.write_text(json.dumps({"merges": [" ".join(m) for m in learn()]}, ensure_ascii=False, indent=0) + "\n")
        self.merges = [tuple(m.split(" ")) for m in json.loads(path.read_text())["merges"]]
        self.rank = {m: i for i, m in enumerate(self.merges)}
        self.tokens = list(BYTE.values()) + [a + b for a, b in self.merges] + SPECIAL
        self.id = {t: i for i, t in enumerate(self.tokens)}
        self.end = self.id["<|im_end|>"]
        self.split = re.compile("(" + "|".join(re.escape(s) for s in SPECIAL) + ")")
        self.bytes = {c: b for b, c in BYTE.items()}

    @functools.lru_cache(65536)
    def word(self, w):
        parts = tuple(name(w))
        while len(parts) > 1:
            best = min(zip(parts, parts[1:]), key=lambda p: self.rank.get(p, 1 << 30))
            if best not in self.rank:
                break
            parts = merge(parts, best)
        return [self.id[p] for p in parts]

    @functools.lru_cache(65536)
    def encode(self, text):
        """Token ids of `text`, special tokens parsed."""
        out = []
        for part in self.split.split(text):
            if part in SPECIAL:
                out.append(self.id[part])
            else:
                for w in WORD.findall(part):
                    out += self.word(w)
        return out

    def decode(self, ids):
        data = b""
        for t in ids:
            tok = self.tokens[t]
            data += tok.encode() if tok in SPECIAL else bytes(self.bytes[c] for c in tok)
        return data.decode("utf-8", "replace")


if __name__ == "__main__":
    tok = Tokenizer()
    for text in [P.COUNTING, "a, a, a, a", "# | # | #", "12*99=", "Compute 3 × 45", P.prompt("x", P.PARITY), P.RECORDS]:
        ids = tok.encode(text)
        assert tok.decode(ids) == text
        print(len(ids), [tok.decode([i]) for i in ids])
