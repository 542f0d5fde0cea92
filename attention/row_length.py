"""What longer texts do to a row of weights: its entropy grows, and any fixed gap between scores is washed out."""

from __future__ import annotations

import functools
import math

import torch

from attention.distributions import entropy

LENGTHS = tuple(2**power for power in range(1, 18))
TRAINED = 512  # tokens: the length at which log n scaling changes nothing
ROWS = 64  # random rows that an entropy is the mean of
LONGEST_DRAWN = 16384  # keys; of more, rows are not drawn at random


def log_n_factor(n: int) -> float:
    """log n / log 512: what scores are multiplied by so that entropy grows less (Su 2021, kexue.fm/archives/8823)."""
    return math.log(n) / math.log(TRAINED)


@functools.lru_cache(maxsize=64)
def random_entropy(n: int, *, log_n: bool, seed: int = 0) -> float:
    """The mean entropy, in bits, of the softmax of n independent normal scores; kept, for a curve takes 0.3 s."""
    scores = torch.randn(ROWS, n, generator=torch.Generator().manual_seed(seed)).double()
    return float(entropy(torch.softmax(scores * (log_n_factor(n) if log_n else 1.0), -1)).mean())


def weight_above(gap: float, n: int, *, log_n: bool) -> float:
    """The weight of one key whose score is ``gap`` above the n − 1 others', e^gap / (e^gap + n − 1).

    However large the gap, it falls to 0 with n (Veličković et al. 2024, arXiv:2410.01104), unless scores
    grow with log n.
    """
    return 1 / (1 + (n - 1) * math.exp(-gap * (log_n_factor(n) if log_n else 1.0)))
