"""Why scores are divided by √d: the size of random vectors' products, and the gradient of a softmax of large scores.

(Vaswani et al. 2017, section 3.2.1, footnote 4, arXiv:1706.03762.)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

DIMENSIONS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
PAIRS = 2000  # products over which a variance is estimated
KEYS = 6  # of the row that is shown


@functools.lru_cache(maxsize=2)
def random_products(n: int, *, seed: int = 0) -> Float[Tensor, "n dimensions"]:
    """q·k of n pairs of vectors of independent normal numbers, for each of ``DIMENSIONS``; cached: it takes 0.1 s."""
    return _random_terms(n, seed).cumsum(1)[:, [d - 1 for d in DIMENSIONS]]


@functools.lru_cache(maxsize=2)
def summed_variances(n: int, *, seed: int = 0) -> Float[Tensor, "dimensions"]:
    """Σ Var(qᵢ kᵢ) of the same numbers, cumulated to each of ``DIMENSIONS``; each term's expectation is 1.

    The variance of q·k differs by the sample covariance of the terms: 2 Σ Cov(qᵢ kᵢ, qⱼ kⱼ), of expectation 0.
    """
    return _random_terms(n, seed).var(0).cumsum(0)[[d - 1 for d in DIMENSIONS]]


def _random_terms(n: int, seed: int) -> Float[Tensor, "n d"]:
    """qᵢ kᵢ for n pairs."""
    draw = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(n, DIMENSIONS[-1], generator=draw).double() for _ in range(2))
    return q * k


def variances(products: Float[Tensor, "n dimensions"]) -> Float[Tensor, "dimensions"]:
    """The sample variance of q·k for each of ``DIMENSIONS``; its expectation is exactly d."""
    return products.var(0)


def softmax_gradient(weights: Float[Tensor, "keys"]) -> Float[Tensor, "keys keys"]:
    """diag(y) − yyᵀ: the derivative of each weight by each score.

    Rows and columns sum to 0; all 0 for a one-hot row.
    """
    return torch.diag(weights) - torch.outer(weights, weights)


def saturation(products: Float[Tensor, "n dimensions"], keys: int, *, scaled: bool) -> Float[Tensor, "dimensions"]:
    """The mean largest weight of rows with this many keys, for each of ``DIMENSIONS``: 1 for a saturated softmax."""
    at = torch.tensor(DIMENSIONS)
    scores = products[: len(products) // keys * keys] / (at.double().sqrt() if scaled else 1)
    return torch.softmax(scores.reshape(-1, keys, len(at)), 1).amax(1).mean(0)


@dataclass(frozen=True, eq=False)
class RandomRow:
    """One query and ``KEYS`` random keys: products, scores, weights, and the gradient of the weights."""

    products: Float[Tensor, "keys"]
    scores: Float[Tensor, "keys"]
    weights: Float[Tensor, "keys"]
    gradient: Float[Tensor, "keys keys"]


def first_products(products: Float[Tensor, "n dimensions"], d: int) -> Float[Tensor, "keys"]:
    """The products of one query with ``KEYS`` keys, for vectors of dimension d."""
    return products[:KEYS, DIMENSIONS.index(d)]


def random_row(raw: Float[Tensor, "keys"], factor: float) -> RandomRow:
    """A row of products times ``factor``: 1/√d, 1/temperature, both or neither."""
    weights = torch.softmax(raw * factor, 0)
    return RandomRow(raw, raw * factor, weights, softmax_gradient(weights))
