"""How often each multiplication is seen in training: a known, long-tailed frequency.

weight(a, b) = (a b)^-0.4 x lognormal(sigma 0.8), independent for (a, b) and (b, a), normalised; the probability is
80 % of that and 20 % uniform. So frequency falls with size as corpus counts do, is told apart from size by the noise,
and every pair can occur.
"""
import numpy as np

N = 99
EXPONENT, SIGMA, FLOOR, SEED = 0.4, 0.8, 0.2, 20260


def probability():
    """`[99, 99]`: probability of drawing (a, b); row a - 1, column b - 1."""
    noise = np.random.default_rng(SEED).lognormal(0.0, SIGMA, (N, N))
    size = np.arange(1, N + 1, dtype=np.float64)
    weight = np.outer(size, size) ** -EXPONENT * noise
    return (1 - FLOOR) * weight / weight.sum() + FLOOR / N**2
