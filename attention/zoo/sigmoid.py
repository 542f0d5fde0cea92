"""Sigmoid attention (Ramapuram et al. 2024, arXiv:2409.04431): each cell by itself, with no sum over the row.

weight = σ(score + b), b = −ln n: where all scores are 0, n keys then share about 1.
"""

from __future__ import annotations

import math

from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head


def weights(head: Head, keys: int) -> Float[Tensor, "tokens tokens"]:
    """Rows sum to anything; ``keys`` is the n of the bias."""
    return (head.scores - math.log(keys)).sigmoid()
