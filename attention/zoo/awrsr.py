"""Attention-weight refinement (AWRSR, Liu et al. 2024, arXiv:2410.21048, section 3): attention to attention weights.

The rows of softmax's map A are queries and keys once more: B = (A W_Q′)(A W_K′)ᵀ / √n, under the model's mask, and
softmax(B) takes the place of A. Two tokens whose weights are alike look at each other. *Simple*: softmax(B) V.
*Value-weighted*: the new weights are softmax(B) A W_V′. *Additive*: A and softmax(B) added, each row over its sum.
*Stochastic*, for models whose vectors are distributions (STOSA, Fan et al. 2022, arXiv:2201.06035): a row of A is the
mean A W_μ and the variance elu(A W_Σ) + 1 of a normal distribution, and B is less the squared 2-Wasserstein distance
between two of them, over √n.

The paper learns every W′. Here none is: each is the identity, or a random orthogonal matrix that turns the rows and
keeps their lengths. W_V′ stays the identity: a random one would give weight to tokens that the mask hides. A model of
one vector a token has no variances of its own, so both numbers of a distribution are made of the same row.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import elu

from attention.zoo.head import Head, normalised, softmax_rows

Map = Float[Tensor, "tokens tokens"]


def simple(head: Head, turned: int, seed: int) -> Map:
    """softmax(B); rows sum to 1, whatever a sink has taken of those of A."""
    own = head.softmax()
    query, key = _turns(own, turned, seed, count=2)
    return _softmax(head, _times(own, query) @ _times(own, key).T)


def by_values(head: Head, turned: int, seed: int) -> Map:
    """softmax(B) A: each token takes over the weights of those whose weights are like its own.

    A window's tokens would look out of it by others: what the mask hides goes to the rest of the row.
    """
    rows = simple(head, turned, seed) @ head.softmax()
    return normalised(rows.masked_fill(~head.keep, 0.0)) * rows.sum(-1, keepdim=True)


def added(head: Head, turned: int, seed: int) -> Map:
    """A + softmax(B), each row divided by its sum."""
    return normalised(head.softmax() + simple(head, turned, seed))


def stochastic(head: Head, turned: int, seed: int) -> Map:
    """softmax(B) with B = −(‖μ_i − μ_j‖² + ‖σ_i − σ_j‖²) / √n."""
    own = head.softmax()
    turns = _turns(own, turned, seed, count=4)
    means = [_times(own, one) for one in turns[:2]]
    deviations = [(elu(_times(own, one)) + 1).sqrt() for one in turns[2:]]
    return _softmax(head, -_squared(*means) - _squared(*deviations))


def _softmax(head: Head, products: Map) -> Map:
    return softmax_rows((products / math.sqrt(head.n_tokens)).masked_fill(~head.keep, -torch.inf))


def _turns(own: Map, turned: int, seed: int, *, count: int) -> list[Map | None]:
    """So many random orthogonal matrices, equally likely all of them; None: the identity."""
    if not turned:
        return [None] * count
    chance = torch.Generator().manual_seed(seed)
    return [_orthogonal(len(own), chance).to(own) for _ in range(count)]


def _orthogonal(n: int, chance: torch.Generator) -> Map:
    q, r = torch.linalg.qr(torch.randn(n, n, generator=chance, dtype=torch.float64))
    return q * r.diagonal().sign()  # without it a QR decomposition prefers some (Mezzadri 2007, arXiv:math-ph/0609050)


def _times(own: Map, turn: Map | None) -> Map:
    return own if turn is None else own @ turn


def _squared(queries: Map, keys: Map) -> Map:
    """Squared distances of rows, of which the product is the work."""
    return queries.square().sum(-1)[:, None] + keys.square().sum(-1)[None, :] - 2 * queries @ keys.T


def adds_simple(n_tokens: int, d_head: int, turned: int, seed: int) -> int:
    """Of softmax, of B, and of two matrices W′ where they are not the identity."""
    return 2 * n_tokens**2 * d_head + (1 + 2 * turned) * n_tokens**3


def adds_by_values(n_tokens: int, d_head: int, turned: int, seed: int) -> int:
    return adds_simple(n_tokens, d_head, turned, seed) + n_tokens**3


def adds_stochastic(n_tokens: int, d_head: int, turned: int, seed: int) -> int:
    return 2 * n_tokens**2 * d_head + (2 + 4 * turned) * n_tokens**3
