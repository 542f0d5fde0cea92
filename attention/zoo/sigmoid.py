"""Sigmoid attention (Ramapuram et al. 2024, arXiv:2409.04431): each cell separately, without normalization of the row.

weight = σ(score + b), b = −ln n: if all scores are 0, the weights of n keys sum to about 1.
"""

from __future__ import annotations

import math

from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head


def weights(head: Head, keys: int) -> Float[Tensor, "tokens tokens"]:
    """Rows may have any sum; ``keys`` is the n of the bias."""
    return (head.scores - math.log(keys)).sigmoid()
