"""Trees of tokens: many questions that share a beginning, evaluated once.

A tree is a row of T tokens. Every token sees its ancestors only, and its RoPE position is its depth, so that each
root-to-leaf path is exactly the plain sequence it stands for. Loss falls on answer tokens alone.
"""
import numpy as np


class Tree:
    def __init__(self):
        self.tokens, self.position, self.target, self.weight = [], [], [], []
        self.segments = []  # (start, length, parent row or -1)
        self.swap = []  # (row, a, b, t): in the middle of the model the row takes on the hidden state (1 - t) a + t b of rows a, b

    def add(self, parent, tokens):
        """Append a chain of `tokens` below row `parent` (-1: the root); returns the row of its last token."""
        start, depth = len(self.tokens), self.position[parent] + 1 if parent >= 0 else 0
        self.tokens += tokens
        self.position += range(depth, depth + len(tokens))
        self.target += [0] * len(tokens)
        self.weight += [0.0] * len(tokens)
        self.segments.append((start, len(tokens), parent))
        return start + len(tokens) - 1

    def answer(self, parent, ask, answer, end, weight=1.0):
        """A question's end `ask`, then its `answer` tokens and `end`, supervised; `end` itself is never an input."""
        self.add(parent, ask + answer)
        n = len(answer)
        self.target[-n - 1 :] = answer + [end]
        self.weight[-n - 1 :] = [weight] * (n + 1)

    def __len__(self):
        return len(self.tokens)

    def mask(self, width):
        """`[width, width]` float: 0 where a row may look, -inf elsewhere; rows past the end see themselves."""
        see = np.eye(width, dtype=bool)
        for start, n, parent in self.segments:
            if parent >= 0:
                see[start : start + n] = see[parent]
            see[start : start + n, start : start + n] = np.tri(n, dtype=bool)
        out = np.full((width, width), -np.inf, dtype=np.float32)
        out[see] = 0
        return out


def pack(trees):
    """Trees padded to one width: dict of `tokens, position, target, weight [B, T]`, `mask [B, 1, T, T]`, `swap [n, 4]` (of the
    first tree)."""
    width = max(len(t) for t in trees)
    fill = lambda xs, dtype: np.array([x + [0] * (width - len(x)) for x in xs], dtype=dtype)
    return {
        "tokens": fill([t.tokens for t in trees], np.int64),
        "position": fill([list(t.position) for t in trees], np.int64),
        "target": fill([t.target for t in trees], np.int64),
        "weight": fill([t.weight for t in trees], np.float32),
        "mask": np.stack([t.mask(width) for t in trees])[:, None],
        "swap": np.array(trees[0].swap, dtype=np.float32).reshape(-1, 4),
    }
