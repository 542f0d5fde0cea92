"""The effect of long texts on a row of weights: entropy grows, and a fixed gap between scores loses its effect."""

from __future__ import annotations

import functools
import math

import torch

from attention.distributions import entropy

LENGTHS = tuple(2**power for power in range(1, 18))
TRAINED = 512  # tokens: the length at which log n scaling changes nothing
ROWS = 64  # random rows over which an entropy is averaged
LONGEST_DRAWN = 16384  # keys; longer rows are not sampled


def log_n_factor(n: int) -> float:
    """log n / log 512: the factor of the scores that slows the growth of entropy (Su 2021, kexue.fm/archives/8823)."""
    return math.log(n) / math.log(TRAINED)


@functools.lru_cache(maxsize=64)
def random_entropy(n: int, *, log_n: bool, seed: int = 0) -> float:
    """Mean entropy, in bits, of the softmax of n independent normal scores; cached, since a curve takes 0.3 s."""
    scores = torch.randn(ROWS, n, generator=torch.Generator().manual_seed(seed)).double()
    return float(entropy(torch.softmax(scores * (log_n_factor(n) if log_n else 1.0), -1)).mean())


def weight_above(gap: float, n: int, *, log_n: bool) -> float:
    """The weight of one key whose score is ``gap`` above the n − 1 others', e^gap / (e^gap + n − 1).

    For any gap it falls to 0 with n (Veličković et al. 2024, arXiv:2410.01104), unless scores grow with log n.
    """
    return 1 / (1 + (n - 1) * math.exp(-gap * (log_n_factor(n) if log_n else 1.0)))
