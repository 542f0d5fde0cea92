"""Four ways to compute a softmax: three in two passes, the first of which overflows, and one in a single pass."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


def naive(scores: Float[Tensor, "keys"]) -> tuple[Float[Tensor, "keys"], Float[Tensor, "keys"]]:
    """e^s and the weights, in the scores' dtype: ∞ and NaN once e^s overflows."""
    powers = scores.exp()
    return powers, powers / powers.sum()


def subtracted(scores: Float[Tensor, "keys"]) -> tuple[Float[Tensor, "keys"], Float[Tensor, "keys"]]:
    """e^(s − max) and the weights: no exponential exceeds 1."""
    powers = (scores - scores.max()).exp()
    return powers, powers / powers.sum()


def log_softmax(scores: Float[Tensor, "keys"]) -> Float[Tensor, "keys"]:
    """s − max − log Σ e^(s − max): logarithms also of weights that underflow to 0."""
    below = scores - scores.max()
    return below - below.exp().sum().log()


@dataclass(frozen=True)
class SoftmaxStep:
    """The state after one more score: the maximum so far, and the sum of e^(s − max) so far."""

    largest: float
    total: float


def online(scores: list[float]) -> list[SoftmaxStep]:
    """A single pass: a new maximum rescales the sum by e^(old − new) (Milakov & Gimelshein 2018).

    A key's weight is e^(s − max) / total with the last step's values. arXiv:1805.02867; FlashAttention uses these sums.
    """
    reads: list[SoftmaxStep] = []
    largest, total = -math.inf, 0.0
    for score in scores:
        new = max(largest, score)
        shrunk = 0.0 if largest == -math.inf else total * math.exp(largest - new)
        largest, total = new, shrunk + (0.0 if score == -math.inf else math.exp(score - new))
        reads.append(SoftmaxStep(largest, total))
    return reads


def overflow_at(dtype: torch.dtype) -> float:
    """The score above which e^s is ∞ in this dtype."""
    return math.log(torch.finfo(dtype).max)


@dataclass(frozen=True, eq=False)
class Ways:
    """One row of scores in a dtype, computed in every way; overflow is ∞, and what follows from it NaN."""

    scores: Float[Tensor, "keys"]
    powers: Float[Tensor, "keys"]
    naive: Float[Tensor, "keys"]
    below: Float[Tensor, "keys"]
    subtracted: Float[Tensor, "keys"]
    logs: Float[Tensor, "keys"]
    reads: tuple[SoftmaxStep, ...]
    one_pass: Float[Tensor, "keys"]


EXAMPLE = (0.5, -0.25, 1.0, 0.25, 0.75, 0.0)  # scores relative to the largest
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}


def example(largest: float) -> Float[Tensor, "keys"]:
    """The example's scores with this maximum, float64."""
    return torch.tensor(EXAMPLE, dtype=torch.float64) * largest


def every_way(scores: Float[Tensor, "keys"], dtype: str) -> Ways:
    """Compute one row of scores in every way; results are in float64 for display."""
    scores = scores.to(DTYPES[dtype])
    powers, shares = naive(scores)
    below, safe = subtracted(scores)
    reads = online(scores.double().tolist())
    one_pass = torch.exp(scores.double() - reads[-1].largest) / reads[-1].total
    found = scores, powers, shares, below, safe, log_softmax(scores)
    first, second, third, fourth, fifth, sixth = (part.double() for part in found)
    return Ways(first, second, third, fourth, fifth, sixth, tuple(reads), one_pass)
